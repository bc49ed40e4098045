#include "cli/help/command_help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace armgate {
namespace {

// Of "TEXT:{text,json}", as CLI11 writes what IsMember allows.
std::vector<std::string> choices_in(const std::string& type) {
  std::vector<std::string> choices;
  const size_t open = type.find('{');
  const size_t close = type.find('}', open);
  if (open == type.npos || close == type.npos) return choices;
  for (size_t at = open + 1; at < close;) {
    const size_t end = std::min(type.find(',', at), close);
    choices.push_back(type.substr(at, end - at));
    at = end + 1;
  }
  return choices;
}

std::string value_name(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

HelpFlag flag_of(const CLI::Option& option) {
  HelpFlag flag;
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  flag.value = value_name(option);
  flag.choices = choices_in(option.get_type_name());
  flag.text = option.get_description();
  flag.standard = option.get_default_str();
  return flag;
}

CommandHelp help_at(const CLI::App& command, const std::string& path) {
  CommandHelp help{path, command.get_description(), command.get_footer(), {}, {}, {}};
  for (const CLI::Option* option : command.get_options()) {
    if (option->nonpositional()) {
      help.flags.push_back(flag_of(*option));
    } else {
      help.arguments.push_back({option->get_name(true), value_name(*option), choices_in(option->get_type_name()),
                                option->get_description(), option->get_required()});
    }
  }
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; })) {
    help.commands.push_back(help_at(*below, path.empty() ? below->get_name() : path + " " + below->get_name()));
  }
  return help;
}

void add_all(const CommandHelp& command, std::vector<const CommandHelp*>& all) {
  all.push_back(&command);
  for (const CommandHelp& below : command.commands) add_all(below, all);
}

}  // namespace

CommandHelp help_of(const CLI::App& app) { return help_at(app, ""); }

std::vector<const CommandHelp*> all_commands(const CommandHelp& program) {
  std::vector<const CommandHelp*> all;
  add_all(program, all);
  return all;
}

}  // namespace armgate
