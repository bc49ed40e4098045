#include "cli/help/completion.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace armgate {
namespace {

constexpr std::string_view kFile = "FILE";
constexpr std::string_view kDirectory = "DIR";

// In single quotes; a quote itself as `quote` says.
std::string in_quotes(std::string_view text, std::string_view quote = "'\\''") {
  std::string safe = "'";
  for (const char c : text) {
    if (c == '\'') {
      safe += quote;
    } else {
      safe += c == '\n' ? ' ' : c;
    }
  }
  return safe + "'";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// What may follow the words of a command: its commands and flags.
std::string next_words(const CommandHelp& command) {
  std::vector<std::string> words;
  for (const CommandHelp& below : command.commands) words.push_back(below.name());
  for (const HelpArgument& argument : command.arguments)
    words.insert(words.end(), argument.choices.begin(), argument.choices.end());
  for (const HelpFlag& flag : command.flags) words.push_back(flag.names.back());
  return fmt::format("{}", fmt::join(words, " "));
}

// A pattern of the shell's `case` for all commands but the program itself.
std::string all_paths(const CommandHelp& program, std::string_view separator) {
  std::vector<std::string> paths;
  for (const CommandHelp* command : all_commands(program)) {
    if (!command->path.empty()) paths.push_back(in_quotes(command->path));
  }
  return fmt::format("{}", fmt::join(paths, separator));
}

// ---- zsh ----

// Brackets and colons have a meaning in _arguments.
std::string for_arguments(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string zsh_action(const std::string& value, const std::vector<std::string>& choices) {
  if (!choices.empty()) return fmt::format("({})", fmt::join(choices, " "));
  if (value == kFile) return "_files";
  return value == kDirectory ? "_files -/" : " ";
}

std::string zsh_flag(const HelpFlag& flag) {
  const std::string names = flag.names.size() == 1 ? flag.names.front() : fmt::format("{{{}}}", fmt::join(flag.names, ","));
  const std::string behind =
      flag.value.empty() ? "" : fmt::format(":{}:{}", for_arguments(flag.value), zsh_action(flag.value, flag.choices));
  return names + in_quotes(fmt::format("[{}]{}", for_arguments(flag.text), behind));
}

std::string zsh_function(const CommandHelp& command) {
  std::string name = "_armgate_" + command.path;
  for (char& c : name) c = c == ' ' ? '_' : c;
  std::string text =
      fmt::format("{}() {{\n  local state\n  local -a commands\n  _arguments -S -C", command.path.empty() ? "_armgate" : name);
  for (const HelpFlag& flag : command.flags) text += " \\\n    " + zsh_flag(flag);
  for (const HelpArgument& argument : command.arguments) {
    const std::string colons = argument.required ? ":" : "::";
    text += " \\\n    " + in_quotes(colons + for_arguments(argument.name) + ":" + zsh_action(argument.value, argument.choices));
  }
  if (command.path == "exec") text += " \\\n    '*:: :_normal'";
  if (command.commands.empty()) return text + "\n}\n";
  text += " \\\n    '1: :->command' '*:: :->words'\n  case $state in\n    command)\n      commands=(";
  for (const CommandHelp& below : command.commands) {
    text += "\n        " + in_quotes(below.name() + ":" + for_arguments(first_line(below.text)));
  }
  text += "\n      )\n      _describe command commands ;;\n    words)\n      case $words[1] in\n";
  for (const CommandHelp& below : command.commands) {
    const std::string prefix = command.path.empty() ? "_armgate_" : name + "_";
    text += fmt::format("        {}) {}{} ;;\n", below.name(), prefix, below.name());
  }
  return text + "      esac ;;\n  esac\n}\n";
}

// ---- fish ----

std::string fish_quoted(std::string_view text) { return in_quotes(text, "\\'"); }

std::string fish_value(const HelpFlag& flag) {
  if (flag.value.empty()) return "";
  if (!flag.choices.empty()) return fmt::format(" -x -a {}", fish_quoted(fmt::format("{}", fmt::join(flag.choices, " "))));
  if (flag.value == kFile) return " -r -F";
  return flag.value == kDirectory ? " -x -a '(__fish_complete_directories)'" : " -x";
}

std::string fish_command(const CommandHelp& command) {
  const std::string at =
      fmt::format("complete -c armgate -n {}", fish_quoted(fmt::format("__armgate_at \"{}\"", command.path)));
  std::string text;
  for (const CommandHelp& below : command.commands) {
    text += fmt::format("{} -a {} -d {}\n", at, below.name(), fish_quoted(first_line(below.text)));
  }
  for (const HelpArgument& argument : command.arguments) {
    if (!argument.choices.empty()) {
      text += fmt::format("{} -a {} -d {}\n", at, fish_quoted(fmt::format("{}", fmt::join(argument.choices, " "))),
                          fish_quoted(argument.text));
    } else if (argument.value == kDirectory) {
      text += at + " -a '(__fish_complete_directories)'\n";
    }
  }
  for (const HelpFlag& flag : command.flags) {
    text += at;
    for (const std::string& name : flag.names)
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    text += fmt::format("{} -d {}\n", fish_value(flag), fish_quoted(flag.text));
  }
  return text;
}

}  // namespace

std::string bash_completion(const CommandHelp& program) {
  std::string text = R"sh(# What bash needs to complete armgate's command line; made by `armgate completion bash`.
_armgate() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} path='' words='' i
  COMPREPLY=()
  if [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD - 2]}; elif [[ $cur == = ]]; then cur=''; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      # Another program's command line.
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      elif ((i + 1 == COMP_CWORD)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$cur")
      else
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      fi
      return
    fi
    case "${path:+$path }${COMP_WORDS[i]}" in
      )sh";
  text += all_paths(program, " | ") +
          ") path=\"${path:+$path }${COMP_WORDS[i]}\" ;;\n    esac\n  done\n  case \"$path:$prev\" in\n";
  for (const CommandHelp* command : all_commands(program)) {
    for (const HelpFlag& flag : command->flags) {
      if (flag.value.empty()) continue;
      std::string act = "return";
      if (!flag.choices.empty()) act = fmt::format("words={}", in_quotes(fmt::format("{}", fmt::join(flag.choices, " "))));
      if (flag.value == kFile || flag.value == kDirectory) {
        act = fmt::format("compopt -o filenames; mapfile -t COMPREPLY < <(compgen -{} -- \"$cur\"); return",
                          flag.value == kFile ? 'f' : 'd');
      }
      text += fmt::format("    {}) {} ;;\n", in_quotes(command->path + ":" + flag.names.back()), act);
    }
  }
  text += "  esac\n  [[ $words ]] || case \"$path\" in\n";
  for (const CommandHelp* command : all_commands(program)) {
    text += fmt::format("    {}) words={} ;;\n", in_quotes(command->path), in_quotes(next_words(*command)));
  }
  return text + "  esac\n  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n}\ncomplete -F _armgate armgate\n";
}

std::string zsh_completion(const CommandHelp& program) {
  std::string text = "#compdef armgate\n# Made by `armgate completion zsh`.\n";
  for (const CommandHelp* command : all_commands(program)) text += zsh_function(*command);
  return text + "if [[ $funcstack[1] == _armgate ]]; then _armgate \"$@\"; else compdef _armgate armgate; fi\n";
}

std::string fish_completion(const CommandHelp& program) {
  std::string text = R"sh(# Made by `armgate completion fish`.
function __armgate_at
    set -l path ''
    for word in (commandline -opc)[2..-1]
        test "$word" = --; and return 1
        switch (string trim "$path $word")
            case )sh";
  text += all_paths(program, " ");
  text += R"sh(
                set path (string trim "$path $word")
        end
    end
    test "$path" = "$argv[1]"
end
complete -c armgate -f
complete -c armgate -n 'contains -- -- (commandline -opc)' -a '(__fish_complete_subcommand)'
)sh";
  for (const CommandHelp* command : all_commands(program)) text += fish_command(*command);
  return text;
}

}  // namespace armgate
