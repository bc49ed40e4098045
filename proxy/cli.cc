#include "proxy/cli.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>
#include <system_error>

#include "certs/secret_file.h"
#include "proxy/cli_authority.h"
#include "proxy/cli_check.h"
#include "proxy/cli_explain.h"
#include "proxy/cli_status.h"
#include "proxy/cli_surplus.h"
#include "proxy/gateway_status.h"
#include "proxy/option_table.h"
#include "rules/overlap.h"
#include "rules/rule_file.h"

namespace armgate {
namespace {

// What was asked for; empty texts were not given.
struct Asked {
  std::string config;
  std::string mode;
  std::string listen;
  std::string ca_directory;
  bool force = false;
  std::string name;
  std::string actor;
  std::string log_file;
  std::string shell = "sh";
  std::vector<std::string> words;  // the command of exec
  std::string method;              // of the request to explain
  std::string url;
  std::string body_file;
  std::vector<std::string> shown_files;
  std::string client;
  std::string user_agent;
  std::string resource;  // to unlock
  std::string output = "text";
};

std::string source_of(const Config& config) { return config.source.empty() ? "the built-in defaults" : config.source; }

// What stands behind flags; wrong is the command line then, not the configuration.
rules::FaultList faults_of_flags(const Asked& asked) {
  rules::FaultList faults;
  Config scratch;
  if (!asked.mode.empty()) set_option(scratch, "mode", asked.mode, "--mode", faults);
  if (!asked.listen.empty()) set_option(scratch, "listen/proxy", asked.listen, "--listen", faults);
  if (!asked.name.empty() && !is_client_name(asked.name)) {
    faults.push_back({"--name", 0, "", fmt::format("\"{}\" is not a name of 1 to 64 letters, digits or \"._~-\"", asked.name)});
  }
  return faults;
}

// The configuration that the command line asks for.
LoadedConfig load_with_flags(const Asked& asked, const CliContext& context, RuleFiles rule_files) {
  std::filesystem::path file = asked.config;
  std::error_code error;
  if (file.empty() && std::filesystem::exists(context.default_config, error)) file = context.default_config;
  LoadedConfig loaded = load_config(file, context.surroundings, rule_files);
  rules::FaultList ignored;  // faults_of_flags() has told them
  if (!asked.mode.empty()) set_option(loaded.config, "mode", asked.mode, "--mode", ignored);
  if (!asked.listen.empty()) set_option(loaded.config, "listen/proxy", asked.listen, "--listen", ignored);
  if (!asked.ca_directory.empty()) {
    const std::filesystem::path absolute = std::filesystem::absolute(asked.ca_directory, error);
    loaded.config.ca.directory = error ? asked.ca_directory : absolute.lexically_normal().string();
  }
  return loaded;
}

// True if there are none.
bool tell_faults(const rules::FaultList& faults, const CliContext& context) {
  if (faults.empty()) return true;
  for (const rules::Fault& fault : faults) fmt::print(context.err, "{}\n", rules::to_text(fault));
  fmt::print(context.err, "armgate: {} {} found; nothing was changed\n", faults.size(),
             faults.size() == 1 ? "fault" : "faults");
  return false;
}

// The same, or nothing after the faults were printed.
std::optional<Config> load_asked(const Asked& asked, const CliContext& context, RuleFiles rule_files) {
  LoadedConfig loaded = load_with_flags(asked, context, rule_files);
  if (!tell_faults(loaded.faults, context)) return std::nullopt;
  return std::move(loaded.config);
}

int check(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Load);
  if (!config || !tell_faults(faults_of_files(*config), context)) return kExitBadInput;
  const auto warnings = rules::warnings_about(config->rules);
  for (rules::Fault warning : warnings) {
    warning.message.insert(0, "warning: ");
    fmt::print(context.err, "{}\n", rules::to_text(warning));
  }
  fmt::print(context.out, "armgate: {}: good; mode {}, proxy on {}, {} rules", source_of(*config), rules::to_text(config->mode),
             config->listen.proxy, config->rules.size());
  if (!warnings.empty()) fmt::print(context.out, ", {} warning{}", warnings.size(), warnings.size() == 1 ? "" : "s");
  fmt::print(context.out, "\n");
  return kExitDone;
}

int run(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Load);
  if (!config) return kExitBadInput;
  fmt::print(context.err, "armgate: configuration from {}\n", source_of(*config));
  context.err << other_proxy_notice(context.environment);
  return context.run(*config, [asked, &context] { return load_with_flags(asked, context, RuleFiles::Load); });
}

