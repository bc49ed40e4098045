#include "cli/link/arm_host.h"

#include <algorithm>

namespace armgate {

std::string arm_host(const Config& config) {
  const auto plain = std::find_if(config.intercept.begin(), config.intercept.end(),
                                  [](const std::string& host) { return host.find('*') == host.npos; });
  return plain == config.intercept.end() ? "management.azure.com" : *plain;
}

}  // namespace armgate
