#include "cli/declare.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <string>
#include <string_view>

#include "rules/file/units.h"

namespace armgate {
namespace {

using commands::Asked;

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

// CLI::Range alone takes "nan", which is neither below nor above.
CLI::Validator number_in(double least, double most) {
  const CLI::Range range(least, most);
  const auto fault_of = [range](const std::string& text) {
    double number = 0;
    const bool is_nan = CLI::detail::lexical_cast(text, number) && std::isnan(number);
    return is_nan ? "Value " + text + " is no number" : range(text);
  };
  return {fault_of, range.get_description()};
}

// "5s", as the configuration has durations, in seconds; other texts as they are.
std::string in_plain_seconds(const std::string& text) {
  const auto duration = rules::parse_duration(text);
  return duration ? fmt::format("{}", std::chrono::duration<double>(*duration).count()) : text;
}

// Adds flags and words to commands; those that several have, with the same meaning in each.
class Flags {
 public:
  Flags(Asked& asked, const CliContext& context) : asked_(asked), default_config_(context.default_config.string()) {}

  void config(CLI::App& command) const {
    config(command, "Configuration file (" + default_config_ + " if it exists, else the defaults)");
  }
  void engine_config(CLI::App& command) const {
    config(command, "Configuration file, which names the engine and the key file");
  }
  void output(CLI::App& command) const {
    command.add_option("--output", asked_.output, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
  }
  void mode(CLI::App& command) const {
    command.add_option("--mode", asked_.mode, "In place of the configured mode")->type_name("TEXT:{protect,observe,off}");
  }
  void authority_directory(CLI::App& command) const {
    path(command, "--directory", asked_.ca_directory, "Where it is kept, in place of the configured ca.directory", kDirectory);
  }
  CLI::Option* resource(CLI::App& command, const std::string& text) const {
    return command.add_option("resource", asked_.resource, text)->transform([](const std::string& given) {
      return id_in(given);
    });
  }
  CLI::Option* last(CLI::App& command, const std::string& text) const {
    return command.add_option("--last", asked_.last, text)->check(CLI::Range(1, 100'000))->capture_default_str();
  }

  // An unset variable in a script must not mean the default.
  static CLI::Validator given() {
    return {[](const std::string& value) { return value.empty() ? std::string("it is empty") : std::string(); }, ""};
  }
  // A flag that takes a file, or a directory; several of them into a vector.
  template <class Value>
  static CLI::Option* path(CLI::App& command, const std::string& name, Value& value, const std::string& text,
                           const char* kind = kFile) {
    return command.add_option(name, value, text)->check(given())->type_name(kind);
  }

 private:
  void config(CLI::App& command, const std::string& text) const { path(command, "--config", asked_.config, text); }

  Asked& asked_;
  std::string default_config_;
};

Commands declare_service(CLI::App& app, Asked& asked, const Flags& flags) {
  CLI::App* run = app.add_subcommand("run", "Run the service in the foreground");
  flags.config(*run);
  flags.mode(*run);
  run->add_option("--listen", asked.listen, "host:port, in place of the configured listen.proxy")->check(Flags::given());
  run->footer(
      "Exit codes: 0 it was told to stop; 1 bad configuration; 2 wrong command line; 3 it could not run, or broke down; "
      "75 a replica of a cluster that is to be started anew. Its log says why.");

  CLI::App* exec = app.add_subcommand("exec", "Run one command through a gateway of its own: armgate exec -- CMD ARGS");
  flags.config(*exec);
  flags.mode(*exec);
  exec->add_option("--name", asked.name, "The client's name (default: the command's)")->check(Flags::given());
  exec->add_option(
          "--actor", asked.actor,
          "unknown (default, unless the configuration says otherwise of that name); single: one process that builds each write on what it "
          "read last; or many")
      ->check(CLI::IsMember({"unknown", "single", "many"}));
  Flags::path(*exec, "--log", asked.log_file, "Write armgate's log to this file");
  exec->footer(
      "Its exit code is the command's; what a signal killed, it dies of likewise (to a shell, 128 plus the signal); 127 or 126 if it cannot be found or "
      "run; 125 if armgate could not start.");

  CLI::App* env = app.add_subcommand("env", "Print what leads a shell's commands through a running service");
  flags.config(*env);
  env->add_option("--name", asked.name, "The client's name (default: one for each shell)")->check(Flags::given());
  env->add_option("--shell", asked.shell, "sh (also bash and zsh), fish, powershell (pwsh) or json")
      ->check(CLI::IsMember({"sh", "bash", "zsh", "fish", "powershell", "pwsh", "json"}))
      ->capture_default_str();
  return {{run, commands::run}, {exec, commands::exec}, {env, commands::env}};
}

// What looks at the set-up, and needs no running service.
Commands declare_checks(CLI::App& app, const Flags& flags) {
  CLI::App* check = app.add_subcommand("check", "Check the configuration and its rule files, and do nothing else");
  CLI::App* doctor = app.add_subcommand(
      "doctor", "Look whether this shell's tools get through armgate to ARM, and say what to do if they do not");
  for (CLI::App* command : {check, doctor}) {
    flags.config(*command);
    flags.output(*command);
  }
  return {{check, commands::check}, {doctor, commands::doctor}};
}

Commands declare_explain(CLI::App& app, Asked& asked, const Flags& flags) {
  CLI::App* command = app.add_subcommand(
      "explain", "Say what would be done about a request, and why: armgate explain PUT https://management.azure.com/...");
  command->add_option("method", asked.method, "GET, PUT, PATCH, DELETE or POST")->required();
  command->add_option("url", asked.url, "The request's URL, or its path and query")->required();
  Flags::path(*command, "--body", asked.body_file, "A file with the request's body; -: standard input");
  Flags::path(
      *command, "--shown", asked.shown_files,
      "A file with an answer to a read of the resource that the client was shown before, or 404; again for each, oldest first")
      ->allow_extra_args(false);
  Flags::path(*command, "--there", asked.there_file,
              "A file with what is there now, or 404: says whether the write is sent, merged or refused, and at which members");
  command->add_option("--client", asked.client, "The user name in the proxy URL of who sends it");
  command->add_option("--user-agent", asked.user_agent, "Its User-Agent field, which decides how long it may wait");
  flags.config(*command);
  flags.output(*command);
  return {{command, commands::explain}};
}

// What asks the running service, or reads what it has written down.
Commands declare_questions(CLI::App& app, Asked& asked, const Flags& flags) {
  CLI::App* status = app.add_subcommand("status", "Ask the running service which writes run and which wait (listen.admin)");
  CLI::App* queue =
      app.add_subcommand("queue", "Ask the running service who waits, and for whom: armgate queue [RESOURCE] (listen.admin)");
  flags.resource(*queue, "Only where it is about this resource or what is below it: /subscriptions/...");
  CLI::App* top = app.add_subcommand(
      "top", "Look on, every second, at what the running service does and who waits for whom (listen.admin)");
  top->add_option("--interval", asked.interval, "Seconds between two looks")
      ->check(number_in(0.1, 3600.0))
      ->capture_default_str();
  top->add_option("--looks", asked.looks, "How often to look; 0: until it is ended")->capture_default_str();
  CLI::App* history = app.add_subcommand(
      "history",
      "Show the last writes and how they ended, also after the service's end (journal.file); without a journal those that the running service remembers");
  flags.last(*history, "How many");
  flags.resource(*history, "Only those to this resource and to what is below it: /subscriptions/...");
  CLI::App* blame = app.add_subcommand(
      "blame", "Say who wrote to a resource, with which tool, which members changed and how it ended: armgate blame RESOURCE");
  flags.last(*blame, "How many writes to look at");
  flags.resource(*blame, "Its id: /subscriptions/...")->required();
  CLI::App* sick = app.add_subcommand(
      "sick",
      "Ask the running service for resources whose operations keep failing, or that never reach a final state (listen.admin)");
  CLI::App* unlock = app.add_subcommand(
      "unlock", "Let others go on with a resource although the operation that holds it was not seen to end (listen.admin)");
  flags.resource(*unlock, "Its id, as armgate status shows it: /subscriptions/...")->required();

  Commands all{{status, commands::status}, {queue, commands::queue}, {top, commands::top},      {history, commands::history},
               {blame, commands::blame},   {sick, commands::sick},   {unlock, commands::unlock}};
  for (const auto& [command, act] : all) {
    flags.config(*command);
    flags.output(*command);
  }
  return all;
}

Commands declare_authority(CLI::App& app, Asked& asked, const Flags& flags) {
  CLI::App* authority = app.add_subcommand("ca", "The local certificate authority");
  authority->require_subcommand(1);
  CLI::App* init = authority->add_subcommand("init", "Make it, and print the certificate that tools must trust");
  CLI::App* path = authority->add_subcommand("path", "Print the path of the certificate that tools must trust");
  CLI::App* show =
      authority->add_subcommand("show", "Show it: fingerprint, validity, hosts, key, and whether the system trusts it");
  CLI::App* trust = authority->add_subcommand("trust", "Have this system's programs trust it (as root)");
  CLI::App* untrust = authority->add_subcommand("untrust", "Have them trust it no more (as root)");
  for (CLI::App* command : {init, path, show, trust, untrust}) {
    flags.config(*command);
    if (command == show) flags.output(*command);
    flags.authority_directory(*command);
  }
  init->add_flag("--force", asked.force, "Replace the one that is there; tools must then trust the new one");
  trust
      ->add_option("--fingerprint", asked.fingerprint,
                   "SHA-256 of the root that is meant, as `armgate ca show` tells it, whoever may write to its directory")
      ->check(Flags::given())
      ->type_name("SHA256");
  untrust->add_flag("--all", asked.all, "Every authority's root, also of those that were replaced");
  return {{init, commands::ca_init},
          {path, commands::ca_path},
          {show, commands::ca_show},
          {trust, commands::ca_trust},
          {untrust, commands::ca_untrust}};
}

Commands declare_migrate(CLI::App& app, Asked& asked) {
  CLI::App* command = app.add_subcommand(
      "migrate", "Give configuration and rule files of the version before the names of this one: armgate migrate FILE...");
  command->add_option("files", asked.files, "The files; comments and everything but the names stay")
      ->required()
      ->type_name(kFile);
  command->add_flag("--dry-run", asked.dry_run, "Only say what would be renamed");
  return {{command, commands::migrate}};
}

void add_what_to_repair(CLI::App* pool, Asked::Heal& heal) {
  pool->add_option("cluster", heal.cluster, "Its id: /subscriptions/...")->required();
  pool->add_option("--pool", heal.pool, "The pool")->capture_default_str();
  pool->add_flag("--confirm", heal.confirm, "Do it; or go on with the run that ended in the middle");
  pool->add_flag("--undo", heal.undo, "Take the temporary pool away again, as long as nothing was deleted")
      ->needs(pool->get_option("--confirm"));
  pool->add_flag("--skip-detection", heal.skip_detection,
                 "Do not ask whether it is wedged. Everything that keeps it from harm is asked all the same");
}

void add_bounds_of_repair(CLI::App* pool, Asked::Heal& heal) {
  pool->add_option("--threshold", heal.threshold, "So many failures in the activity log are a storm")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  pool->add_option("--window-min", heal.window_min, "If they lie within so many minutes")
      ->check(CLI::Range(1, 10'080))
      ->capture_default_str();
  pool->add_option("--deadline-min", heal.deadline_min, "Minutes for the whole run, up to the delete")
      ->check(CLI::Range(25, 1'440))
      ->capture_default_str();
  pool->add_option("--poll-s", heal.poll_s, "Seconds between two looks")->check(number_in(0.01, 300.0))->capture_default_str();
  pool->add_option("--settle-s", heal.settle_s, "Seconds to wait after the abort")
      ->check(number_in(0.0, 600.0))
      ->capture_default_str();
  pool->add_option("--stand-in-nodes", heal.stand_in_nodes, "Nodes of the temporary pool; 0: as many as the pool has")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
}

void add_nodes_of_repair(CLI::App* pool, Asked::Heal& heal) {
  Flags::path(*pool, "--kubeconfig", heal.kubeconfig,
              "Wait until the nodes are ready, as kubectl says with this file (default: only what ARM says of the pools)");
  pool->add_flag("--without-kubeconfig", heal.without_kubeconfig,
                 "Go on with a run that looked at nodes, without looking at them any more")
      ->excludes(pool->get_option("--kubeconfig"));
  pool->add_option("--nodes-min", heal.nodes_min, "Minutes for a pool's nodes to become ready, once ARM says that it is well")
      ->check(number_in(0.01, 1'440.0))
      ->needs(pool->get_option("--kubeconfig"))
      ->capture_default_str();
  pool->add_flag("--drain", heal.drain,
                 "Cordon and drain the nodes with kubectl before the delete (default: AKS does as it deletes)")
      ->needs(pool->get_option("--kubeconfig"));
  pool->add_option("--drain-min", heal.drain_min, "Minutes for all of the drain; pods that do not go in it go with their nodes")
      ->check(number_in(0.01, 1'440.0))
      ->needs(pool->get_option("--drain"))
      ->capture_default_str();
}

Commands declare_heal(CLI::App& app, Asked& asked, const Flags& flags) {
  Asked::Heal& heal = asked.heal;
  CLI::App* command =
      app.add_subcommand("heal", "Repair what is wedged, as a runbook says: armgate heal aks-system-pool CLUSTER_ID");
  command->add_flag("--list", heal.list, "Show earlier runs, and how far they came");
  Flags::path(*command, "--runs", heal.runs, "Where runs are written down, in place of ~/.local/state/armgate/heal",
              kDirectory);
  CLI::App* pool = command->add_subcommand(
      "aks-system-pool",
      "Make the system pool of an AKS cluster anew whose nodes cannot get their network. A dry run unless confirmed");
  add_what_to_repair(pool, heal);
  add_bounds_of_repair(pool, heal);
  add_nodes_of_repair(pool, heal);
  pool->add_option("--api-version", heal.api_version, "Of Microsoft.ContainerService (2025-10-01)");
  Flags::path(*pool, "--runs", heal.runs, "Where the run is written down, in place of ~/.local/state/armgate/heal", kDirectory);
  flags.config(*pool);
  for (CLI::App* one : {pool, command}) flags.output(*one);
  command->footer("Exit codes: 0 done; 1 bad input, such as no directory of runs; 2 wrong command line.");
  pool->footer(
      "Exit codes: 0 done, or nothing to do; 1 refused, stopped or interrupted, bad configuration, or a dry run that found a run that "
      "has not come to its end; 2 wrong command line; 3 the output could not be written to its end.");
  return {{pool, commands::heal_system_pool}, {command, commands::heal_list}};
}

Commands declare_types(CLI::App& app, Asked& asked, const Flags& flags) {
  CLI::App* command = app.add_subcommand(
      "types", "List the types that anything is known of, or say what is known of one, and from where: armgate types [TYPE]");
  command->add_option("type", asked.type, "Microsoft.Network/virtualNetworks, for example");
  flags.config(*command);
  flags.output(*command);
  CLI::App* import = command->add_subcommand(
      "import", "Draw facts about all types from a checkout of Azure/bicep-types-az into one file, which \"rules\" can name");
  import->add_option("directory", asked.checkout, "The checkout")->required()->type_name(kDirectory);
  Flags::path(*import, "--output", asked.output_file,
              "The file; what the import changes in it is told. Without one the facts go to standard output");
  return {{import, commands::types_import}, {command, commands::types}};
}

Commands declare_cluster(CLI::App& app, Asked& asked, const Flags& flags) {
  CLI::App* command = app.add_subcommand("cluster", "Several armgates that serve as one (cluster.engine)");
  command->require_subcommand(1);
  CLI::App* init = command->add_subcommand("init", "Make the tables that they share");
  init->add_option("--lease", asked.membership_lease, "Seconds after which a replica that says nothing is taken for dead")
      ->transform(in_plain_seconds)
      ->check(number_in(1.0, 300.0))
      ->capture_default_str();
  CLI::App* upgrade = command->add_subcommand("upgrade", "Bring tables of an earlier version to this one's");
  CLI::App* import = command->add_subcommand(
      "import",
      "Take over what a single armgate's journal has open, before the first replica starts: armgate cluster import JOURNAL");
  import->add_option("journal", asked.journal, "Its journal.file")->required()->type_name(kFile);
  CLI::App* status = command->add_subcommand("status", "Show the replicas, the log, and what is weaker than it could be");
  for (CLI::App* one : {init, upgrade, import, status}) flags.engine_config(*one);
  flags.output(*status);
  return {{init, commands::cluster_init},
          {upgrade, commands::cluster_upgrade},
          {import, commands::cluster_import},
          {status, commands::cluster_status}};
}

}  // namespace

Commands declare_commands(CLI::App& app, Asked& asked, const CliContext& context) {
  const Flags flags(asked, context);
  Commands all;
  const auto add = [&all](const Commands& some) { all.insert(all.end(), some.begin(), some.end()); };
  add(declare_service(app, asked, flags));
  add(declare_checks(app, flags));
  add(declare_explain(app, asked, flags));
  add(declare_questions(app, asked, flags));
  add(declare_authority(app, asked, flags));
  add(declare_migrate(app, asked));
  add(declare_heal(app, asked, flags));
  add(declare_types(app, asked, flags));
  add(declare_cluster(app, asked, flags));
  return all;
}

}  // namespace armgate
