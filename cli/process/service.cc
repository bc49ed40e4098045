#include "cli/process/service.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "certs/authority.h"
#include "certs/secret_file.h"
#include "cli/check.h"
#include "cli/context.h"
#include "proxy/config/option_table.h"
#include "proxy/config/tool_environment.h"
#include "proxy/gateway/descriptors.h"
#include "proxy/gateway/ending.h"
#include "proxy/gateway/gateway.h"
#include "proxy/seams/real_clock.h"

namespace armgate {
namespace {

// Waits for its signals again and again, on the gateway's first loop.
class Signals {
 public:
  Signals(Gateway& gateway, std::initializer_list<int> numbers, std::function<void()> act)
      : set_(gateway.io()), act_(std::move(act)) {
    for (const int number : numbers) set_.add(number);
    wait();
  }

 private:
  void wait() {
    set_.async_wait([this](const boost::system::error_code& failed, int) {
      if (failed) return;
      act_();
      wait();
    });
  }

  boost::asio::signal_set set_;
  const std::function<void()> act_;
};

// Reads the configuration anew beside the loops, for many rules take a while, in which no request should wait.
class Reloads {
 public:
  // `after`: once it was taken, or refused.
  Reloads(Gateway& gateway, LoadAgain load_again, std::function<void()> after)
      : gateway_(gateway), load_again_(std::move(load_again)), after_(std::move(after)) {}
  ~Reloads() {
    if (reader_.joinable()) reader_.join();
  }
  Reloads(const Reloads&) = delete;
  Reloads& operator=(const Reloads&) = delete;

  // On the first loop. While one is under way, the next begins after it: what it has read may be older than what is there now.
  void begin() {
    if (reader_.joinable()) {
      again_ = true;
      return;
    }
    try {
      reader_ = std::thread([this] {
        boost::asio::post(gateway_.io(), [this, loaded = read()]() mutable {
          reader_.join();
          finish(std::move(loaded));
        });
      });
    } catch (const std::system_error&) {  // no thread is to be had
      finish(read());
    }
  }

 private:
  LoadedConfig read() const {
    try {
      return load_again_();
    } catch (const std::exception& failure) {
      LoadedConfig none;
      none.faults.push_back({"configuration", 0, "", failure.what()});
      return none;
    }
  }

  void finish(LoadedConfig loaded) {
    reload(gateway_, std::move(loaded));
    after_();
    if (std::exchange(again_, false)) begin();
  }

  Gateway& gateway_;
  const LoadAgain load_again_;
  const std::function<void()> after_;
  std::thread reader_;
  bool again_ = false;
};

// Those that wait until the service is up.
sigset_t held_signals() {
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGHUP);
  sigaddset(&held, SIGUSR1);
  return held;
}

void end_start(int) {
  constexpr std::string_view kTold = "armgate: a signal ended the start; nothing was served\n";
  if (::write(STDERR_FILENO, kTold.data(), kTold.size()) < 0) std::_Exit(kExitDone);  // nobody reads it: it ends all the same
  std::_Exit(kExitDone);
}

// To operators, who may have taken the rules away by mistake, or have written what has no effect. `armgate check` tells all of
// it.
void warn_of_rules(Gateway& gateway, const Config& config) {
  for (const rules::Fault& warning : warnings_about_options(config)) {
    if (warning.pointer == "/rules") gateway.log_line(LogLevel::Warning, "no-rules", {{"text", warning.message}});
  }
  constexpr size_t kLinesMax = 20;
  const rules::FaultList& idle = config.rule_warnings;
  for (size_t i = 0; i < std::min(idle.size(), kLinesMax); ++i)
    gateway.log_line(LogLevel::Warning, "key-without-effect", {{"text", rules::to_text(idle[i])}});
  if (idle.size() <= kLinesMax) return;
  gateway.log_line(LogLevel::Warning, "key-without-effect",
                   {{"text", fmt::format("and {} more; `armgate check` names all", idle.size() - kLinesMax)}});
}

void announce(Gateway& gateway) {
  const Config& config = gateway.config();
  const auto proxy = listener_text(config.listen.proxy, gateway.ports().proxy);
  const auto direct = config.listen.tls.empty() ? std::string() : listener_text(config.listen.tls, gateway.ports().direct);
  const auto admin = config.listen.admin.empty() ? std::string() : listener_text(config.listen.admin, gateway.ports().admin);
  const auto ca = certs::files_in(config.ca.directory).root.string();
  gateway.log_line(LogLevel::Info, "started",
                   {{"version", ARMGATE_VERSION},
                    {"proxy", proxy},
                    {"tls", direct},
                    {"admin", Log::Value::unless_empty(admin)},
                    {"through", Log::Value::unless_empty(gateway.parent())},
                    {"ca", ca},
                    {"config", config.source},
                    {"mode", rules::to_text(config.mode)},
                    {"rules", config.rules.size()}});
  std::fprintf(stderr, "armgate: %s\n", usage_hint(proxy, ca).c_str());
  warn_of_rules(gateway, config);
}

// Without any left, armgate's own files and the admin listener would fail with the clients' connections.
void check_descriptors(Gateway& gateway) {
  const size_t wanted = gateway.config().limits.connections;
  const size_t connections = gateway.connections_max();
  if (connections == wanted) return;
  gateway.log_line(
      LogLevel::Warning, "few-descriptors",
      {{"limit", descriptor_limit()},
       {"connections", connections},
       {"text",
        fmt::format("so many open files allow {} connections of clients, not limits.connections, {}: raise the limit to {} "
                    "(ulimit -Hn, LimitNOFILE) or lower the option",
                    connections, wanted, descriptors_needed(gateway.config()))}});
}

bool can_change_at_run_time(std::string_view pointer) {
  return pointer == "/mode" || pointer == "/unruled" || pointer == "/rules";
}

// What failed knows the file, not the option that names it. Whether the failure is told with that.
bool name_options_at_fault(const Config& config, const Error& failure) {
  bool is_told = false;
  for (const rules::Fault& fault : look_at_files(config, RealClock().wall()).faults) {
    std::fprintf(stderr, "%s\n", rules::to_text(fault).c_str());
    is_told = is_told || fault.message == failure.context;
  }
  return is_told;
}

}  // namespace

