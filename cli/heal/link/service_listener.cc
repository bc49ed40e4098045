#include "cli/heal/link/service_listener.h"

#include <chrono>

#include "proxy/config/config.h"
#include "proxy/config/tool_environment.h"
#include "proxy/gateway/listeners.h"

namespace armgate::heal {
namespace {

constexpr Duration kTimeout = std::chrono::minutes(6);  // armgate itself waits 5 for ARM

}  // namespace

Through service_listener(const Config& config, const std::filesystem::path& root, const std::string& client) {
  const auto [host, port] = split_address(reachable(config.listen.proxy));
  return {host, port, client + ":x", root, "armgate-heal", kTimeout, "listen.proxy"};
}

}  // namespace armgate::heal
