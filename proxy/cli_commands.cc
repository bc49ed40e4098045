#include "proxy/cli_commands.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "arm/resource_id.h"
#include "certs/secret_file.h"
#include "proxy/cli_authority.h"
#include "proxy/cli_ca_show.h"
#include "proxy/cli_check.h"
#include "proxy/cli_explain.h"
#include "proxy/cli_history.h"
#include "proxy/cli_status.h"
#include "proxy/cli_top.h"
#include "proxy/cli_trust.h"
#include "proxy/gateway_parent.h"
#include "proxy/gateway_status.h"
#include "proxy/option_table.h"
#include "rules/overlap.h"

namespace armgate::commands {
namespace {

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
  if (auto fault = fault_of_proxy(loaded.config, context.environment); !fault.empty()) {
    loaded.faults.push_back({source_text(loaded.config), 0, "/upstream/proxy", std::move(fault)});
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

int fail(const CliContext& context, const Error& error) {
  fmt::print(context.err, "armgate: {}\n", error.context);
  return error.kind == ErrorKind::BadInput || error.kind == ErrorKind::TooLarge ? kExitBadInput : kExitRuntime;
}

// What makes the authority that is asked for.
std::string init_command_of(const Asked& asked, const Config& config) {
  return ca_init_command(config) + (asked.ca_directory.empty() ? "" : " --directory " + config.ca.directory);
}

// The directory of an authority whose root is there.
Result<std::filesystem::path> find_directory(const Asked& asked, const Config& config, const CliContext& context) {
  auto root = find_authority(config, init_command_of(asked, config));
  if (root) return root->parent_path();
  if (asked.ca_directory.empty() && asked.config.empty() && context.environment.contains("SUDO_USER")) {
    return gateway_error(
        ErrorKind::BadInput,
        fmt::format("{} is not there; under sudo the home directory is another: name the authority's directory "
                    "with --directory",
                    certs::files_in(config.ca.directory).root.string()));
  }
  return std::move(root).error();
}

int tell(const CliContext& context, const Result<std::string>& done) {
  if (!done) return fail(context, done.error());
  fmt::print(context.out, "armgate: {}", *done);
  return kExitDone;
}

// Prints what the running service answered, which `read` reads.
template <class Shown>
int print_answer(const Asked& asked, const CliContext& context, const Result<std::string>& json,
                 Result<Shown> (*read)(std::string_view), std::string (*into_text)(const Shown&)) {
  if (!json) return fail(context, json.error());
  const auto shown = read(*json);
  if (!shown) return fail(context, shown.error());
  context.out << (asked.output == "json" ? *json : into_text(*shown));
  return kExitDone;
}

Error no_resource_id(std::string_view text) {
  return gateway_error(ErrorKind::BadInput, fmt::format("\"{}\" is no resource id (/subscriptions/...)", text));
}

// As shells complete paths, and portals copy them.
std::string_view without_slashes_at_end(std::string_view text) {
  while (text.ends_with('/')) text.remove_suffix(1);
  return text;
}

Result<ShownStatus> look(const Config& config) {
  const auto json = fetch_status(config);
  if (!json) return json.error();
  return read_status(*json);
}

// What was asked of exec that a gateway which runs already cannot do.
std::vector<std::string_view> flags_of_own_gateway(const Asked& asked) {
  std::vector<std::string_view> given;
  if (!asked.config.empty()) given.push_back("--config");
  if (!asked.mode.empty()) given.push_back("--mode");
  if (!asked.log_file.empty()) given.push_back("--log");
  if (!asked.actor.empty()) given.push_back("--actor");
  return given;
}

}  // namespace

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

int check(const Asked& asked, const CliContext& context) {
  auto config = load_asked(asked, context, RuleFiles::Load);
  if (!config) return kExitBadInput;
  context.err << adopt_environment_proxy(*config, context.environment);
  const FileFindings files = look_at_files(*config, context.wall);
  for (const rules::Fault& notice : files.notices) fmt::print(context.err, "{}\n", rules::to_text(notice));
  if (!tell_faults(files.faults, context)) return kExitBadInput;
  auto warnings = warnings_about_options(*config);
  std::ranges::move(rules::warnings_about(config->rules), std::back_inserter(warnings));
  for (rules::Fault warning : warnings) {
    warning.message.insert(0, "warning: ");
    fmt::print(context.err, "{}\n", rules::to_text(warning));
  }
  fmt::print(context.out, "armgate: {}: good; mode {}, proxy on {}, {} rules", source_text(*config),
             rules::to_text(config->mode), config->listen.proxy, config->rules.size());
  if (!warnings.empty()) fmt::print(context.out, ", {} warning{}", warnings.size(), warnings.size() == 1 ? "" : "s");
  fmt::print(context.out, "\n");
  return kExitDone;
}

int run(const Asked& asked, const CliContext& context) {
  auto config = load_asked(asked, context, RuleFiles::Load);
  if (!config) return kExitBadInput;
  fmt::print(context.err, "armgate: configuration from {}\n", source_text(*config));
  context.err << adopt_environment_proxy(*config, context.environment);
  return context.run(*config, [asked, &context] { return load_with_flags(asked, context, RuleFiles::Load); });
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
  const auto root = find_authority(*config, init_command_of(asked, *config));
  if (!root) return fail(context, root.error());
  fmt::print(context.out, "{}\n", root->string());
  return kExitDone;
}

int ca_show(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  const auto form = asked.output == "json" ? ShowAs::Json : ShowAs::Text;
  const auto shown = show_authority(context.trust, config->ca.directory, config->intercept, context.wall,
                                    init_command_of(asked, *config), form);
  context.out << shown.text;
  if (shown.fault.empty()) return kExitDone;
  return fail(context, gateway_error(ErrorKind::BadInput, shown.fault));
}

int ca_trust(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  const auto directory = find_directory(asked, *config, context);
  if (!directory) return fail(context, directory.error());
  return tell(context, trust_authority(context.trust, *directory, context.wall));
}

int ca_untrust(const Asked& asked, const CliContext& context) {
  if (asked.all) return tell(context, untrust_all(context.trust));
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  const auto directory = find_directory(asked, *config, context);
  if (!directory) return fail(context, directory.error());
  return tell(context, untrust_authority(context.trust, *directory));
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

int status(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  return print_answer(asked, context, fetch_status(*config), read_status, status_text);
}

int queue(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  const auto named = arm::parse_resource_id(asked.resource);
  if (!asked.resource.empty() && !named) {
    return fail(context, no_resource_id(asked.resource));
  }
  const auto status = look(*config);
  if (!status) return fail(context, status.error());
  const std::string id = named ? named->id : "";
  context.out << (asked.output == "json" ? queue_json(*status, id) : queue_text(*status, id));
  return kExitDone;
}

// A service that does not answer is asked again, as long as it answered once: it may be on its way back.
int top(const Asked& asked, const CliContext& context) {
  constexpr std::string_view kHomeAndClear = "\x1b[H\x1b[2J";
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  const auto interval = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(asked.interval));
  std::optional<ShownStatus> before;
  for (size_t looks = 1; context.out; ++looks) {
    const auto terminal = context.terminal();
    const auto now = look(*config);
    if (!now && looks == 1) return fail(context, now.error());
    if (terminal) context.out << kHomeAndClear;
    if (!terminal && looks > 1) context.out << "\n";
    context.out << (now ? top_screen(*now, before ? &*before : nullptr, terminal)
                        : fmt::format("armgate: {}\n", now.error().context));
    context.out.flush();
    if (looks == asked.looks) break;
    if (now) before = *now;
    context.pause(interval);
  }
  return kExitDone;
}

int unlock(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  const auto user = context.environment.find("USER");
  const std::string who = user == context.environment.end() ? "somebody" : name_of_program(user->second);
  return print_answer(asked, context, unlock_resource(*config, asked.resource, who), read_unlock, unlocked_text);
}

int history(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  if (!asked.resource.empty() && !arm::parse_resource_id(without_slashes_at_end(asked.resource))) {
    return fail(context, no_resource_id(asked.resource));
  }
  const auto form = asked.output == "json" ? HistoryAs::Json : HistoryAs::Text;
  const auto told = history_text(*config, asked.last, asked.resource, form);
  if (!told) return fail(context, told.error());
  context.out << *told;
  return kExitDone;
}

int exec(const Asked& asked, const CliContext& context) {
  ExecRequest request;
  request.words = asked.words;
  request.name = asked.name.empty() ? name_of_program(asked.words.front()) : asked.name;
  request.actor = *policy::actors_of(asked.actor.empty() ? "unknown" : asked.actor);
  request.log_file = asked.log_file;
  request.environment = context.environment;
  request.wall = context.wall;
  if (const std::string active = active_gateway(context.environment); !active.empty()) {
    const auto own = flags_of_own_gateway(asked);
    if (own.empty()) return context.exec_within(request, active);
    fmt::print(context.err,
               "armgate: {} cannot be had here: {} is set, so this environment uses the armgate at {}, with its own "
               "configuration and log; unset {} to start another; the command was not run\n",
               fmt::join(own, ", "), kActiveVariable, active, kActiveVariable);
    return kExitExecFailed;
  }
  auto config = load_asked(asked, context, RuleFiles::Load);
  if (!config) return kExitExecFailed;
  context.err << adopt_environment_proxy(*config, context.environment) << std::flush;
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
  const std::string proxy = reachable(config->listen.proxy);
  const auto variables = tool_variables({.proxy = proxy,
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
  if (!context.somebody_listens(proxy)) {
    fmt::print(context.err, "armgate: nobody answers at {} yet, and until then no HTTPS call of this shell works; start `{}`\n",
               proxy, config->source.empty() ? "armgate run" : "armgate run --config " + config->source);
  }
  context.out << to_commands(*variables, shell->second);
  return kExitDone;
}

}  // namespace armgate::commands