void hold_signals() {
  const sigset_t held = held_signals();
  ::pthread_sigmask(SIG_BLOCK, &held, nullptr);
  std::signal(SIGTERM, end_start);
  std::signal(SIGINT, end_start);
}

void reload(Gateway& gateway, LoadedConfig loaded) {
  if (!loaded.faults.empty()) {
    for (const rules::Fault& fault : loaded.faults) {
      gateway.log_line(LogLevel::Error, "reload-fault", {{"text", rules::to_text(fault)}});
    }
    gateway.log_line(LogLevel::Error, "reload-refused",
                     {{"faults", loaded.faults.size()}, {"text", "the rules and the mode stay as they were"}});
    gateway.note_refused_reload();
    return;
  }
  for (const auto& pointer : changed_options(gateway.config(), loaded.config)) {
    if (can_change_at_run_time(pointer)) continue;
    gateway.log_line(
        LogLevel::Warning, "restart-needed",
        {{"option", pointer}, {"text", "this option has changed; it stays as it was until armgate is started anew"}});
  }
  warn_of_rules(gateway, loaded.config);
  const rules::Mode mode = loaded.config.mode;
  const size_t rules = loaded.config.rules.size();
  std::vector<std::string> remarks = loaded.kept;
  const size_t draining = gateway.use(loaded.config);
  if (draining > 0) {
    remarks.emplace_back(
        "writes that began under the rules of before still run: until the last of them has ended those rules count for what they name, "
        "too (armgate_rules_draining); a rule with \"mode\": \"off\" waits for none of them");
  }
  const std::string text = fmt::format("{}", fmt::join(remarks, "; "));
  gateway.log_line(LogLevel::Info, "reloaded",
                   {{"config", loaded.config.source},
                    {"mode", rules::to_text(mode)},
                    {"rules", rules},
                    {"draining", draining},
                    {"text", Log::Value::unless_empty(text)}});
}

int report_failure(const Error& error) {
  std::fprintf(stderr, "armgate: %s\n", error.context.c_str());
  return error.kind == ErrorKind::BadInput ? kExitBadInput : kExitRuntime;
}

int run_service(const Config& config, LoadAgain load_again) {
  raise_descriptor_limit();
  auto opened = Gateway::open(config);
  if (!opened) {
    const bool is_bad_input = opened.error().kind == ErrorKind::BadInput;
    return is_bad_input && name_options_at_fault(config, opened.error()) ? kExitBadInput : report_failure(opened.error());
  }
  Gateway& gateway = **opened;
  bool asked_before = false;
  const Signals endings(gateway, {SIGTERM, SIGINT}, [&] {
    if (std::exchange(asked_before, true))
      gateway.abort("second-signal");
    else
      gateway.drain(gateway.config().drain_max);
  });
  const Signals rotations(gateway, {SIGUSR1}, [&gateway] { gateway.log().reopen(); });
  const auto ca_file = certs::files_in(config.ca.directory).root;
  const auto ca_at_start = certs::read_file(ca_file);
  Reloads reloads(gateway, std::move(load_again), [&] {
    const auto ca_now = certs::read_file(ca_file);
    if (ca_at_start && ca_now && *ca_at_start == *ca_now) return;
    gateway.log_line(
        LogLevel::Warning, "restart-needed",
        {{"option", "/ca"},
         {"text", "the certificate authority was replaced; the one from the start is used until armgate is started anew"}});
  });
  const Signals asked_to_reload(gateway, {SIGHUP}, [&reloads] { reloads.begin(); });
  const sigset_t held = held_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &held, nullptr);  // those that came during the start are acted on as soon as the loop runs
  announce(gateway);
  check_descriptors(gateway);
  gateway.run();
  end_soon({kExitDone});
  gateway.leave({kExitDone});
}

}  // namespace armgate
