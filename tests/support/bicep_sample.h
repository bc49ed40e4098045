// bicep_sample.h – small files in the form of Azure/bicep-types-az, made up: a widget at several api-versions.
#pragma once

#include <string>

namespace armgate {

// A types.json with Microsoft.Example/widgets at the api-version. `part_flags` are those of /properties/part; `more` are further
// properties of /properties, each beginning with a comma.
inline std::string widget_types(const std::string& version, int part_flags = 0, const std::string& more = "") {
  return R"([
    {"$type": "StringType"},
    {"$type": "StringType", "sensitive": true},
    {"$type": "ObjectType", "name": "Labels", "properties": {}, "additionalProperties": {"$ref": "#/0"}},
    {"$type": "ObjectType", "name": "Part", "properties": {
      "name": {"type": {"$ref": "#/0"}, "flags": 1},
      "state": {"type": {"$ref": "#/0"}, "flags": 2},
      "code": {"type": {"$ref": "#/0"}, "flags": 4},
      "inner": {"type": {"$ref": "#/3"}, "flags": 0}}},
    {"$type": "ArrayType", "itemType": {"$ref": "#/3"}},
    {"$type": "ObjectType", "name": "SubResource", "properties": {"id": {"type": {"$ref": "#/0"}, "flags": 0}}},
    {"$type": "DiscriminatedObjectType", "name": "Kind", "discriminator": "kind",
      "baseProperties": {"seen": {"type": {"$ref": "#/0"}, "flags": 2}, "both": {"type": {"$ref": "#/0"}, "flags": 2}},
      "elements": {"a": {"$ref": "#/7"}, "b": {"$ref": "#/8"}}},
    {"$type": "ObjectType", "name": "KindA", "properties": {"onlyA": {"type": {"$ref": "#/1"}, "flags": 0}}},
    {"$type": "ObjectType", "name": "KindB", "properties": {"both": {"type": {"$ref": "#/0"}, "flags": 0}}},
    {"$type": "UnionType", "elements": [{"$ref": "#/0"}, {"$ref": "#/6"}]},
    {"$type": "ObjectType", "name": "Properties", "properties": {
      "provisioningState": {"type": {"$ref": "#/0"}, "flags": 2},
      "endpoint": {"type": {"$ref": "#/0"}, "flags": 2},
      "password": {"type": {"$ref": "#/1"}, "flags": 0},
      "part": {"type": {"$ref": "#/0"}, "flags": )" +
         std::to_string(part_flags) + R"(},
      "parts": {"type": {"$ref": "#/4"}, "flags": 0},
      "labels": {"type": {"$ref": "#/2"}, "flags": 0},
      "network": {"type": {"$ref": "#/5"}, "flags": 0},
      "kind": {"type": {"$ref": "#/9"}, "flags": 0},
      "a/b~c": {"type": {"$ref": "#/0"}, "flags": 2})" +
         more + R"(}},
    {"$type": "ObjectType", "name": "Microsoft.Example/widgets", "properties": {
      "id": {"type": {"$ref": "#/0"}, "flags": 10}, "name": {"type": {"$ref": "#/0"}, "flags": 9},
      "type": {"type": {"$ref": "#/0"}, "flags": 10}, "apiVersion": {"type": {"$ref": "#/0"}, "flags": 10},
      "etag": {"type": {"$ref": "#/0"}, "flags": 2}, "tags": {"type": {"$ref": "#/2"}, "flags": 0},
      "properties": {"type": {"$ref": "#/10"}, "flags": 0}}},
    {"$type": "ResourceType", "name": "Microsoft.Example/widgets@)" +
         version + R"(", "body": {"$ref": "#/11"}, "readableScopes": 8, "writableScopes": 8},
    {"$type": "ResourceType", "name": "Microsoft.Example/readings@)" +
         version + R"(", "body": {"$ref": "#/11"}, "readableScopes": 8, "writableScopes": 0}
  ])";
}

}  // namespace armgate
