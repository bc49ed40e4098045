// clouds.h – the hosts of the Resource Managers of Azure's clouds, by the names that these have in the Azure CLI (`az cloud
// list`).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace armgate {

// Patterns for `intercept`. `name`: lower case. "azurestack:REGION.DOMAIN" stands for an Azure Stack Hub, whose hosts differ
// from one to the next. Nothing: no cloud has this name.
std::optional<std::vector<std::string>> hosts_of_cloud(std::string_view name);

// For messages.
inline constexpr std::string_view kCloudNames = "AzureCloud, AzureUSGovernment, AzureChinaCloud and AzureStack:REGION.DOMAIN";

}  // namespace armgate
