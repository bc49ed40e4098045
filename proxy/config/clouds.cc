#include "proxy/config/clouds.h"

#include <fmt/format.h>

#include "certs/certificate.h"

namespace armgate {
namespace {

struct Cloud {
  std::string_view name;
  std::string_view host;  // learn.microsoft.com, "Compare Azure Government and global Azure" and "Azure China developer guide"
};
constexpr Cloud kClouds[] = {
    {"azurecloud", "management.azure.com"},
    {"azureusgovernment", "management.usgovcloudapi.net"},
    {"azurechinacloud", "management.chinacloudapi.cn"},
};
constexpr std::string_view kStack = "azurestack:";

}  // namespace

std::optional<std::vector<std::string>> hosts_of_cloud(std::string_view name) {
  for (const Cloud& cloud : kClouds) {
    if (cloud.name == name) return std::vector{std::string(cloud.host), fmt::format("*.{}", cloud.host)};
  }
  if (!name.starts_with(kStack)) return std::nullopt;
  name.remove_prefix(kStack.size());
  if (!certs::is_host_name(name)) return std::nullopt;
  // learn.microsoft.com, "Azure Stack Hub DNS naming": for tenants and for operators.
  return std::vector{fmt::format("management.{}", name), fmt::format("adminmanagement.{}", name)};
}

}  // namespace armgate
