#include "proxy/gateway_exec.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "proxy/cli_authority.h"
#include "proxy/gateway.h"
#include "proxy/gateway_command.h"
#include "proxy/gateway_ending.h"

namespace armgate {
namespace {

namespace fs = std::filesystem;

constexpr int kThreads = 2;  // one command needs no more
// Whoever waits for the command waits for this too; what is still under way then has no client any more.
constexpr Duration kDrainMax = std::chrono::seconds(5);

// For the certificates that the command is to trust: gone with it.
class RuntimeDirectory {
 public:
  static Result<RuntimeDirectory> make(const Environment& environment) {
    fs::path parent = "/tmp";
    std::error_code error;
    for (const char* name : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
      const auto given = environment.find(name);
      if (given == environment.end() || !fs::is_directory(given->second, error)) continue;
      parent = given->second;
      break;
    }
    std::string pattern = (parent / "armgate-exec-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) return RuntimeDirectory(pattern);
    return gateway_error(ErrorKind::BadInput,
                         fmt::format("cannot make the directory {}: {}", pattern, std::strerror(errno)));
  }
  RuntimeDirectory(RuntimeDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  RuntimeDirectory& operator=(RuntimeDirectory&&) = delete;
  ~RuntimeDirectory() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  explicit RuntimeDirectory(std::string path) : path_(std::move(path)) {}
  fs::path path_;
};

Config private_config(Config config, const ExecRequest& request) {
  config.listen.proxy = "127.0.0.1:0";
  config.listen.tls.clear();
  config.clients.try_emplace(request.name, ClientOptions{request.actor});
  if (config.threads == 0) config.threads = kThreads;
  config.drain_max = std::min(config.drain_max, kDrainMax);
  config.log.file = request.log_file.empty() ? "/dev/null" : request.log_file;
  return config;
}

int fail(const Error& error) {
  std::fprintf(stderr, "armgate: %s; the command was not run\n", error.context.c_str());
  return kExitExecFailed;
}

// A proxy that the command used so far is not used any more: whoever depends on it must be told.
void warn_of_other_proxy(const Environment& environment) {
  for (const char* name : {"https_proxy", "HTTPS_PROXY"}) {
    const auto found = environment.find(name);
    if (found == environment.end() || found->second.empty()) continue;
    std::fprintf(stderr, "armgate: %s was set; armgate connects directly, not through that proxy\n", name);
    return;
  }
}

Environment with(Environment environment, const Environment& more) {
  for (const auto& [name, value] : more) environment[name] = value;
  return environment;
}

}  // namespace

int exec_with_gateway(const Config& config, const ExecRequest& request) {
  if (auto ready = ensure_authority(config, request.wall); !ready) return fail(ready.error());
  auto directory = RuntimeDirectory::make(request.environment);
  if (!directory) return fail(directory.error());
  int exit_code = 0;
  std::unique_ptr<Gateway> gateway;
  {
    CommandRunner runner;
    auto opened = Gateway::open(private_config(config, request));
    if (!opened) return fail(opened.error());
    gateway = *std::move(opened);
    const auto variables = tool_variables({.proxy = door_text("127.0.0.1:0", gateway->ports().proxy),
                                           .name = request.name,
                                           .ca = certs::files_in(config.ca.directory).root,
                                           .bundles = directory->path(),
                                           .intercepted = config.intercept},
                                          request.environment);
    if (!variables) return fail(variables.error());
    warn_of_other_proxy(request.environment);
    gateway->start();
    exit_code = runner.run(request.words, with(request.environment, *variables));
    { const RuntimeDirectory gone(std::move(*directory)); }
  }
  gateway->drain(gateway->config().drain_max);
  gateway->join();
  const std::string summary = gateway->tally().summary();
  if (!summary.empty()) std::fprintf(stderr, "armgate: %s\n", summary.c_str());
  end_soon(exit_code);
  gateway->leave(exit_code);
}

int exec_within(const ExecRequest& request, const std::string& proxy) {
  const std::string url = proxy_url(request.name, proxy);
  return CommandRunner::become(request.words, with(request.environment, {{"HTTPS_PROXY", url}, {"https_proxy", url}}));
}

}  // namespace armgate
