#include "cli/commands.h"

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
#include "base/client_name.h"
#include "certs/secret_file.h"
#include "cli/ca/authority.h"
#include "cli/ca/ca_show.h"
#include "cli/ca/trust.h"
#include "cli/explain.h"
#include "cli/introduction.h"
#include "cli/load.h"
#include "cli/types.h"
#include "cli/view/ask_service.h"
#include "cli/view/history.h"
#include "cli/view/status.h"
#include "cli/view/top.h"
#include "json/document.h"
#include "proxy/config/option_table.h"
#include "proxy/gateway/parent.h"

namespace armgate::commands {
namespace {

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

int report(const CliContext& context, const Result<std::string>& done) {
  if (!done) return fail(context, done.error());
  fmt::print(context.out, "armgate: {}", *done);
  return kExitDone;
}

// Prints what the running service answered, which `read` reads.
template <class Shown>
int print_answer(const Asked& asked, const CliContext& context, const Result<std::string>& json,
                 Result<Shown> (*read)(std::string_view), std::string (*into_text)(const Shown&)) {
  if (!json) return fail_asked(asked, context, json.error());
  const auto shown = read(*json);
  if (!shown) return fail_asked(asked, context, shown.error());
  context.out << (asked.output == "json" ? *json : into_text(*shown));
  return kExitDone;
}

Error no_resource_id(std::string_view text) {
  return gateway_error(ErrorKind::BadInput, fmt::format("\"{}\" is no resource id (/subscriptions/...)", text));
}

Result<ShownStatus> ask_status(const Config& config) {
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
  // Only of a file it is sure that a service goes by it.
  if (!asked.ca_directory.empty() && !config->source.empty()) {
    Asked without = asked;
    without.ca_directory.clear();
    const std::string in_force = load_with_flags(without, context, RuleFiles::Leave).config.ca.directory;
    if (auto made = make_directory_like(config->ca.directory, in_force); !made) return fail(context, made.error());
  }
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
  return report(context, trust_authority(context.trust, {*directory, asked.fingerprint, config->intercept}, context.wall));
}

int ca_untrust(const Asked& asked, const CliContext& context) {
  if (asked.all) return report(context, untrust_all(context.trust));
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  const auto directory = find_directory(asked, *config, context);
  if (!directory) {
    return fail(context, gateway_error(directory.error().kind, directory.error().context +
                                                                   "; if the authority is gone for good, `armgate ca untrust "
                                                                   "--all` takes all of armgate's roots away"));
  }
  return report(context, untrust_authority(context.trust, *directory));
}

int explain(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Load);
  if (!config) return kExitBadInput;
  ExplainRequest request{asked.method, asked.url, std::nullopt, asked.client, asked.user_agent, {}, std::nullopt};
  const auto read_answer = [&](const std::string& file) -> Result<ShownAnswer> {
    if (file == "404") return ShownAnswer{file, {}, true};
    auto body = certs::read_stream(file, config->limits.request_body_bytes);
    if (!body) return body.error();
    return ShownAnswer{file, *std::move(body), false};
  };
  for (const std::string& file : asked.shown_files) {
    auto answer = read_answer(file);
    if (!answer) return fail_asked(asked, context, answer.error());
    request.shown.push_back(*std::move(answer));
  }
  if (!asked.there_file.empty()) {
    auto answer = read_answer(asked.there_file);
    if (!answer) return fail_asked(asked, context, answer.error());
    request.there = *std::move(answer);
  }
  if (!asked.body_file.empty()) {
    const std::string file = asked.body_file == "-" ? "/dev/stdin" : asked.body_file;
    auto body = certs::read_stream(file, config->limits.request_body_bytes);
    if (!body) return fail_asked(asked, context, body.error());
    if (!JsonDocument(*body).usable())
      fmt::print(context.err, "armgate: {} is no JSON that armgate reads: nothing in it counts\n", file);
    request.body = *std::move(body);
  }
  const auto form = asked.output == "json" ? ExplainAs::Json : ExplainAs::Text;
  const auto explained = explain_request(request, *config, form);
  if (!explained) return fail_asked(asked, context, explained.error());
  context.out << *explained;
  return kExitDone;
}

int types(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Load);
  if (!config) return kExitBadInput;
  const auto form = asked.output == "json" ? ExplainAs::Json : ExplainAs::Text;
  context.out << (asked.type.empty() ? types_text(*config, form) : type_text(*config, asked.type, form));
  return kExitDone;
}

int types_import(const Asked& asked, const CliContext& context) {
  const ReadTypes read = read_checkout(asked.checkout);
  if (!tell_faults(read.faults, context)) return kExitBadInput;
  if (asked.output_file.empty()) {
    context.out << rules::to_imported_text(read.types);
    return kExitDone;
  }
  const auto written = write_imported(asked.output_file, read);
  if (!written) return fail(context, written.error());
  context.out << *written;
  return kExitDone;
}

