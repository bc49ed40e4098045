#include "cli/help/surplus.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "rules/file/nearest_name.h"

namespace armgate {
namespace {

std::string upper_text(std::string text) {
  for (char& c : text) c = upper(c);
  return text;
}

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

std::string explain_missing(const CLI::App& app) {
  const CLI::App& command = chosen(app);
  const std::string words = words_of(command);
  if (const auto commands = commands_of(command); !commands.empty())
    return fmt::format("\"{}\" needs a command behind it; {}", words, rules::suggestion({}, commands));
  std::string all = words, missing;
  size_t count = 0;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional() || !option->get_required()) continue;
    const std::string name = upper_text(option->get_single_name());
    all += " " + name;
    if (option->count() == 0) missing += (count++ == 0 ? "" : " and ") + name;
  }
  return fmt::format("{} {} missing; write: {}", count == 0 ? "something" : missing, count > 1 ? "are" : "is", all);
}

std::string explain_wrong(std::string_view said) {
  const size_t colon = said.find(": ");
  const size_t set = said.rfind(" not in {");
  if (colon != said.npos && set != said.npos && set > colon && said.ends_with("}")) {
    std::vector<std::string> valid;
    std::string_view list = said.substr(set + 9, said.size() - set - 10);
    while (!list.empty()) {
      const size_t comma = std::min(list.find(','), list.size());
      valid.emplace_back(list.substr(0, comma));
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
    const std::string value(said.substr(colon + 2, set - colon - 2));
    return fmt::format("{}: \"{}\" is not a valid value; {}", said.substr(0, colon), value, rules::suggestion({}, valid));
  }
  constexpr std::string_view kOne = "1 required ", kMissing = " missing";
  if (colon != said.npos && said.substr(colon + 2).starts_with(kOne) && said.ends_with(kMissing)) {
    const auto what = said.substr(colon + 2 + kOne.size(), said.size() - colon - 2 - kOne.size() - kMissing.size());
    return fmt::format("{}: {} is missing behind it; write {} {}", said.substr(0, colon), what, said.substr(0, colon), what);
  }
  return {};
}

}  // namespace armgate
