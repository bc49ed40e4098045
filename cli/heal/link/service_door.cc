#include "cli/heal/link/service_door.h"

#include <chrono>

#include "proxy/config/config.h"
#include "proxy/config/tool_environment.h"
#include "proxy/gateway/doors.h"

namespace armgate::heal {
namespace {

constexpr Duration kPatience = std::chrono::minutes(6);  // armgate itself waits 5 for ARM

}  // namespace

Through service_door(const Config& config, const std::filesystem::path& root, const std::string& client) {
  const auto [host, port] = split_address(reachable(config.listen.proxy));
  return {host, port, client + ":x", root, "armgate-heal", kPatience};
}

}  // namespace armgate::heal