int fail(const CliContext& context, const Error& error) {
  fmt::print(context.err, "armgate: {}\n", error.context);
  return error.kind == ErrorKind::BadInput || error.kind == ErrorKind::TooLarge ? kExitBadInput : kExitRuntime;
}

int ca_init(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  const auto overwrite = asked.force ? certs::Overwrite::Force : certs::Overwrite::Refuse;
  const auto root = init_authority(*config, context.wall, overwrite);
  if (!root) return fail(context, root.error());
  fmt::print(context.out, "{}\n", root->string());
  if (asked.force) {
    fmt::print(context.err,
               "armgate: what runs with the authority that was there keeps it: start it anew, and let tools trust this one\n");
  }
  return kExitDone;
}

int ca_path(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  std::string init_command = ca_init_command(*config);
  if (!asked.ca_directory.empty()) init_command += " --directory " + config->ca.directory;
  const auto root = find_authority(*config, init_command);
  if (!root) return fail(context, root.error());
  fmt::print(context.out, "{}\n", root->string());
  return kExitDone;
}

int explain(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Load);
  if (!config) return kExitBadInput;
  ExplainRequest request{asked.method, asked.url, std::nullopt, asked.client, asked.user_agent, {}};
  for (const std::string& file : asked.shown_files) {
    ShownAnswer answer{file, {}, file == "404"};
    if (!answer.absent) {
      auto body = certs::read_file(file, config->limits.request_body_bytes);
      if (!body) return fail(context, body.error());
      answer.body = *std::move(body);
    }
    request.shown.push_back(std::move(answer));
  }
  if (!asked.body_file.empty()) {
    const std::string file = asked.body_file == "-" ? "/dev/stdin" : asked.body_file;
    auto body = certs::read_file(file, config->limits.request_body_bytes);
    if (!body) return fail(context, body.error());
    request.body = *std::move(body);
  }
  const auto form = asked.output == "json" ? ExplainAs::Json : ExplainAs::Text;
  const auto explained = explain_request(request, *config, form);
  if (!explained) return fail(context, explained.error());
  context.out << *explained;
  return kExitDone;
}

// Prints what the running service answered.
int print_answer(const Asked& asked, const CliContext& context, const Result<std::string>& json,
                 Result<std::string> (*into_text)(std::string_view)) {
  if (!json) return fail(context, json.error());
  const auto text = into_text(*json);
  if (!text) return fail(context, text.error());
  context.out << (asked.output == "json" ? *json : *text);
  return kExitDone;
}

int status(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  return print_answer(asked, context, fetch_status(*config), status_text);
}

int unlock(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  const auto user = context.environment.find("USER");
  const std::string who = user == context.environment.end() ? "somebody" : name_of_program(user->second);
  return print_answer(asked, context, unlock_resource(*config, asked.resource, who), unlocked_text);
}

int exec(const Asked& asked, const CliContext& context) {
  ExecRequest request;
  request.words = asked.words;
  request.name = asked.name.empty() ? name_of_program(asked.words.front()) : asked.name;
  request.actor = asked.actor == "many" ? policy::Actor::Many : policy::Actor::Single;
  request.log_file = asked.log_file;
  request.environment = context.environment;
  request.wall = context.wall;
  if (const auto active = context.environment.find(kActiveVariable); active != context.environment.end()) {
    if (asked.config.empty() && asked.log_file.empty() && asked.mode.empty() && asked.actor.empty()) {
      return context.exec_within(request, active->second);
    }
    fmt::print(context.err,
               "armgate: {} is set: this environment uses the armgate at {}, with its own configuration and log; "
               "unset {} to start another\n",
               kActiveVariable, active->second, kActiveVariable);
    return kExitExecFailed;
  }
  const auto config = load_asked(asked, context, RuleFiles::Load);
  if (!config) return kExitExecFailed;
  return context.exec(*config, request);
}