int status(const Asked& asked, const CliContext& context) {
  const auto config = load_to_look(asked, context, LooksAt::Service);
  if (!config) return kExitBadInput;
  return print_answer(asked, context, fetch_status(*config), read_status, status_text);
}

int queue(const Asked& asked, const CliContext& context) {
  const auto config = load_to_look(asked, context, LooksAt::Service);
  if (!config) return kExitBadInput;
  const auto named = arm::parse_resource_id(asked.resource);
  if (!asked.resource.empty() && !named) {
    return fail_asked(asked, context, no_resource_id(asked.resource));
  }
  const auto status = ask_status(*config);
  if (!status) return fail_asked(asked, context, status.error());
  const std::string id = named ? named->id : "";
  context.out << (asked.output == "json" ? queue_json(*status, id) : queue_text(*status, id));
  return kExitDone;
}

// A service that does not answer is asked again, as long as it answered once: it may be on its way back.
int top(const Asked& asked, const CliContext& context) {
  constexpr std::string_view kHomeAndClear = "\x1b[H\x1b[2J";
  const auto config = load_to_look(asked, context, LooksAt::Service);
  if (!config) return kExitBadInput;
  const auto interval = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(asked.interval));
  std::optional<ShownStatus> before;
  for (size_t looks = 1; context.out; ++looks) {
    const auto json = fetch_status(*config);
    const auto now = json ? read_status(*json) : Result<ShownStatus>(json.error());
    if (!now && looks == 1) return fail_asked(asked, context, now.error());
    if (asked.output == "json") {
      context.out << top_line(json);
    } else {
      const auto terminal = context.terminal();
      if (terminal) context.out << kHomeAndClear;
      if (!terminal && looks > 1) context.out << "\n";
      context.out << (now ? top_screen(*now, before ? &*before : nullptr, terminal)
                          : fmt::format("armgate: {}\n", now.error().context));
    }
    context.out.flush();
    if (looks == asked.looks) break;
    if (now) before = *now;
    context.pause(interval);
  }
  return kExitDone;
}

int unlock(const Asked& asked, const CliContext& context) {
  const auto config = load_to_look(asked, context, LooksAt::Service);
  if (!config) return kExitBadInput;
  const auto user = context.environment.find("USER");
  const std::string who = user == context.environment.end() ? "somebody" : name_of_program(user->second);
  return print_answer(asked, context, unlock_resource(*config, asked.resource, who), read_unlock, unlocked_text);
}

// What is known of the last writes.
static int tell_records(const Asked& asked, const CliContext& context,
                        Result<std::string> (*tell_of)(const Config&, size_t, std::string_view, HistoryAs)) {
  const auto config = load_to_look(asked, context, LooksAt::Records);
  if (!config) return kExitBadInput;
  if (!asked.resource.empty() && !arm::parse_resource_id(asked.resource)) {
    return fail_asked(asked, context, no_resource_id(asked.resource));
  }
  const auto told = tell_of(*config, asked.last, asked.resource, asked.output == "json" ? HistoryAs::Json : HistoryAs::Text);
  if (!told) return fail_asked(asked, context, told.error());
  context.out << *told;
  return kExitDone;
}

int history(const Asked& asked, const CliContext& context) { return tell_records(asked, context, history_text); }

int blame(const Asked& asked, const CliContext& context) {
  const bool names_nothing = asked.resource.find_first_not_of('/') == std::string::npos;  // "$UNSET", say
  if (names_nothing) return fail_asked(asked, context, no_resource_id(asked.resource));
  return tell_records(asked, context, blame_text);
}

int sick(const Asked& asked, const CliContext& context) {
  const auto config = load_to_look(asked, context, LooksAt::Service);
  if (!config) return kExitBadInput;
  const auto status = ask_status(*config);
  if (!status) return fail_asked(asked, context, status.error());
  context.out << (asked.output == "json" ? sick_json(*status) : sick_text(*status));
  return kExitDone;
}

int exec(const Asked& asked, const CliContext& context) {
  ExecRequest request;
  request.words = asked.words;
  request.name = asked.name.empty() ? name_of_program(asked.words.front()) : asked.name;
  request.actor = policy::parse_actors(asked.actor);
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
  context.err << adopt_environment_proxy(*config, context.environment)
              << introduction(context.environment, context.surroundings.home, config->mode) << std::flush;
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
  context.err << other_proxy_notice(context.environment) << notice_of_end(*config, *root, context.wall);
  if (!context.somebody_listens(proxy)) {
    fmt::print(context.err, "armgate: nobody answers at {} yet, and until then no HTTPS call of this shell works; start `{}`\n",
               proxy, config->source.empty() ? "armgate run" : "armgate run --config " + config->source);
  }
  context.out << to_commands(*variables, shell->second);
  return kExitDone;
}

}  // namespace armgate::commands
