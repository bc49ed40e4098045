// `armgate heal`: from the words of the command line to what is asked of the repair.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <chrono>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/ca/authority.h"
#include "cli/commands.h"
#include "cli/heal/link/command.h"
#include "cli/introduction.h"
#include "cli/load.h"
#include "proxy/config/option_table.h"

namespace armgate::commands {
namespace {

namespace fs = std::filesystem;

fs::path runs_of(const Asked& asked, const CliContext& context) {
  if (!asked.heal.runs.empty()) return asked.heal.runs;
  return state_directory(context.environment, context.surroundings.home) / "heal";
}

heal::PlanAs form_of(const Asked& asked) { return asked.output == "json" ? heal::PlanAs::Json : heal::PlanAs::Text; }

Duration seconds_of(double seconds) { return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)); }

heal::RunOptions options_of(const Asked::Heal& asked) {
  heal::RunOptions options;
  options.guards.threshold = asked.threshold;
  options.guards.window = std::chrono::minutes(asked.window_min);
  options.guards.skip_detection = asked.skip_detection;
  options.poll = seconds_of(asked.poll_s);
  options.settle = seconds_of(asked.settle_s);
  options.overall = std::chrono::minutes(asked.deadline_min);
  options.nodes = seconds_of(asked.nodes_min * 60);
  // The process that takes the run up may run in another directory.
  if (!asked.kubeconfig.empty()) options.access.kubeconfig = fs::absolute(asked.kubeconfig).lexically_normal();
  options.access.drains = asked.drain;
  options.access.drain = seconds_of(asked.drain_min * 60);
  options.stand_in_count = static_cast<int64_t>(asked.stand_in_nodes);
  return options;
}

// For a POSIX shell, where it is more than plain letters.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,=@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// What a person types to meet the same run.
std::string command_of(const Asked& asked) {
  std::string command = "armgate heal aks-system-pool " + quoted(asked.heal.cluster);
  if (asked.heal.pool != "system") command += " --pool " + quoted(asked.heal.pool);
  if (!asked.config.empty()) command += " --config " + quoted(asked.config);
  if (!asked.heal.runs.empty()) command += " --runs " + quoted(asked.heal.runs);
  return command;
}

void tell_program(const Asked& asked, const CliContext& context, std::string_view why) {
  if (form_of(asked) != heal::PlanAs::Json) return;
  heal::Target target;
  target.cluster = asked.heal.cluster;
  target.pool = asked.heal.pool;
  context.out << heal::refusal_json(target, asked.heal.confirm, context.wall, "", why);
}

int refuse(const Asked& asked, const CliContext& context, const Error& error) {
  tell_program(asked, context, error.context);
  return fail(context, error);
}

}  // namespace

int heal_system_pool(const Asked& asked, const CliContext& context) {
  const LoadedConfig loaded = load_with_flags(asked, context, RuleFiles::Leave);
  const Config* const config = &loaded.config;
  if (!tell_faults(loaded.faults, context)) {
    tell_program(asked, context, "the configuration has faults; standard error has them");
    return kExitBadInput;
  }
  auto target = heal::target_of(asked.heal.cluster, asked.heal.pool);
  if (!target) return refuse(asked, context, target.error());
  if (!asked.heal.api_version.empty()) target->api_version = asked.heal.api_version;
  if (asked.heal.confirm && config->listen.admin.empty()) {
    return refuse(asked, context,
                  gateway_error(ErrorKind::BadInput,
                                fmt::format("listen.admin is not set in {}: without it nobody keeps others from the cluster "
                                            "meanwhile, so nothing is begun; set it, to \"127.0.0.1:9478\" for instance",
                                            source_text(*config))));
  }
  const auto root = find_authority(*config, ca_init_command(*config));
  if (!root) return refuse(asked, context, root.error());
  const auto user = context.environment.find("USER");
  const heal::HealRequest request{.target = *std::move(target),
                                  .options = options_of(asked.heal),
                                  .names_api_version = !asked.heal.api_version.empty(),
                                  .confirm = asked.heal.confirm,
                                  .undo = asked.heal.undo,
                                  .without_kubeconfig = asked.heal.without_kubeconfig,
                                  .form = form_of(asked),
                                  .runs = runs_of(asked, context),
                                  .root = *root,
                                  .who = user == context.environment.end() ? "somebody" : name_of_program(user->second),
                                  .command = command_of(asked),
                                  .environment = context.environment};
  return context.heal(*config, request, context.out, context.err);
}

int heal_list(const Asked& asked, const CliContext& context) {
  if (!asked.heal.list) {
    fmt::print(context.err, "armgate: say what to repair: armgate heal aks-system-pool CLUSTER_ID; or --list\n");
    return kExitUsage;
  }
  const fs::path runs = runs_of(asked, context);
  std::error_code error;
  const bool is_named = !asked.heal.runs.empty();
  if (fs::exists(runs, error) ? !fs::is_directory(runs, error) : is_named) {
    return fail(context,
                gateway_error(ErrorKind::BadInput, fmt::format("{} is {}, so it has no runs", runs.string(),
                                                               fs::exists(runs, error) ? "no directory" : "not there")));
  }
  context.out << heal::runs_text(heal::find_runs(runs), form_of(asked));
  return kExitDone;
}

}  // namespace armgate::commands
