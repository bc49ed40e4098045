#include "cli/cli.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/declare.h"
#include "cli/help/completion.h"
#include "cli/help/man_page.h"
#include "cli/help/surplus.h"
#include "cli/load.h"
#include "proxy/config/option_table.h"
#include "rules/file/rule_file.h"

namespace armgate {
namespace {

using commands::Asked;

// What is asked of the program itself, without a command.
struct OfProgram {
  bool defaults = false;
  std::string schema;  // whose; empty: none is asked for
  std::string man_directory;
};

void declare_own_flags(CLI::App& app, OfProgram& own) {
  app.footer("Exit codes: 0 done, 1 bad input or configuration, 2 wrong command line, 3 failed while running.");
  app.set_version_flag("--version", "armgate " ARMGATE_VERSION);
  app.add_flag("--print-defaults", own.defaults, "Print a commented configuration with every option's default");
  app.add_option("--print-schema", own.schema,
                 "Print the JSON Schema of the configuration (config) or of rule files (rules), for editors")
      ->check(CLI::IsMember({"config", "rules"}));
  app.add_option("--write-man", own.man_directory, "Write a man page for each command into this directory")
      ->type_name(kDirectory);
  app.require_subcommand(0, 1);
}

CLI::App* declare_completion(CLI::App& app, Asked& asked) {
  CLI::App* command = app.add_subcommand(
      "completion", "Print what a shell needs to complete armgate's command line: eval \"$(armgate completion bash)\"");
  command->add_option("shell", asked.completed_shell, "The shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return command;
}

std::string completion_of(const CommandHelp& program, const std::string& shell) {
  if (shell == "zsh") return zsh_completion(program);
  return shell == "fish" ? fish_completion(program) : bash_completion(program);
}

int usage(const CliContext& context, std::string_view what) {
  fmt::print(context.err, "{}\nRun with --help for more information.\n", what);
  return kExitUsage;
}

// Nothing: all of it has a meaning. Else it was said what has none, or help was asked for and given.
std::optional<int> parse(CLI::App& app, int argc, const char* const* argv, const CliContext& context) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ExtrasError&) {
    return usage(context, "armgate: " + explain_surplus(app));
  } catch (const CLI::RequiredError&) {
    // What is missing may be there, but misspelt: "ca bogus".
    return usage(context, "armgate: " + (app.remaining(true).empty() ? explain_missing(app) : explain_surplus(app)));
  } catch (const CLI::ParseError& error) {
    if (const std::string words = explain_wrong(error.what()); !words.empty()) return usage(context, words);
    return app.exit(error, context.out, context.err) == 0 ? kExitDone : kExitUsage;
  }
}

// What the parser does not know of: flags that belong together, and what stands behind them. Nothing: it may be done.
std::optional<int> refuse(const CLI::App& app, const Asked& asked, bool has_words, const CliContext& context) {
  const bool is_exec = app.got_subcommand("exec");
  if (is_exec && (asked.words.empty() || asked.words.front().empty())) {
    return usage(context, "exec: the command is missing; write it behind \"--\": armgate exec -- az group list");
  }
  if (has_words && !is_exec) return usage(context, "\"--\" has a meaning only for exec");
  if (!asked.shown_files.empty() && asked.body_file.empty()) {
    return usage(context, "explain: --shown has a meaning only together with --body");
  }
  if (!asked.there_file.empty() && asked.shown_files.empty()) {
    return usage(context, "explain: --there has a meaning only together with --body and --shown");
  }
  if (const auto faults = commands::faults_of_flags(asked); !faults.empty()) {
    for (const rules::Fault& fault : faults) fmt::print(context.err, "{}\n", rules::to_text(fault));
    return usage(context, "armgate: wrong command line");
  }
  return std::nullopt;
}

int without_command(const CLI::App& app, const OfProgram& own, const CliContext& context) {
  if (!own.man_directory.empty()) {
    const auto written = write_man_pages(help_of(app), ARMGATE_VERSION, own.man_directory);
    return written ? kExitDone : commands::fail(context, written.error());
  }
  if (own.defaults) {
    context.out << print_defaults();
    return kExitDone;
  }
  if (!own.schema.empty()) {
    context.out << (own.schema == "rules" ? rules::rule_file_schema() : config_schema());
    return kExitDone;
  }
  context.err << app.help();
  return kExitUsage;
}

int run_words(int argc, const char* const* argv, const CliContext& context) {
  CLI::App app{"armgate makes Azure Resource Manager traffic safe under concurrency.", "armgate"};
  Asked asked;
  OfProgram own;
  declare_own_flags(app, own);
  const Commands commands = declare_commands(app, asked, context);
  const CLI::App* const completion = declare_completion(app, asked);

  // What stands behind "--" is another program's command line, not a word of which is ours to read.
  const char* const* own_end = std::find(argv, argv + argc, std::string_view("--"));
  const bool has_words = own_end != argv + argc;
  if (has_words) asked.words.assign(own_end + 1, argv + argc);
  if (const auto ended = parse(app, static_cast<int>(own_end - argv), argv, context)) return *ended;
  if (const auto refused = refuse(app, asked, has_words, context)) return *refused;
  for (const auto& [command, act] : commands) {
    if (*command) return act(asked, context);
  }
  if (*completion) {
    context.out << completion_of(help_of(app), asked.completed_shell);
    return kExitDone;
  }
  return without_command(app, own, context);
}

}  // namespace

int run_cli(int argc, const char* const* argv, const CliContext& context) {
  int exit_code = kExitRuntime;
  try {
    exit_code = run_words(argc, argv, context);
  } catch (const std::exception& failure) {  // what the system refuses while something is set up: descriptors, threads, memory
    fmt::print(context.err, "armgate: {}\n", failure.what());
    if (argc > 1 && std::string_view(argv[1]) == "exec") return kExitExecFailed;
  }
  context.out.flush();
  if (context.out || exit_code != kExitDone) return exit_code;
  fmt::print(context.err, "armgate: the output cannot be written\n");
  return kExitRuntime;
}

}  // namespace armgate
