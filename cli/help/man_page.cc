#include "cli/help/man_page.h"

#include <fmt/format.h>

#include <system_error>

#include "base/text.h"
#include "certs/secret_file.h"

namespace armgate {
namespace {

constexpr mode_t kReadableByAll = 0644;

// Text as it stands: no escape, no request at a line's beginning, and '-' as it can be copied (groff_char(7)).
std::string plain(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else if ((c == '.' || c == '\'') && (safe.empty() || safe.back() == '\n')) {
      safe += fmt::format("\\&{}", c);
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string bold(std::string_view text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + plain(text) + "\\fR"; }

std::string command_words(const CommandHelp& command) { return command.path.empty() ? "armgate" : "armgate " + command.path; }

std::string title_of(const CommandHelp& command) {
  std::string title = command_words(command);
  for (char& c : title) c = c == ' ' ? '-' : c;
  return title;
}

// One line, without the examples that may follow.
std::string summary_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string synopsis(const CommandHelp& command) {
  std::string text = bold(command_words(command));
  if (!command.flags.empty()) text += fmt::format(" [{}]", italic("options"));
  for (const HelpArgument& argument : command.arguments) {
    const std::string name = italic(argument.name);
    text += argument.required ? " " + name : fmt::format(" [{}]", name);
  }
  if (!command.commands.empty()) text += fmt::format(" {}", italic("command"));
  if (command.path == "exec") text += fmt::format(" {} {}", bold("--"), italic("command arguments"));
  return text;
}

std::string entry(const std::string& term, const std::string& text) { return fmt::format(".TP\n{}\n{}\n", term, plain(text)); }

std::string flag_entry(const HelpFlag& flag) {
  std::string term;
  for (const std::string& name : flag.names) term += (term.empty() ? "" : ", ") + bold(name);
  if (!flag.choices.empty()) {
    term += " " + italic(fmt::format("{}", fmt::join(flag.choices, "|")));
  } else if (!flag.value.empty()) {
    term += " " + italic(flag.value);
  }
  return entry(term, flag.text + (flag.standard.empty() ? "" : fmt::format(" (default: {})", flag.standard)));
}

std::string see_also(const CommandHelp& command, const CommandHelp& program) {
  std::string text;
  const auto add = [&](const CommandHelp& other) {
    if (&other == &command) return;
    text += fmt::format("{}.BR {} (1)", text.empty() ? "" : ",\n", plain(title_of(other)));
  };
  for (const CommandHelp* other : all_commands(program)) {
    const bool is_near = command.path.empty() || other->path.empty() || other->path.starts_with(command.path + " ") ||
                         command.path.starts_with(other->path + " ");
    if (is_near) add(*other);
  }
  return text.empty() ? text : ".SH SEE ALSO\n" + text + "\n";
}

}  // namespace

std::string man_page_name(const CommandHelp& command) { return title_of(command) + ".1"; }

std::string man_page(const CommandHelp& command, const CommandHelp& program, std::string_view version) {
  std::string upper_title = title_of(command);
  for (char& c : upper_title) c = upper(c);
  std::string text = fmt::format(".TH {} 1 \"\" \"armgate {}\" \"User Commands\"\n", plain(upper_title), plain(version));
  text += fmt::format(".SH NAME\n{} \\- {}\n", plain(title_of(command)), plain(summary_line(command.text)));
  text += fmt::format(".SH SYNOPSIS\n{}\n", synopsis(command));
  text += fmt::format(".SH DESCRIPTION\n{}\n", plain(command.text));
  if (!command.arguments.empty()) text += ".SH ARGUMENTS\n";
  for (const HelpArgument& argument : command.arguments) text += entry(italic(argument.name), argument.text);
  if (!command.commands.empty()) text += ".SH COMMANDS\n";
  for (const CommandHelp& below : command.commands) text += entry(bold(below.name()), summary_line(below.text));
  if (!command.flags.empty()) text += ".SH OPTIONS\n";
  for (const HelpFlag& flag : command.flags) text += flag_entry(flag);
  // The program's own text has the exit codes of all commands that have none of their own.
  const std::string& footer = command.footer.empty() ? program.footer : command.footer;
  if (!footer.empty()) text += fmt::format(".SH EXIT STATUS\n{}\n", plain(footer));
  return text + see_also(command, program);
}

Result<void> write_man_pages(const CommandHelp& program, std::string_view version, const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  for (const CommandHelp* command : all_commands(program)) {
    const auto file = directory / man_page_name(*command);
    if (auto written = certs::write_file(file, man_page(*command, program, version), kReadableByAll); !written)
      return written.error();
  }
  return {};
}

}  // namespace armgate
