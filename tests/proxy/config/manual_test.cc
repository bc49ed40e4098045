// docs/configuration.md held against the program: every option with its facts, every command with its flags, the exit
// codes.
#include <gtest/gtest.h>

#include "base/source_tree.h"
#include "cli/cli.h"
#include "json/tree.h"
#include "proxy/config/option_table.h"
#include "rules/file/editor_schema.h"
#include "rules/file/rule_file.h"
#include "rules/file/setting_text.h"
#include "tests/support/json_schema.h"
#include "tests/support/manual.h"

namespace armgate {
namespace {

using nlohmann::json;

constexpr const char* kOptions = "Options";
constexpr const char* kCommands = "Commands";

const Surroundings kNoSurroundings{.home = "/home/u", .shipped_rules = source_path("conf/rules")};

Manual manual_of(const std::string& section) {
  Manual manual = read_manual("docs/configuration.md");
  std::erase_if(manual.entries, [&](const ManualEntry& entry) { return !section.empty() && entry.section != section; });
  return manual;
}

// What "armgate WORDS" prints.
std::string printed(const std::vector<std::string>& words) {
  std::ostringstream out, err;
  const CliContext context{.surroundings = kNoSurroundings,
                           .default_config = "/none",
                           .wall = {},
                           .environment = {},
                           .session = "1",
                           .run = {},
                           .exec = {},
                           .exec_within = {},
                           .somebody_listens = {},
                           .ask_through = {},
                           .terminal = {},
                           .pause = {},
                           .trust = {},
                           .out = out,
                           .err = err};
  std::vector<const char*> argv{"armgate"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  EXPECT_EQ(run_cli(static_cast<int>(argv.size()), argv.data(), context), kExitDone) << err.str();
  return out.str();
}

std::set<std::string> flags_in(const std::string& text) {
  static const std::regex kFlag("--[a-z][a-z-]*");
  std::set<std::string> flags;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), kFlag); at != std::sregex_iterator(); ++at)
    flags.insert(at->str());
  flags.erase("--help");
  return flags;
}

// The flags alone: the sentences in a help text may name others.
std::set<std::string> flags_of(const std::vector<std::string>& command) {
  auto words = command;
  words.push_back("--help");
  std::istringstream help(printed(words));
  std::set<std::string> flags;
  for (std::string line; std::getline(help, line);) {
    if (line.starts_with("  -")) flags.merge(flags_in(line.substr(0, line.find(' ', 2))));
  }
  return flags;
}

// The commands, with those below them: {"run"}, {"ca", "init"}.
std::vector<std::vector<std::string>> commands_below(const std::vector<std::string>& command) {
  auto words = command;
  words.push_back("--help");
  std::istringstream help(printed(words));
  std::vector<std::vector<std::string>> commands;
  bool listed = false;
  for (std::string line; std::getline(help, line);) {
    if (line.starts_with("Subcommands:")) listed = true;
    if (!listed || line.size() < 3 || !line.starts_with("  ") || line[2] == ' ') continue;
    auto below = command;
    below.push_back(line.substr(2, line.find(' ', 2) - 2));
    const auto deeper = commands_below(below);
    const bool runs_itself = deeper.empty() || !flags_of(below).empty();
    if (runs_itself) commands.push_back(below);
    commands.insert(commands.end(), deeper.begin(), deeper.end());
  }
  return commands;
}

TEST(ConfigurationManual, HasEveryOptionWithItsFactsAndNoOther) {
  Config config;
  std::string schema;
  std::vector<KnownKey> known;
  rules::visit_settings(file_settings(config, schema), [&](const std::string& pointer, const rules::Setting& setting) {
    std::string key = std::regex_replace(pointer.substr(1), std::regex(R"(/\*)"), "");
    key = std::regex_replace(key, std::regex("/"), ".");
    known.push_back({kOptions, key, rules::facts_of(setting), setting.sentence});
  });
  EXPECT_GT(known.size(), 40u);
  expect_same_keys(manual_of(kOptions), known, {"**When to change:**"});
}

TEST(ConfigurationManual, EveryExampleIsReadWithoutAFault) {
  const Manual manual = manual_of("");
  auto examples = manual.documents;
  for (const auto& entry : manual.entries) examples.insert(examples.end(), entry.examples.begin(), entry.examples.end());
  EXPECT_GT(examples.size(), 4u);
  const JsonSchema schema(config_schema());
  for (const ManualExample& example : examples) {
    const std::string place = manual.place(example.line);
    for (const auto& fault : parse_config("example", example.json, kNoSurroundings).faults) {
      ADD_FAILURE() << place << ": " << rules::to_text(fault);
    }
    for (const auto& fault : schema.faults_of(json::parse(example.json, nullptr, true, true)))
      ADD_FAILURE() << place << ": against the schema: " << fault;
  }
}

TEST(ConfigurationManual, HasEveryCommandWithItsFlagsAndNoOther) {
  const Manual manual = manual_of(kCommands);
  std::set<std::string> described, known;
  for (const auto& entry : manual.entries) described.insert(entry.key);
  auto commands = commands_below({});
  commands.push_back({});
  EXPECT_GT(commands.size(), 7u);
  for (const auto& command : commands) {
    std::string name = "armgate";
    for (const auto& word : command) name += " " + word;
    known.insert(name);
    const ManualEntry* entry = manual.find(kCommands, name);
    ASSERT_NE(entry, nullptr) << manual.file << " does not describe `" << name << "`; add \"### `" << name
                              << "`\" below \"## Commands\"";
    EXPECT_EQ(flags_in(entry->text), flags_of(command)) << manual.place(entry->line) << ": the flags of `" << name << "`";
  }
  EXPECT_EQ(described, known);
}

TEST(ConfigurationManual, HasTheExitCodes) {
  const Manual manual = manual_of("");
  for (int code : {kExitDone, kExitBadInput, kExitUsage, kExitRuntime, kExitExecFailed}) {
    EXPECT_NE(manual.text.find("\n| " + std::to_string(code) + " | "), std::string::npos) << code;
  }
}

TEST(ConfigurationManual, LeadsSomewhereWhereverItPoints) { expect_references_lead_somewhere(manual_of("")); }

std::vector<std::string> messages_about(const json& document) {
  Config config;
  std::string schema;
  rules::FaultList faults;
  rules::read_json("mutant", document.dump(), file_settings(config, schema), faults);
  std::vector<std::string> messages;
  for (const auto& fault : faults) messages.push_back(fault.message);
  return messages;
}

TEST(ConfigurationSchema, TheFileInTheRepositoryIsThePrintedOne) {
  std::ifstream file(source_path("conf/schema/armgate.schema.json"));
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), printed({"--print-schema", "config"}))
      << "write it anew: armgate --print-schema config > conf/schema/armgate.schema.json";
  EXPECT_EQ(printed({"--print-schema", "rules"}), rules::rule_file_schema());
}

TEST(ConfigurationSchema, AgreesWithTheReaderAboutEveryMistake) {
  const JsonSchema schema(config_schema());
  json document = json::parse(print_defaults(), nullptr, true, true);
  EXPECT_TRUE(schema.takes(document));
  document["hosts"] = json::parse(R"({"management.azure.com": {"address": "10.0.0.4:443", "ca_file": "private.pem"}})");
  document["clients"] = json::parse(R"({"nightly": {"actor": "single"}})");
  EXPECT_GT(expect_agreement(schema, document, messages_about), 500u);
}

}  // namespace
}  // namespace armgate
