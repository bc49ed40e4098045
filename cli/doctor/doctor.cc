#include "cli/doctor/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <locale>
#include <optional>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "certs/authority_facts.h"
#include "certs/secret_file.h"
#include "cli/link/arm_host.h"
#include "cli/view/answer.h"
#include "json/tree.h"
#include "proxy/config/proxy_url.h"
#include "proxy/gateway/listeners.h"

namespace armgate {
namespace {

constexpr auto kSkewNoticed = std::chrono::seconds(30);
constexpr auto kSkewMax = std::chrono::minutes(5);  // beyond it tokens are not valid yet, or not any more (learn.microsoft.com)
constexpr int64_t kMillisecondsPerSecond = 1000;

std::string value_of(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

std::string run_command(const Config& config) {
  return config.source.empty() ? "armgate run" : "armgate run --config " + config.source;
}

// Whether a file of certificates would have a tool trust nothing but armgate.
bool has_roots_alone(const std::string& file) {
  const auto text = file.empty() ? Result<std::string>(std::string()) : certs::read_file(file);
  if (!text) return false;
  const auto found = certs::facts_in(*text);
  return !found.empty() && std::all_of(found.begin(), found.end(), [](const auto& one) { return one.is_armgate_root; });
}

// Of an answer's Date field (RFC 9110 §5.6.7, IMF-fixdate).
std::optional<WallTime> time_of(const std::string& date) {
  std::tm parts{};
  std::istringstream text(date);
  text.imbue(std::locale::classic());
  text >> std::get_time(&parts, "%a, %d %b %Y %H:%M:%S GMT");
  if (text.fail()) return std::nullopt;
  const auto day = std::chrono::year(parts.tm_year + 1900) / (parts.tm_mon + 1) / parts.tm_mday;
  return WallTime(std::chrono::sys_days(day) + std::chrono::hours(parts.tm_hour) + std::chrono::minutes(parts.tm_min) +
                  std::chrono::seconds(parts.tm_sec));
}

class Examination {
 public:
  Examination(const Config& config, const DoctorWorld& world) : config_(config), world_(world), host_(arm_host(config)) {}

  std::vector<Finding> run() && {
    look_at_authority();
    look_at_environment();
    look_at_service();
    look_at_arm();
    look_at_runtimes();
    return std::move(findings_);
  }

 private:
  void report(std::string check, Health health, std::string text, std::string remedy = {}) {
    findings_.push_back({std::move(check), health, std::move(text), std::move(remedy)});
  }
  void skip(std::string check, std::string why) { report(std::move(check), Health::Skipped, std::move(why)); }

  void look_at_authority() {
    const auto directory = std::filesystem::path(config_.ca.directory);
    const auto facts = certs::look_at_authority(directory, config_.intercept, world_.now, ca_init_command(config_));
    if (!facts.fault.empty()) {
      return report("authority", Health::Failed, facts.fault, "or name the configuration of the service with --config");
    }
    root_ = certs::files_in(directory).root;
    for (const auto& [text, remedy] : facts.warnings) report("authority", Health::Warning, text, remedy);
    if (!facts.warnings.empty()) return;
    const auto left = facts.intermediate ? facts.intermediate->until - world_.now : Duration::max();
    const auto days = std::chrono::floor<std::chrono::days>(left).count();
    report("authority", Health::Good, fmt::format("{}, valid for {} more days", root_->string(), days));
  }

  // Where the variables lead; the service's own listener if they lead nowhere.
  void look_at_environment() {
    const Environment& environment = world_.environment;
    std::string name = "https_proxy";
    if (value_of(environment, name).empty()) name = "HTTPS_PROXY";
    const std::string url = value_of(environment, name);
    const std::string remedy = fmt::format("`{}` in this shell, or `armgate exec -- COMMAND`", env_command(config_));
    if (url.empty())
      return report("environment", Health::Failed, "HTTPS_PROXY is not set: this shell's tools go around armgate", remedy);
    constexpr std::string_view kOverTls = "https://";
    if (starts_with_ignoring_case(url, kOverTls)) {
      return report(
          "environment", Health::Failed,
          fmt::format("{} begins with https://, by which tools speak TLS to the proxy itself; armgate's speaks none", name),
          fmt::format("write http://{} there: what goes through it is encrypted all the same", url.substr(kOverTls.size())));
    }
    const auto location = parse_proxy_url(url);
    if (!location) return report("environment", Health::Failed, fmt::format("{} {}", name, location.error().context), remedy);
    const std::string upper = value_of(environment, "HTTPS_PROXY");
    if (!upper.empty() && upper != url) {
      return report("environment", Health::Failed,
                    "https_proxy and HTTPS_PROXY differ: some tools look at one, some at the other", remedy);
    }
    for (const char* variable : {"no_proxy", "NO_PROXY"}) {
      const auto around = entry_around(value_of(environment, variable), config_.intercept);
      if (!around) continue;
      return report(
          "environment", Health::Failed,
          fmt::format("NO_PROXY takes {} out (its entry \"{}\"): tools go around armgate", around->host, around->entry),
          "take it out of NO_PROXY and no_proxy");
    }
    proxy_ = *location;
    for (const char* variable : kReplacingVariables) {
      const std::string file = value_of(environment, variable);
      if (!has_roots_alone(file)) continue;
      return report(
          "environment", Health::Warning,
          fmt::format("{} names {}, which holds armgate's root alone: tools distrust all other hosts then, such as that "
                      "of the login",
                      variable, file),
          fmt::format("{}: its file holds the system's certificates, too", remedy));
    }
    if (location->user.empty()) {
      return report("environment", Health::Warning,
                    fmt::format("{} leads to {} without a user name: all tools without one are taken for the same client", name,
                                location->address()),
                    fmt::format("give each tool a name: {}", proxy_url("NAME", location->address())));
    }
    report("environment", Health::Good,
           fmt::format("{} leads to {}, as client \"{}\"", name, location->address(), location->user));
  }

  std::string listener() const { return proxy_ ? proxy_->place() : reachable(config_.listen.proxy); }

  void look_at_service() {
    if (!world_.somebody_listens(listener())) {
      listener_answers_ = false;
      return report("proxy", Health::Failed, fmt::format("nobody takes connections at {}", listener()),
                    fmt::format("`{}`; of a package: `systemctl status armgate`", run_command(config_)));
    }
    report("proxy", Health::Good, fmt::format("{} takes connections", listener()));
    if (listener() != reachable(config_.listen.proxy)) {
      return skip("service", fmt::format("{} is not where this configuration listens ({})", listener(), config_.listen.proxy));
    }
    if (config_.listen.admin.empty()) return skip("service", "listen.admin is not set, so the service says nothing of itself");
    const auto json = world_.status(config_);
    const auto status = json ? read_status(*json) : Result<ShownStatus>(json.error());
    if (!status) return report("service", Health::Failed, status.error().context, fmt::format("`{}`", run_command(config_)));
    if (!status->journal_writable) {
      return report("service", Health::Failed, "the journal cannot be written, so no write is sent",
                    "make room on its disk; the log says why (`attention`)");
    }
    if (status->cluster && !status->cluster->engine_up) {
      return report("service", Health::Failed,
                    "the cluster's engine does not answer, so nothing can be recorded and no write is sent",
                    "`armgate cluster status`, as the service's user; its log says why (`attention`)");
    }
    const std::string what = fmt::format("armgate {}, mode {}, {} rules", status->version, status->mode, status->rules);
    if (status->draining)
      return report("service", Health::Warning, what + "; it ends and takes no new connections", "start it anew");
    if (status->mode != "protect")
      return report("service", Health::Warning, what + ": writes are not protected", "set \"mode\": \"protect\", send SIGHUP");
    if (status->rules == 0)
      return report("service", Health::Warning, what + ": nothing is protected", "name rule files (`rules`), send SIGHUP");
    report("service", Health::Good, what);
  }

  void look_at_arm() {
    if (!listener_answers_ || !root_) {
      for (const char* check : {"certificate", "ARM", "clock"}) skip(check, "not looked at, because of what failed above");
      return;
    }
    const auto [address, port] = split_address(listener());
    std::string credentials;
    if (proxy_ && !proxy_->user.empty()) credentials = proxy_->user + ":" + proxy_->password;
    const auto answer = world_.ask({{address, port, credentials, *root_, "armgate-doctor"}, host_});
    if (!answer) return tell_failed_question(answer.error());
    report("certificate", Health::Good, fmt::format("{} signs for {} with this authority", listener(), host_));
    if (answer->code.starts_with("Armgate")) {
      report("ARM", Health::Failed, fmt::format("armgate does not reach {}: {}", host_, answer->message), parent_remedy());
    } else {
      report("ARM", answer->status >= 500 ? Health::Warning : Health::Good,
             fmt::format("{} answers ({}){}", host_, answer->status, through_parent()),
             answer->status >= 500 ? "see status.azure.com" : "");
    }
    look_at_clock(answer->code.starts_with("Armgate") ? "" : answer->date);
  }

  void tell_failed_question(const Error& error) {
    if (error.kind == ErrorKind::Untrusted) {
      report("certificate", Health::Failed,
             fmt::format("whoever listens at {} does not sign for {} with the authority in {}", listener(), host_,
                         config_.ca.directory),
             "name the service's own configuration with --config, or start the service anew if the authority was replaced");
    } else {
      report("certificate", Health::Failed, error.context,
             fmt::format("see whether {} is armgate's proxy (listen.proxy), and its log", listener()));
    }
    for (const char* check : {"ARM", "clock"}) skip(check, "not looked at, because of what failed above");
  }

  std::string through_parent() const {
    const std::string& parent = config_.upstream.proxy;
    return parent.empty() || parent == kDirect ? "" : fmt::format(", through the proxy of upstream.proxy");
  }

  std::string parent_remedy() const {
    return config_.upstream.proxy.empty()
               ? "see whether the machine of the service reaches it; behind a company's proxy set upstream.proxy"
               : "see upstream.proxy, upstream.proxy_password_file and upstream.proxy_ca_file, and whether that proxy lets this host through";
  }

  void look_at_clock(const std::string& date) {
    const auto theirs = time_of(date);
    if (!theirs) return skip("clock", "ARM's answer has no date to compare it with");
    const auto apart = std::chrono::abs(world_.now - *theirs);
    const int64_t seconds = whole_milliseconds(std::chrono::duration_cast<Duration>(apart)) / kMillisecondsPerSecond;
    const std::string text = fmt::format("{} s {} ARM's", seconds, world_.now < *theirs ? "behind" : "ahead of");
    const std::string remedy = "set it, or have NTP set it: tokens and certificates are judged by it";
    if (apart > kSkewMax) return report("clock", Health::Failed, text, remedy);
    if (apart > kSkewNoticed) return report("clock", Health::Warning, text, remedy);
    report("clock", Health::Good, seconds <= 1 ? "the same as ARM's" : text);
  }

  void look_at_runtimes() {
    for (const Runtime& runtime : runtimes()) {
      if (!proxy_ || !listener_answers_) {
        skip(runtime.name, "not looked at, because of what failed above");
        continue;
      }
      look_at_runtime(runtime, world_.try_runtime(runtime, {host_, proxy_->place(), world_.environment}));
    }
  }

  void look_at_runtime(const Runtime& runtime, const RuntimeVerdict& verdict) {
    using Kind = RuntimeVerdict::Kind;
    const std::string is_java = runtime.name == "java" ? "yes" : "";
    switch (verdict.kind) {
      case Kind::Missing: return skip(runtime.name, "not installed");
      case Kind::CannotTry: return skip(runtime.name, verdict.text);
      case Kind::Trusts: return report(runtime.name, Health::Good, fmt::format("trusts it: {}", runtime.serves));
      case Kind::Around:
        return report(runtime.name, Health::Failed,
                      fmt::format("reaches {} around armgate: its certificate is by \"{}\"", host_, verdict.text),
                      "see its own settings of proxies (a .curlrc, for instance), and NO_PROXY");
      case Kind::Distrusts:
        return report(runtime.name, Health::Failed, fmt::format("does not trust the certificate: {}", verdict.text),
                      trust_remedy(runtime));
      case Kind::Fails:
        return report(runtime.name, Health::Failed, verdict.text,
                      "see whether a certificate file that the environment names is missing or empty");
      case Kind::TrustsInPart:
        return report(runtime.name, Health::Warning, verdict.text,
                      "Node 24 or later, or 22 from 22.21 on, with NODE_USE_ENV_PROXY=1 (which `armgate env` sets)");
      case Kind::NotThrough:
        return report(runtime.name, Health::Warning, fmt::format("goes around armgate: {}", verdict.text), java_remedy());
    }
  }

  std::string trust_remedy(const Runtime& runtime) const {
    if (runtime.name == "java") return java_remedy();
    return fmt::format("`{}` sets {}; or `sudo armgate ca trust --directory {}` for all that look at the system's store",
                       env_command(config_), runtime.variable,
                       config_.ca.directory);  // under sudo the home directory is another
  }

  std::string java_remedy() const {
    const auto [address, port] = split_address(listener());
    return fmt::format(
        "JAVA_TOOL_OPTIONS=\"-Dhttps.proxyHost={} -Dhttps.proxyPort={}\", and `keytool -importcert -cacerts -file {}`", address,
        port, root_ ? root_->string() : "ca.pem");
  }

  const Config& config_;
  const DoctorWorld& world_;
  const std::string host_;
  std::optional<std::filesystem::path> root_;
  std::optional<ProxyLocation> proxy_;  // to which the environment leads
  bool listener_answers_ = true;
  std::vector<Finding> findings_;
};

std::string_view word_of(Health health) {
  switch (health) {
    case Health::Good: return "good";
    case Health::Warning: return "warning";
    case Health::Failed: return "FAILED";
    case Health::Skipped: return "skipped";
  }
  return "FAILED";
}

size_t count_of(const std::vector<Finding>& findings, Health health) {
  return static_cast<size_t>(
      std::count_if(findings.begin(), findings.end(), [health](const Finding& finding) { return finding.health == health; }));
}

}  // namespace

std::vector<Finding> examine(const Config& config, const DoctorWorld& world) { return Examination(config, world).run(); }

bool is_well(const std::vector<Finding>& findings) { return count_of(findings, Health::Failed) == 0; }

std::string findings_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<8} {:<12} {}\n", word_of(finding.health), finding.check, printable(finding.text));
    if (!finding.remedy.empty()) text += fmt::format("{:<21} -> {}\n", "", finding.remedy);
  }
  return text + fmt::format("{} good, {} to look at, {} failed\n", count_of(findings, Health::Good),
                            count_of(findings, Health::Warning), count_of(findings, Health::Failed));
}

std::string findings_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    nlohmann::ordered_json one{
        {"check", finding.check}, {"state", lower_text(word_of(finding.health))}, {"text", finding.text}};
    if (!finding.remedy.empty()) one["remedy"] = finding.remedy;
    all.push_back(std::move(one));
  }
  const nlohmann::ordered_json json{{"well", is_well(findings)}, {"findings", std::move(all)}};
  return dump_json(json, 2) + "\n";
}

}  // namespace armgate
