// json_schema.h – judges JSON by a JSON Schema, and makes wrong documents out of right ones.
//
// Why: the schemas are for editors, which armgate does not have. This is a reading of the few keywords that they use,
// independent of what makes them; a keyword that it does not know is a fault, never silently passed over.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "json/tree.h"

namespace armgate {

class JsonSchema {
 public:
  explicit JsonSchema(const std::string& text) : root_(nlohmann::json::parse(text)) {}

  // What is wrong with the document; empty: nothing.
  std::vector<std::string> faults_of(const nlohmann::json& document) const {
    std::vector<std::string> faults;
    judge(root_, document, "", faults);
    return faults;
  }
  bool takes(const nlohmann::json& document) const { return faults_of(document).empty(); }

 private:
  using Json = nlohmann::json;
  using Faults = std::vector<std::string>;

  static bool has_type(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    throw std::runtime_error("unknown type " + type);
  }

  static bool fits_pattern(const std::string& text, const std::string& pattern) {
    static std::map<std::string, std::regex> compiled;  // what takes longest
    return std::regex_search(text, compiled.try_emplace(pattern, pattern).first->second);
  }

  static void judge(const Json& schema, const Json& value, const std::string& place, Faults& faults) {
    for (const auto& [keyword, wanted] : schema.items()) {
      if (!fits(keyword, wanted, schema, value, place, faults)) {
        faults.push_back(place + ": breaks \"" + keyword + "\": " + wanted.dump().substr(0, 100));
      }
    }
  }

  static bool fits(const std::string& keyword, const Json& wanted, const Json& schema, const Json& value,
                   const std::string& place, Faults& faults) {
    static const std::set<std::string> kSaysNothing{"$schema", "title", "description", "default", "patternErrorMessage"};
    if (kSaysNothing.contains(keyword)) return true;
    if (keyword == "type") return has_type(value, wanted);
    if (keyword == "enum") return std::find(wanted.begin(), wanted.end(), value) != wanted.end();
    if (keyword == "minimum") return !value.is_number() || value.get<double>() >= wanted.get<double>();
    if (keyword == "maximum") return !value.is_number() || value.get<double>() <= wanted.get<double>();
    if (keyword == "minLength") return !value.is_string() || value.get<std::string>().size() >= wanted.get<size_t>();
    if (keyword == "minItems") return !value.is_array() || value.size() >= wanted.get<size_t>();
    if (keyword == "uniqueItems") return !value.is_array() || std::set<Json>(value.begin(), value.end()).size() == value.size();
    if (keyword == "pattern") return !value.is_string() || fits_pattern(value, wanted);
    if (keyword == "required") {
      return !value.is_object() ||
             std::all_of(wanted.begin(), wanted.end(), [&](const Json& name) { return value.contains(name); });
    }
    if (keyword == "items") {
      for (size_t i = 0; value.is_array() && i < value.size(); ++i)
        judge(wanted, value[i], place + "/" + std::to_string(i), faults);
      return true;
    }
    if (keyword == "properties") {
      for (const auto& [name, below] : wanted.items()) {
        if (value.is_object() && value.contains(name)) judge(below, value[name], place + "/" + name, faults);
      }
      return true;
    }
    if (keyword == "additionalProperties") {
      if (!value.is_object()) return true;
      for (const auto& [name, member] : value.items()) {
        if (schema.contains("properties") && schema["properties"].contains(name)) continue;
        if (wanted == false) return false;
        judge(wanted, member, place + "/" + name, faults);
      }
      return true;
    }
    throw std::runtime_error("this reading of schemas does not know \"" + keyword + "\"");
  }

  const Json root_;
};

// A document with one thing changed, and what.
struct Mutation {
  std::string what;
  nlohmann::json document;
};

// Calls `take` with the document changed in one place in every way that a person may get it wrong: for each place, but
// for only the first of several that differ in an index.
inline void each_mutation(const nlohmann::json& document, const std::function<void(const Mutation&)>& take) {
  using Json = nlohmann::json;
  const Json replacements = Json::parse(
      R"([null, true, -1, 0, 2.5, 100000000, "", "no such value", "7 s", "0ms", "5m", "99999h", "0B", "1KiB", "4096GiB", [], {}, [1], ["x"], ["x", "x"], ["PUT", "PUT"], [{}]])");
  std::set<std::string> seen;
  const auto places = document.flatten();
  std::set<Json::json_pointer> pointers;
  for (const auto& [leaf, unused] : places.items()) {
    for (Json::json_pointer at(leaf); !at.empty(); at = at.parent_pointer()) pointers.insert(at);
  }
  static const std::regex kIndex("/[0-9]+(?=/|$)");
  for (const auto& at : pointers) {
    if (!seen.insert(std::regex_replace(at.to_string(), kIndex, "/*")).second) continue;
    for (const Json& replacement : replacements) {
      Json changed = document;
      changed[at] = replacement;
      take({at.to_string() + " = " + replacement.dump(), std::move(changed)});
    }
    Json without = document;
    Json& parent = without[at.parent_pointer()];
    if (parent.is_object())
      parent.erase(at.back());
    else
      parent.erase(std::stoul(at.back()));
    take({at.to_string() + " removed", std::move(without)});
    if (!document[at].is_object()) continue;
    Json with = document;
    with[at]["unknown-key"] = Json::object();
    take({at.to_string() + " with a member too many", std::move(with)});
  }
}

// The messages of a reader about a document; empty: it takes it.
using Messages = std::function<std::vector<std::string>(const nlohmann::json&)>;

// Tries every mutation on both. Whatever the schema refuses the reader must refuse; and the other way round, but for
// what only a reader knows: the forms of texts (these messages begin with the text). Returns how many were refused.
inline size_t expect_agreement(const JsonSchema& schema, const nlohmann::json& document, const Messages& read) {
  const auto only_reader_knows = [](const std::string& message) {
    for (const char* known_to_schema : {"is not a known key", "is missing", "is not a valid value", "in this list already"}) {
      if (message.find(known_to_schema) != message.npos) return false;
    }
    return message.starts_with('"');
  };
  size_t refused = 0;
  each_mutation(document, [&](const Mutation& mutation) {
    const auto by_schema = schema.faults_of(mutation.document);
    const auto by_reader = read(mutation.document);
    if (!by_schema.empty()) {
      ++refused;
      EXPECT_FALSE(by_reader.empty()) << mutation.what << ": the reader takes what the schema refuses: " << by_schema.front();
      return;
    }
    for (const auto& message : by_reader) {
      EXPECT_TRUE(only_reader_knows(message)) << mutation.what << ": the schema takes what the reader refuses: " << message;
    }
  });
  return refused;
}

}  // namespace armgate
