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

// "armgate ca path"
std::string words_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : words_of(*parent) + " " + command.get_name();
}

bool is_of_some_command(const CLI::App& app, const std::string& flag) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  return std::any_of(commands.begin(), commands.end(), [&](const CLI::App* command) {
    const auto flags = flags_of(*command);
    return std::find(flags.begin(), flags.end(), flag) != flags.end();
  });
}

}  // namespace

std::string explain_surplus(const CLI::App& app) {
  const std::vector<std::string> surplus = app.remaining(true);
  const std::string word = surplus.empty() ? "" : surplus.front();
  const CLI::App& command = chosen(app);
  if (word.starts_with("-")) {
    const std::string flag = word.substr(0, word.find('='));
    const auto own = flags_of(command);
    if (std::find(own.begin(), own.end(), flag) != own.end())
      return fmt::format("\"{0}\" stands before the command; write it behind: {1} {0}", flag, words_of(command));
    if (app.get_subcommands().empty() && is_of_some_command(app, flag))
      return fmt::format("\"{0}\" belongs to a command; write it behind one: armgate COMMAND {0}", flag);
    return fmt::format("\"{}\" is no flag here; {}", flag, rules::suggestion(flag, own));
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
