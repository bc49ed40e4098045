// The JSON Schema of a file, and that of rule files held against the reader: whatever the schema refuses, the reader
// refuses, and the other way round for all that a schema can say.
#include "rules/file/editor_schema.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/source_tree.h"
#include "rules/file/rule_file.h"
#include "tests/support/json_schema.h"

namespace armgate::rules {
namespace {

using nlohmann::json;
using std::chrono::hours;
using std::chrono::seconds;

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> shipped_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_path("conf/rules"))) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  return files;
}

std::vector<std::string> messages_about(const json& document) {
  RuleDraft draft;
  FaultList faults;
  read_json("mutant", document.dump(), settings_of(draft, "mutant"), faults);
  std::vector<std::string> messages;
  for (const Fault& fault : faults) messages.push_back(fault.message);
  return messages;
}

// A file of those shipped rules, entries and cases that have a key which none before them has.
json one_of_each() {
  static const std::regex kIndex("/[0-9]+(?=/|$)"), kDataOfCase("^/(shown|body)/.*");
  std::set<std::string> seen;
  json file{{"rules", json::array()}, {"errors", json::array()}, {"cases", json::array()}};
  for (const auto& shipped : shipped_files()) {
    const json document = json::parse(text_of(shipped), nullptr, true, true);
    for (auto& [list, elements] : file.items()) {
      for (const json& element : document.value(list, json::array())) {
        bool is_new = false;
        const json leaves = element.flatten();
        for (const auto& [leaf, unused] : leaves.items()) {
          const std::string key = list == "cases" ? std::regex_replace(leaf, kDataOfCase, "/$1") : leaf;
          is_new |= seen.insert(list + std::regex_replace(key, kIndex, "/*")).second;
        }
        if (is_new) elements.push_back(element);
      }
    }
  }
  return file;
}

TEST(SettingSchema, SaysOfEachKindOfSettingWhatEditorsUnderstand) {
  struct Values {
    std::string name;
    int count = 3;
    Duration wait = seconds(5);
    std::vector<std::string> tags{"a"};
    bool open = false;
    std::vector<int> items;
  } values;
  const SettingTable table{
      {"/name",
       Text{&values.name,
            [](std::string& text) { return text.empty() ? std::optional<std::string>("is empty") : std::nullopt; }},
       "what it is called", Need::Required},
      {"/limits/count", WholeNumber{&values.count, 1, 9}, "how many"},
      {"/limits/wait", TimeSpan{&values.wait, seconds(1), hours(1)}, "how long"},
      {"/tags", TextList{&values.tags, {}, 1}, "words"},
      {"/door", choice(&values.open, {{"open", true}, {"shut", false}}), "open or shut"},
      {"/items", Items{[&](int) {
         int& item = values.items.emplace_back();
         return SettingTable{{"/size", WholeNumber{&item, 0, 5}, "its size", Need::Required}};
       }},
       "what is in it"},
  };
  EXPECT_EQ(json::parse(to_schema(table, "Box", "A box.")), json::parse(R"({
    "$schema": "http://json-schema.org/draft-07/schema#", "title": "Box", "description": "A box.",
    "type": "object", "additionalProperties": false, "required": ["name"],
    "properties": {
      "name": {"description": "What it is called. A text. Required.", "type": "string", "minLength": 1},
      "limits": {"type": "object", "additionalProperties": false, "properties": {
        "count": {"description": "How many. A whole number from 1 to 9. Default: 3.", "type": "integer", "minimum": 1, "maximum": 9, "default": 3},
        "wait": {"description": "How long. A duration in ms, s, m or h from \"1s\" to \"1h\". Default: \"5s\".", "type": "string",
                 "pattern": "^0*((1)h|([1-9]|[1-5][0-9]|60)m|([1-9]|[1-9][0-9]|[1-9][0-9]{2}|[1-2][0-9]{3}|3[0-5][0-9]{2}|3600)s|(100[0-9]|10[1-9][0-9]|1[1-9][0-9]{2}|[2-9][0-9]{3}|[1-9][0-9]{4}|[1-9][0-9]{5}|[1-2][0-9]{6}|3[0-5][0-9]{5}|3600000)ms)$",
                 "patternErrorMessage": "Must be a duration in ms, s, m or h from \"1s\" to \"1h\".", "default": "5s"}
      }},
      "tags": {"description": "Words. An array of texts. Default: [\"a\"].", "type": "array", "items": {"type": "string"}, "uniqueItems": true,
               "minItems": 1, "default": ["a"]},
      "door": {"description": "Open or shut. \"open\" or \"shut\". Default: \"shut\".", "enum": ["open", "shut"], "default": "shut"},
      "items": {"description": "What is in it. An array of objects. Default: [].", "type": "array", "default": [], "items": {
        "type": "object", "additionalProperties": false, "required": ["size"],
        "properties": {"size": {"description": "Its size. A whole number from 0 to 5. Required.", "type": "integer", "minimum": 0, "maximum": 5}}
      }}
    }
  })"));
}

TEST(SettingSchema, SettingsWithinListsAreVisitedToo) {
  RuleDraft draft;
  std::set<std::string> pointers;
  visit_settings(settings_of(draft, ""), [&](const std::string& pointer, const Setting& setting) {
    EXPECT_TRUE(pointers.insert(pointer).second) << pointer << " twice";
    EXPECT_FALSE(setting.sentence.empty()) << pointer << ": says nothing about itself";
  });
  for (const char* pointer :
       {"/$schema", "/rules", "/rules/*/name", "/rules/*/lock/references/*/pointer", "/errors/*/class", "/cases/*/body"}) {
    EXPECT_TRUE(pointers.contains(pointer)) << pointer;
  }
}

TEST(RuleSchema, TheFileInTheRepositoryIsThePrintedOne) {
  EXPECT_EQ(text_of(source_path("conf/schema/rules.schema.json")), rule_file_schema())
      << "write it anew: armgate --print-schema rules > conf/schema/rules.schema.json";
}

TEST(RuleSchema, TakesEveryShippedFileAndTheseNameIt) {
  const JsonSchema schema(rule_file_schema());
  for (const auto& file : shipped_files()) {
    const json document = json::parse(text_of(file), nullptr, true, true);
    for (const auto& fault : schema.faults_of(document)) ADD_FAILURE() << file << fault;
    ASSERT_TRUE(document.contains("$schema")) << file << ": name the schema for editors";
    EXPECT_TRUE(std::filesystem::equivalent(file.parent_path() / document["$schema"].get<std::string>(),
                                            source_path("conf/schema/rules.schema.json")));
  }
}

TEST(RuleSchema, AgreesWithTheReaderAboutEveryMistake) {
  EXPECT_GT(expect_agreement(JsonSchema(rule_file_schema()), one_of_each(), messages_about), 500u);
}

}  // namespace
}  // namespace armgate::rules
