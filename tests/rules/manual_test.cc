// docs/rules.md held against the reader: every key has an entry with its facts, every example is read without a fault.
#include <gtest/gtest.h>

#include <iterator>

#include "json/tree.h"
#include "rules/file/editor_schema.h"
#include "rules/file/rule_file.h"
#include "rules/file/setting_text.h"
#include "tests/support/json_schema.h"
#include "tests/support/manual.h"

namespace armgate::rules::manual_test {
namespace {

using nlohmann::json;

const Manual& manual() {
  static const Manual read = read_manual("docs/rules.md");
  return read;
}

// What the keys below a pointer are about: their section, and what an example of one of them stands in.
struct Context {
  const char* pointer;
  const char* section;
  const char* list;  // of the file, to which an example adds one element; empty: an example is a whole file
  const char* base;  // what the element says besides
};

const Context kContexts[] = {
    {"/rules/*/", "Keys of a rule", "rules",
     R"({"name": "example", "match": {"types": ["Microsoft.Network/virtualNetworks/subnets"]}})"},
    {"/facts/*/", "Keys of an entry of facts", "facts", R"({"types": ["Microsoft.Network/virtualNetworks/subnets"]})"},
    {"/errors/*/", "Keys of an entry of errors", "errors",
     R"({"class": "busy", "status": [409], "codes": ["AnotherOperationInProgress"]})"},
    {"/cases/*/", "Keys of a case", "cases",
     R"({"request": "PUT /subscriptions/s/resourceGroups/g?api-version=2021-04-01", "rule": "groups"})"},
    {"/queue_timeouts/*/", "Keys of an entry of queue_timeouts", "queue_timeouts",
     R"({"user_agent": "example", "wait_max": "10s"})"},
    {"/", "Keys of a file", "", "{}"},
};

const Context& context_of(std::string_view pointer) {
  for (const Context& context : kContexts) {
    if (pointer.starts_with(context.pointer)) return context;
  }
  return *std::prev(std::end(kContexts));
}

// "/rules/*/lock/references/*/pointer" -> "lock.references.pointer"
std::string key_of(const std::string& pointer) {
  std::string key = pointer.substr(std::string_view(context_of(pointer).pointer).size());
  key = std::regex_replace(key, std::regex(R"(/\*)"), "");
  return std::regex_replace(key, std::regex("/"), ".");
}

std::vector<KnownKey> known_keys() {
  std::vector<KnownKey> keys;
  RuleDraft draft;
  visit_settings(settings_of(draft, ""), [&](const std::string& pointer, const Setting& setting) {
    keys.push_back({context_of(pointer).section, key_of(pointer), facts_of(setting), setting.sentence});
  });
  return keys;
}

// The file that an example stands in. Cases are tried on the rules of the manual's last whole file.
json file_with(const json& example, const std::string& section) {
  for (const Context& context : kContexts) {
    if (section != context.section || *context.list == '\0') continue;
    json element = json::parse(context.base);
    element.merge_patch(example);
    json file{{context.list, json::array({element})}};
    if (section == "Keys of a case") file["rules"] = json::parse(manual().documents.back().json)["rules"];
    return file;
  }
  return example;
}

void expect_good(const ManualExample& example, const std::string& section) {
  const std::string place = manual().place(example.line);
  const auto parsed = json::parse(example.json, nullptr, false, true);
  ASSERT_FALSE(parsed.is_discarded()) << place << ": the example is not JSON";
  const json file = file_with(parsed, section);
  FaultList faults;
  read_rule_book("example", file.dump(2), faults);
  for (const Fault& fault : faults) ADD_FAILURE() << place << ": " << to_text(fault) << "\nin\n" << file.dump(2);
  static const JsonSchema schema(rule_file_schema());
  for (const auto& fault : schema.faults_of(file)) ADD_FAILURE() << place << ": against the schema: " << fault;
}

// Whether the member that the key names is in the example, in the first element of each list.
bool shows(json example, const std::string& key) {
  std::istringstream names(key);
  for (std::string name; std::getline(names, name, '.');) {
    if (example.is_array()) example = example.empty() ? json() : json(example.front());
    if (!example.is_object() || !example.contains(name)) return false;
    example = json(example[name]);
  }
  return true;
}

TEST(RulesManual, HasEveryKeyOfTheReaderWithItsFactsAndNoOther) {
  expect_same_keys(manual(), known_keys(), {"**Cost:**", "**Danger:**", "**See also:**"});
}

TEST(RulesManual, EveryKeyHasAnExampleThatShowsItAndIsReadWithoutAFault) {
  for (const ManualEntry& entry : manual().entries) {
    bool shown = false;
    for (const ManualExample& example : entry.examples) {
      expect_good(example, entry.section);
      shown = shown || shows(json::parse(example.json, nullptr, false, true), entry.key);
    }
    EXPECT_TRUE(shown) << manual().place(entry.line) << ": no example shows `" << entry.key << "`";
  }
}

TEST(RulesManual, EveryWholeFileInItIsReadWithoutAFault) {
  EXPECT_GE(manual().documents.size(), 3u);
  for (const ManualExample& document : manual().documents) expect_good(document, "");
}

TEST(RulesManual, LeadsSomewhereWhereverItPoints) { expect_references_lead_somewhere(manual()); }

}  // namespace
}  // namespace armgate::rules::manual_test
