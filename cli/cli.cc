#include "cli/cli.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/help/completion.h"
#include "cli/help/man_page.h"
#include "cli/load.h"
#include "cli/surplus.h"
#include "proxy/config/option_table.h"
#include "rules/file/rule_file.h"

namespace armgate {
namespace {

using commands::Asked;

using Command = int (*)(const Asked&, const CliContext&);

// What stands behind a flag, for --help and for shells that complete it.
constexpr const char* kFile = "FILE";
constexpr const char* kDirectory = "DIR";

CLI::App* declare_explain(CLI::App& app, Asked& asked) {
  CLI::App* command = app.add_subcommand(
      "explain", "Say what would be done about a request, and why: armgate explain PUT https://management.azure.com/...");
  command->add_option("method", asked.method, "GET, PUT, PATCH, DELETE or POST")->required();
  command->add_option("url", asked.url, "The request's URL, or its path and query")->required();
  command->add_option("--body", asked.body_file, "A file with the request's body; -: standard input")->type_name(kFile);
  command
      ->add_option(
          "--shown", asked.shown_files,
          "A file with an answer to a read of the resource that the client was shown before, or 404; again for each, oldest first")
      ->type_name(kFile)
      ->allow_extra_args(false);
  command->add_option("--client", asked.client, "The user name in the proxy URL of who sends it");
  command->add_option("--user-agent", asked.user_agent, "Its User-Agent field, which decides how long it may wait");
  return command;
}

std::vector<std::pair<CLI::App*, Command>> declare_types(CLI::App& app, Asked& asked) {
  CLI::App* command = app.add_subcommand(
      "types", "List the types that anything is known of, or say what is known of one, and from where: armgate types [TYPE]");
  command->add_option("type", asked.type, "Microsoft.Network/virtualNetworks, for example");
  CLI::App* import = command->add_subcommand(
      "import", "Draw facts about all types from a checkout of Azure/bicep-types-az into one file, which \"rules\" can name");
  import->add_option("directory", asked.checkout, "The checkout")->required()->type_name(kDirectory);
  import
      ->add_option("--output", asked.output_file,
                   "The file; what the import changes in it is told. Without one the facts go to standard output")
      ->type_name(kFile);
  return {{import, commands::types_import}, {command, commands::types}};
}

std::vector<std::pair<CLI::App*, Command>> declare_heal(CLI::App& app, Asked& asked) {
  Asked::Heal& heal = asked.heal;
  CLI::App* command =
      app.add_subcommand("heal", "Repair what is wedged, as a runbook says: armgate heal aks-system-pool CLUSTER_ID");
  command->add_flag("--list", heal.list, "Show earlier runs, and how far they came");
  command->add_option("--runs", heal.runs, "Where runs are written down, in place of ~/.local/state/armgate/heal")
      ->type_name(kDirectory);
  CLI::App* pool = command->add_subcommand(
      "aks-system-pool",
      "Make the system pool of an AKS cluster anew whose nodes cannot get their network. A dry run unless confirmed");
  pool->add_option("cluster", heal.cluster, "Its id: /subscriptions/...")->required();
  pool->add_option("--pool", heal.pool, "The pool")->capture_default_str();
  pool->add_flag("--confirm", heal.confirm, "Do it; or go on with the run that ended in the middle");
  pool->add_flag("--undo", heal.undo, "Take the temporary pool away again, as long as nothing was deleted")
      ->needs(pool->get_option("--confirm"));
  pool->add_flag("--skip-detection", heal.skip_detection,
                 "Do not ask whether it is wedged. Everything that keeps it from harm is asked all the same");
  pool->add_option("--threshold", heal.threshold, "So many failures in the activity log are a storm")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  pool->add_option("--window-min", heal.window_min, "If they lie within so many minutes")
      ->check(CLI::Range(1, 10'080))
      ->capture_default_str();
  pool->add_option("--deadline-min", heal.deadline_min, "Minutes for the whole run, up to the delete")
      ->check(CLI::Range(25, 1'440))
      ->capture_default_str();
  pool->add_option("--poll-s", heal.poll_s, "Seconds between two looks")->check(CLI::Range(0.01, 300.0))->capture_default_str();
  pool->add_option("--settle-s", heal.settle_s, "Seconds to wait after the abort")
      ->check(CLI::Range(0.0, 600.0))
      ->capture_default_str();
  pool->add_option("--stand-in-nodes", heal.stand_in_nodes, "Nodes of the temporary pool; 0: as many as the pool has")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  pool->add_option("--kubeconfig", heal.kubeconfig,
                   "Wait until the nodes are ready, as kubectl says with this file (default: only what ARM says of the pools)")
      ->type_name(kFile);
  pool->add_flag("--without-kubeconfig", heal.without_kubeconfig,
                 "Go on with a run that looked at nodes, without looking at them any more")
      ->excludes(pool->get_option("--kubeconfig"));
  pool->add_option("--nodes-min", heal.nodes_min, "Minutes for a pool's nodes to become ready, once ARM says that it is well")
      ->check(CLI::Range(0.01, 1'440.0))
      ->needs(pool->get_option("--kubeconfig"))
      ->capture_default_str();
  pool->add_flag("--drain", heal.drain,
                 "Cordon and drain the nodes with kubectl before the delete (default: AKS does as it deletes)")
      ->needs(pool->get_option("--kubeconfig"));
  pool->add_option("--drain-min", heal.drain_min, "Minutes for all of the drain; pods that do not go in it go with their nodes")
      ->check(CLI::Range(0.01, 1'440.0))
      ->needs(pool->get_option("--drain"))
      ->capture_default_str();
  pool->add_option("--api-version", heal.api_version, "Of Microsoft.ContainerService (2025-10-01)");
  pool->add_option("--runs", heal.runs, "Where the run is written down, in place of ~/.local/state/armgate/heal")
      ->type_name(kDirectory);
  command->footer("Exit codes: 0 done; 1 bad input, such as no directory of runs; 2 wrong command line.");
  pool->footer(
      "Exit codes: 0 done, or nothing to do; 1 refused, stopped or interrupted, bad configuration, or a dry run that found a run that "
      "has not come to its end; 2 wrong command line; 3 the output could not be written to its end.");
  return {{pool, commands::heal_system_pool}, {command, commands::heal_list}};
}

std::vector<std::pair<CLI::App*, Command>> declare_cluster(CLI::App& app, Asked& asked) {
  CLI::App* command = app.add_subcommand("cluster", "Several armgates that serve as one (cluster.engine)");
  command->require_subcommand(1);
  CLI::App* init = command->add_subcommand("init", "Make the tables that they share");
  init->add_option("--lease", asked.lease, "Seconds after which a replica that says nothing is taken for dead")
      ->check(CLI::Range(1.0, 300.0))
      ->capture_default_str();
  CLI::App* upgrade = command->add_subcommand("upgrade", "Bring tables of an earlier version to this one's");
  CLI::App* import = command->add_subcommand(
      "import",
      "Take over what a single armgate's journal has open, before the first replica starts: armgate cluster import JOURNAL");
  import->add_option("journal", asked.journal, "Its journal.file")->required()->type_name(kFile);
  CLI::App* status = command->add_subcommand("status", "Show the replicas, the log, and what is weaker than it could be");
  return {{init, commands::cluster_init},
          {upgrade, commands::cluster_upgrade},
          {import, commands::cluster_import},
          {status, commands::cluster_status}};
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

// The id in what was copied: out of a URL of ARM's, with its query, with slashes at its end as shells complete paths.
std::string id_in(std::string_view text) {
  constexpr std::string_view kScheme = "https://";
  if (text.starts_with(kScheme)) {
    const size_t path = text.find('/', kScheme.size());
    text = path == text.npos ? text : text.substr(path);
  }
  text = text.substr(0, text.find('?'));
  while (text.ends_with('/')) text.remove_suffix(1);
  return std::string(text);
}

CLI::Option* add_resource(CLI::App& command, Asked& asked, const std::string& text) {
  return command.add_option("resource", asked.resource, text)->transform([](const std::string& given) { return id_in(given); });
}

// The commands, their flags, and what runs them.
std::vector<std::pair<CLI::App*, Command>> declare(CLI::App& app, Asked& asked, const CliContext& context) {
  CLI::App* run_command = app.add_subcommand("run", "Run the service in the foreground");
  CLI::App* exec_command = app.add_subcommand("exec", "Run one command through a gateway of its own: armgate exec -- CMD ARGS");
  CLI::App* env_command = app.add_subcommand("env", "Print what leads a shell's commands through a running service");
  CLI::App* check_command = app.add_subcommand("check", "Check the configuration and its rule files, and do nothing else");
  CLI::App* doctor_command = app.add_subcommand(
      "doctor", "Look whether this shell's tools get through armgate to ARM, and say what to do if they do not");
  CLI::App* explain_command = declare_explain(app, asked);
  CLI::App* status_command =
      app.add_subcommand("status", "Ask the running service which writes run and which wait (listen.admin)");
  CLI::App* queue_command =
      app.add_subcommand("queue", "Ask the running service who waits, and for whom: armgate queue [RESOURCE] (listen.admin)");
  add_resource(*queue_command, asked, "Only where it is about this resource or what is below it: /subscriptions/...");
  CLI::App* top_command = app.add_subcommand(
      "top", "Look on, every second, at what the running service does and who waits for whom (listen.admin)");
  top_command->add_option("--interval", asked.interval, "Seconds between two looks")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  top_command->add_option("--looks", asked.looks, "How often to look; 0: until it is ended")->capture_default_str();
  CLI::App* history_command = app.add_subcommand(
      "history",
      "Show the last writes and how they ended, also after the service's end (journal.file); without a journal those that the running service remembers");
  history_command->add_option("--last", asked.last, "How many")->check(CLI::Range(1, 100'000))->capture_default_str();
  add_resource(*history_command, asked, "Only those to this resource and to what is below it: /subscriptions/...");
  CLI::App* blame_command = app.add_subcommand(
      "blame", "Say who wrote to a resource, with which tool, which members changed and how it ended: armgate blame RESOURCE");
  blame_command->add_option("--last", asked.last, "How many writes to look at")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  add_resource(*blame_command, asked, "Its id: /subscriptions/...")->required();
  CLI::App* sick_command = app.add_subcommand(
      "sick",
      "Ask the running service for resources whose operations keep failing, or that never reach a final state (listen.admin)");
  CLI::App* unlock_command = app.add_subcommand(
      "unlock", "Let others go on with a resource although the operation that holds it was not seen to end (listen.admin)");
  add_resource(*unlock_command, asked, "Its id, as armgate status shows it: /subscriptions/...")->required();
  CLI::App* ca_command = app.add_subcommand("ca", "The local certificate authority");
  ca_command->require_subcommand(1);
  CLI::App* init_command = ca_command->add_subcommand("init", "Make it, and print the certificate that tools must trust");
  CLI::App* path_command = ca_command->add_subcommand("path", "Print the path of the certificate that tools must trust");
  CLI::App* show_command =
      ca_command->add_subcommand("show", "Show it: fingerprint, validity, hosts, key, and whether the system trusts it");
  CLI::App* trust_command = ca_command->add_subcommand("trust", "Have this system's programs trust it (as root)");
  CLI::App* untrust_command = ca_command->add_subcommand("untrust", "Have them trust it no more (as root)");

  CLI::App* migrate_command = app.add_subcommand(
      "migrate", "Give configuration and rule files of the version before the names of this one: armgate migrate FILE...");
  migrate_command->add_option("files", asked.files, "The files; comments and everything but the names stay")
      ->required()
      ->type_name(kFile);
  migrate_command->add_flag("--dry-run", asked.dry_run, "Only say what would be renamed");

  const auto heal_commands = declare_heal(app, asked);
  const auto types_commands = declare_types(app, asked);
  CLI::App* types_command = types_commands.back().first;
  const auto cluster_commands = declare_cluster(app, asked);

  // An unset variable in a script must not mean the defaults.
  const CLI::Validator named(
      [](const std::string& value) { return value.empty() ? std::string("it is empty") : std::string(); }, "");
  for (CLI::App* command : {run_command,     exec_command,   env_command,    check_command, doctor_command,
                            explain_command, status_command, queue_command,  top_command,   history_command,
                            blame_command,   sick_command,   unlock_command, types_command, heal_commands.front().first,
                            init_command,    path_command,   show_command,   trust_command, untrust_command}) {
    command
        ->add_option("--config", asked.config,
                     "Configuration file (" + context.default_config.string() + " if it exists, else the defaults)")
        ->check(named)
        ->type_name(kFile);
  }
  trust_command
      ->add_option("--fingerprint", asked.fingerprint,
                   "SHA-256 of the root that is meant, as `armgate ca show` tells it, whoever may write to its directory")
      ->check(named)
      ->type_name("SHA256");
  for (const auto& [command, what] : cluster_commands) {
    command->add_option("--config", asked.config, "Configuration file, which names the engine and the key file")
        ->check(named)
        ->type_name(kFile);
  }
  for (CLI::App* command : {check_command, doctor_command, explain_command, status_command, queue_command, top_command,
                            history_command, blame_command, sick_command, unlock_command, types_command, show_command,
                            heal_commands.front().first, heal_commands.back().first, cluster_commands.back().first}) {
    command->add_option("--output", asked.output, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
  }
  for (CLI::App* command : {run_command, exec_command}) {
    command->add_option("--mode", asked.mode, "In place of the configured mode")->type_name("TEXT:{protect,observe,off}");
  }
  run_command->add_option("--listen", asked.listen, "host:port, in place of the configured listen.proxy")->check(named);
  exec_command->add_option("--name", asked.name, "The client's name (default: the command's)")->check(named);
  exec_command
      ->add_option("--actor", asked.actor,
                   "unknown (default); single: one process that builds each write on what it read last; or many")
      ->check(CLI::IsMember({"unknown", "single", "many"}));
  exec_command->add_option("--log", asked.log_file, "Write armgate's log to this file")->type_name(kFile);
  exec_command->footer(
      "Its exit code is the command's; 128 plus the signal that killed it; 127 or 126 if it cannot be found or "
      "run; 125 if armgate could not start.");
  env_command->add_option("--name", asked.name, "The client's name (default: one for each shell)")->check(named);
  env_command->add_option("--shell", asked.shell, "sh (also bash and zsh), fish, powershell (pwsh) or json")
      ->check(CLI::IsMember({"sh", "bash", "zsh", "fish", "powershell", "pwsh", "json"}))
      ->capture_default_str();
  for (CLI::App* command : {init_command, path_command, show_command, trust_command, untrust_command}) {
    command->add_option("--directory", asked.ca_directory, "Where it is kept, in place of the configured ca.directory")
        ->type_name(kDirectory);
  }
  init_command->add_flag("--force", asked.force, "Replace the one that is there; tools must then trust the new one");
  untrust_command->add_flag("--all", asked.all, "Every authority's root, also of those that were replaced");
  std::vector<std::pair<CLI::App*, Command>> all{
      {run_command, commands::run},         {exec_command, commands::exec},      {env_command, commands::env},
      {check_command, commands::check},     {doctor_command, commands::doctor},  {explain_command, commands::explain},
      {status_command, commands::status},   {queue_command, commands::queue},    {top_command, commands::top},
      {history_command, commands::history}, {blame_command, commands::blame},    {sick_command, commands::sick},
      {unlock_command, commands::unlock},   {init_command, commands::ca_init},   {path_command, commands::ca_path},
      {show_command, commands::ca_show},    {trust_command, commands::ca_trust}, {untrust_command, commands::ca_untrust},
      {migrate_command, commands::migrate}};
  all.insert(all.end(), types_commands.begin(), types_commands.end());
  all.insert(all.end(), heal_commands.begin(), heal_commands.end());
  all.insert(all.end(), cluster_commands.begin(), cluster_commands.end());
  return all;
}

int usage(const CliContext& context, std::string_view what) {
  fmt::print(context.err, "{}\nRun with --help for more information.\n", what);
  return kExitUsage;
}

int run_words(int argc, const char* const* argv, const CliContext& context) {
  CLI::App app{"armgate makes Azure Resource Manager traffic safe under concurrency.", "armgate"};
  app.footer("Exit codes: 0 done, 1 bad input or configuration, 2 wrong command line, 3 failed while running.");
  Asked asked;
  app.set_version_flag("--version", "armgate " ARMGATE_VERSION);
  bool print_defaults_asked = false;
  app.add_flag("--print-defaults", print_defaults_asked, "Print a commented configuration with every option's default");
  std::string schema_asked;
  app.add_option("--print-schema", schema_asked,
                 "Print the JSON Schema of the configuration (config) or of rule files (rules), for editors")
      ->check(CLI::IsMember({"config", "rules"}));
  std::string man_directory;
  app.add_option("--write-man", man_directory, "Write a man page for each command into this directory")->type_name(kDirectory);
  app.require_subcommand(0, 1);
  const auto commands = declare(app, asked, context);
  const CLI::App* const completion_command = declare_completion(app, asked);

  // What stands behind "--" is another program's command line, not a word of which is ours to read.
  const char* const* own_end = std::find(argv, argv + argc, std::string_view("--"));
  const bool has_words = own_end != argv + argc;
  if (has_words) asked.words.assign(own_end + 1, argv + argc);
  try {
    app.parse(static_cast<int>(own_end - argv), argv);
  } catch (const CLI::ExtrasError&) {
    return usage(context, "armgate: " + explain_surplus(app));
  } catch (const CLI::RequiredError& error) {
    // What is missing may be there, but misspelt: "ca bogus".
    if (!app.remaining(true).empty()) return usage(context, "armgate: " + explain_surplus(app));
    app.exit(error, context.out, context.err);
    return kExitUsage;
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
  if (const auto faults = commands::faults_of_flags(asked); !faults.empty()) {
    for (const rules::Fault& fault : faults) fmt::print(context.err, "{}\n", rules::to_text(fault));
    return usage(context, "armgate: wrong command line");
  }
  for (const auto& [command, act] : commands) {
    if (*command) return act(asked, context);
  }
  if (*completion_command) {
    context.out << completion_of(help_of(app), asked.completed_shell);
    return kExitDone;
  }
  if (!man_directory.empty()) {
    const auto written = write_man_pages(help_of(app), ARMGATE_VERSION, man_directory);
    return written ? kExitDone : commands::fail(context, written.error());
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