int env(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  if (config->listen.proxy.ends_with(":0")) {
    return fail(context, gateway_error(ErrorKind::BadInput,
                                       "listen.proxy has port 0, so nobody knows where armgate listens; "
                                       "give it a port"));
  }
  const auto root = find_authority(*config, ca_init_command(*config));
  if (!root) return fail(context, root.error());
  const auto bundles = bundle_directory(*config, context.surroundings.home);
  if (!bundles) return fail(context, bundles.error());
  const AuthorityLock lock(*bundles);
  const auto variables = tool_variables({.proxy = reachable(config->listen.proxy),
                                         .name = asked.name.empty() ? "shell-" + context.session : asked.name,
                                         .ca = *root,
                                         .bundles = *bundles,
                                         .intercepted = config->intercept},
                                        context.environment);
  if (!variables) return fail(context, variables.error());
  const std::pair<std::string_view, Shell> shells[] = {{"sh", Shell::Sh},           {"bash", Shell::Sh},
                                                       {"zsh", Shell::Sh},          {"fish", Shell::Fish},
                                                       {"pwsh", Shell::PowerShell}, {"powershell", Shell::PowerShell},
                                                       {"json", Shell::Json}};
  const auto shell =
      std::find_if(std::begin(shells), std::end(shells), [&](const auto& one) { return one.first == asked.shell; });
  context.err << other_proxy_notice(context.environment);
  context.out << to_commands(*variables, shell->second);
  return kExitDone;
}

using Command = int (*)(const Asked&, const CliContext&);

CLI::App* declare_explain(CLI::App& app, Asked& asked) {
  CLI::App* command = app.add_subcommand(
      "explain", "Say what would be done about a request, and why: armgate explain PUT https://management.azure.com/...");
  command->add_option("method", asked.method, "GET, PUT, PATCH, DELETE or POST")->required();
  command->add_option("url", asked.url, "The request's URL, or its path and query")->required();
  command->add_option("--body", asked.body_file, "A file with the request's body; -: standard input");
  command
      ->add_option(
          "--shown", asked.shown_files,
          "A file with an answer to a read of the resource that the client was shown before, or 404; again for each, oldest first")
      ->allow_extra_args(false);
  command->add_option("--client", asked.client, "The user name in the proxy URL of who sends it");
  command->add_option("--user-agent", asked.user_agent, "Its User-Agent field, which decides how long it may wait");
  return command;
}

