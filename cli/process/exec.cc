#include "cli/process/exec.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/ca/authority.h"
#include "cli/process/child_command.h"
#include "cli/process/runtime_directory.h"
#include "proxy/gateway/ending.h"
#include "proxy/gateway/gateway.h"

namespace armgate {
namespace {

namespace fs = std::filesystem;

constexpr int kThreads = 2;                                // one command needs no more
constexpr Duration kConnectMax = std::chrono::seconds(3);  // to a gateway that is said to run already
// The caller waits for the command and for this too; what is still under way then has no client any more.
constexpr Duration kDrainMax = std::chrono::seconds(5);

Config private_config(Config config, const ExecRequest& request) {
  config.listen.proxy = "127.0.0.1:0";
  config.listen.tls.clear();
  config.listen.admin.clear();
  ClientOptions& client = config.clients[request.name];
  client.actor = request.actor.value_or(client.actor);
  if (config.threads == 0) config.threads = kThreads;
  config.drain_delay = {};  // no balancer leads here
  config.drain_max = std::min(config.drain_max, kDrainMax);
  config.journal.file.clear();  // the service's own, and nobody comes after this gateway
  config.cluster = {};          // nor is it a replica for the time of a command
  config.log.file = request.log_file.empty() ? "/dev/null" : request.log_file;
  return config;
}

int fail(const Error& error) {
  std::fprintf(stderr, "armgate: %s; the command was not run\n", error.context.c_str());
  return kExitExecFailed;
}

// Why nobody can be reached there, in words that go on after the address; nothing if somebody can.
std::optional<std::string_view> why_unreachable(const std::string& address) {
  namespace ip = boost::asio::ip;
  const size_t colon = address.rfind(':');
  const std::string host = colon == address.npos ? "" : address.substr(0, colon);
  boost::system::error_code failure;
  boost::asio::io_context io;
  ip::tcp::resolver resolver(io);
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const auto found =
      resolver.resolve(is_bracketed ? host.substr(1, host.size() - 2) : host, address.substr(colon + 1), failure);
  if (host.empty() || failure) return "which is no address";
  ip::tcp::socket socket(io);
  failure = boost::asio::error::timed_out;
  boost::asio::async_connect(socket, found, [&failure](const auto& outcome, const auto&) { failure = outcome; });
  io.run_for(kConnectMax);
  if (failure) return "where nobody listens";
  return std::nullopt;
}

// Whether somebody listens where ARMGATE_ACTIVE says: without, the command would fail in words that do not name armgate.
Result<void> check_reachable(const std::string& proxy) {
  const auto why = why_unreachable(proxy);
  if (!why) return {};
  return gateway_error(ErrorKind::BadInput,
                       fmt::format("{} names {}, {}; start `armgate run` there, or unset it", kActiveVariable, proxy, *why));
}

Environment with(Environment environment, const Environment& more) {
  for (const auto& [name, value] : more) environment[name] = value;
  return environment;
}

}  // namespace

int exec_with_gateway(const Config& config, const ExecRequest& request) {
  if (auto ready = ensure_authority(config, request.wall); !ready) return fail(ready.error());
  CommandRunner runner;
  auto directory = RuntimeDirectory::make(request.environment, "armgate-exec");
  if (!directory) return fail(directory.error());
  auto opened = Gateway::open(private_config(config, request));
  if (!opened) return fail(opened.error());
  const std::unique_ptr<Gateway> gateway = *std::move(opened);
  const auto variables = tool_variables({.proxy = listener_text("127.0.0.1:0", gateway->ports().proxy),
                                         .name = request.name,
                                         .ca = certs::files_in(config.ca.directory).root,
                                         .bundles = directory->path(),
                                         .intercepted = config.intercept},
                                        request.environment);
  if (!variables) return fail(variables.error());
  if (const auto parent = gateway->parent(); !parent.empty()) gateway->log_line(LogLevel::Info, "through", {{"text", parent}});
  gateway->start();
  const CommandEnd end = runner.run(request.words, with(request.environment, *variables));
  { const RuntimeDirectory gone(std::move(*directory)); }
  runner.let_signals_in();
  gateway->drain(gateway->config().drain_max);
  gateway->join();
  const std::string summary = armgate::summary(gateway->tally());
  if (!summary.empty()) std::fprintf(stderr, "armgate: %s\n", summary.c_str());
  const Ending ending{end.exit_code, end.killed_by};
  end_soon(ending);
  gateway->leave(ending);
}

bool somebody_listens(const std::string& address) { return !why_unreachable(address); }

int exec_within(const ExecRequest& request, const std::string& proxy) {
  if (const auto there = check_reachable(proxy); !there) return fail(there.error());
  const std::string url = proxy_url(request.name, proxy);
  return CommandRunner::become(request.words, with(request.environment, {{"HTTPS_PROXY", url}, {"https_proxy", url}}));
}

}  // namespace armgate
