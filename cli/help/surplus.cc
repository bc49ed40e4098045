#include "cli/help/surplus.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "rules/file/nearest_name.h"

namespace armgate {
namespace {

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

// The innermost command that was recognised.
const CLI::App& chosen(const CLI::App& app) {
  const auto found = app.get_subcommands();
  return found.empty() ? app : chosen(*found.back());
}

}  // namespace

std::string explain_surplus(const CLI::App& app) {
  const std::vector<std::string> surplus = app.remaining(true);
  const std::string word = surplus.empty() ? "" : surplus.front();
  const CLI::App& command = chosen(app);
  if (word.starts_with("-")) {
    const std::string flag = word.substr(0, word.find('='));
    return fmt::format("\"{}\" is no flag here; {}", flag, rules::suggestion(flag, flags_of(command)));
  }
  if (command.get_name() == "exec") {
    return fmt::format("write \"--\" before the command: armgate exec -- {}", fmt::join(surplus, " "));
  }
  const auto commands = commands_of(command);
  if (!commands.empty()) return fmt::format("\"{}\" is no command; {}", word, rules::suggestion(word, commands));
  const auto flags = flags_of(command);
  const bool takes_file = std::find(flags.begin(), flags.end(), "--config") != flags.end() && word.ends_with(".json");
  return fmt::format("\"{}\" is not expected here{}", word, takes_file ? "; did you mean --config " + word + "?" : "");
}

}  // namespace armgate