// The commands, their flags, and what runs them.
std::vector<std::pair<CLI::App*, Command>> declare(CLI::App& app, Asked& asked, const CliContext& context) {
  CLI::App* run_command = app.add_subcommand("run", "Run the service in the foreground");
  CLI::App* exec_command = app.add_subcommand("exec", "Run one command through a gateway of its own: armgate exec -- CMD ARGS");
  CLI::App* env_command = app.add_subcommand("env", "Print what leads a shell's commands through a running service");
  CLI::App* check_command = app.add_subcommand("check", "Check the configuration and its rule files, and do nothing else");
  CLI::App* explain_command = declare_explain(app, asked);
  CLI::App* status_command =
      app.add_subcommand("status", "Ask the running service which writes run and which wait (listen.admin)");
  CLI::App* unlock_command = app.add_subcommand(
      "unlock", "Let others go on with a resource although the operation that holds it was not seen to end (listen.admin)");
  unlock_command->add_option("resource", asked.resource, "Its id, as armgate status shows it: /subscriptions/...")->required();
  CLI::App* ca_command = app.add_subcommand("ca", "The local certificate authority");
  ca_command->require_subcommand(1);
  CLI::App* init_command = ca_command->add_subcommand("init", "Make it, and print the certificate that tools must trust");
  CLI::App* path_command = ca_command->add_subcommand("path", "Print the path of the certificate that tools must trust");

  for (CLI::App* command : {run_command, exec_command, env_command, check_command, explain_command, status_command,
                            unlock_command, init_command, path_command}) {
    command->add_option("--config", asked.config,
                        "Configuration file (" + context.default_config.string() + " if it exists, else the defaults)");
  }
  for (CLI::App* command : {explain_command, status_command, unlock_command}) {
    command->add_option("--output", asked.output, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
  }
  for (CLI::App* command : {run_command, exec_command}) {
    command->add_option("--mode", asked.mode, "protect, observe or off, in place of the configured mode");
  }
  run_command->add_option("--listen", asked.listen, "host:port, in place of the configured listen.proxy");
  exec_command->add_option("--name", asked.name, "The client's name (default: the command's)");
  exec_command->add_option("--actor", asked.actor, "single (default), or many: the command does several things at once")
      ->check(CLI::IsMember({"single", "many"}));
  exec_command->add_option("--log", asked.log_file, "Write armgate's log to this file");
  exec_command->footer(
      "Its exit code is the command's; 128 plus the signal that killed it; 127 or 126 if it cannot be found or "
      "run; 125 if armgate could not start.");
  env_command->add_option("--name", asked.name, "The client's name (default: one for each shell)");
  env_command->add_option("--shell", asked.shell, "sh (also bash and zsh), fish, powershell (pwsh) or json")
      ->check(CLI::IsMember({"sh", "bash", "zsh", "fish", "powershell", "pwsh", "json"}))
      ->capture_default_str();
  for (CLI::App* command : {init_command, path_command}) {
    command->add_option("--directory", asked.ca_directory, "Where it is kept, in place of the configured ca.directory");
  }
  init_command->add_flag("--force", asked.force, "Replace the one that is there; tools must then trust the new one");
  return {{run_command, run},       {exec_command, exec},       {env_command, env},
          {check_command, check},   {explain_command, explain}, {status_command, status},
          {unlock_command, unlock}, {init_command, ca_init},    {path_command, ca_path}};
}

int usage(const CliContext& context, std::string_view what) {
  fmt::print(context.err, "{}\nRun with --help for more information.\n", what);
  return kExitUsage;
}

int run_words(int argc, const char* const* argv, const CliContext& context) {
  CLI::App app{
      "armgate makes Azure Resource Manager traffic safe under concurrency.\n"
      "Exit codes: 0 done, 1 bad input or configuration, 2 wrong command line, 3 failed while running.",
      "armgate"};
  Asked asked;
  app.set_version_flag("--version", "armgate " ARMGATE_VERSION);
  bool print_defaults_asked = false;
  app.add_flag("--print-defaults", print_defaults_asked, "Print a commented configuration with every option's default");
  std::string schema_asked;
  app.add_option("--print-schema", schema_asked,
                 "Print the JSON Schema of the configuration (config) or of rule files (rules), for editors")
      ->check(CLI::IsMember({"config", "rules"}));
  app.require_subcommand(0, 1);
  const auto commands = declare(app, asked, context);

  // What stands behind "--" is another program's command line, not a word of which is ours to read.
  const char* const* own_end = std::find(argv, argv + argc, std::string_view("--"));
  const bool has_words = own_end != argv + argc;
  if (has_words) asked.words.assign(own_end + 1, argv + argc);
  try {
    app.parse(static_cast<int>(own_end - argv), argv);
  } catch (const CLI::ExtrasError&) {
    return usage(context, "armgate: " + explain_surplus(app));
  } catch (const CLI::ParseError& error) {
    return app.exit(error, context.out, context.err) == 0 ? kExitDone : kExitUsage;
  }
  const bool is_exec = app.got_subcommand("exec");
  if (is_exec && (asked.words.empty() || asked.words.front().empty())) {
    return usage(context, "exec: the command is missing; write it behind \"--\": armgate exec -- az group list");
  }
  if (has_words && !is_exec) return usage(context, "\"--\" has a meaning only for exec");
  if (!asked.shown_files.empty() && asked.body_file.empty()) {
    return usage(context, "explain: --shown has a meaning only together with --body");
  }
  if (const auto faults = faults_of_flags(asked); !faults.empty()) {
    for (const rules::Fault& fault : faults) fmt::print(context.err, "{}\n", rules::to_text(fault));
    return usage(context, "armgate: wrong command line");
  }
  for (const auto& [command, act] : commands) {
    if (*command) return act(asked, context);
  }
  if (print_defaults_asked) {
    context.out << print_defaults();
    return kExitDone;
  }
  if (!schema_asked.empty()) {
    context.out << (schema_asked == "rules" ? rules::rule_file_schema() : config_schema());
    return kExitDone;
  }
  context.err << app.help();
  return kExitUsage;
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
