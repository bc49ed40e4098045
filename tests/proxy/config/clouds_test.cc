// Goal: a cloud's name stands for the hosts of its Resource Manager. Method: a table.
#include "proxy/config/clouds.h"

#include <gmock/gmock.h>

namespace armgate {
namespace {

using testing::ElementsAre;

TEST(Clouds, HaveTheHostsOfTheirResourceManagers) {
  EXPECT_THAT(*hosts_of_cloud("azurecloud"), ElementsAre("management.azure.com", "*.management.azure.com"));
  EXPECT_THAT(*hosts_of_cloud("azureusgovernment"),
              ElementsAre("management.usgovcloudapi.net", "*.management.usgovcloudapi.net"));
  EXPECT_THAT(*hosts_of_cloud("azurechinacloud"), ElementsAre("management.chinacloudapi.cn", "*.management.chinacloudapi.cn"));
  EXPECT_THAT(*hosts_of_cloud("azurestack:east.corp.example"),
              ElementsAre("management.east.corp.example", "adminmanagement.east.corp.example"));
  for (const char* other : {"", "management.azure.com", "azurestack", "azurestack:", "azurestack:a b", "azuregermancloud"}) {
    EXPECT_FALSE(hosts_of_cloud(other)) << other;
  }
}

}  // namespace
}  // namespace armgate
