// Whatever comes in whatever order, and whatever goes wrong on purpose: the simulated ARM answers.
#include <gtest/gtest.h>

#include <array>

#include "base/rng.h"
#include "tests/sim/sim_requests.h"

namespace armgate::sim {
namespace {

const std::string kStormCluster = std::string(kGroup) + "/providers/Microsoft.ContainerService/managedClusters/aks1";
const std::string kStormZone = std::string(kGroup) + "/providers/Microsoft.Network/privateDnsZones/example.com";

template <class Items>
const auto& one_of(const Items& items, Rng& rng) {
  return items[rng.below(std::size(items))];
}

std::string any_path(Rng& rng) {
  const std::string below_subscription(kGroup.substr(0, kGroup.rfind('/')));
  const std::array<std::string, 24> paths{
      std::string(kGroup),
      std::string(kGroup) + "/resources",
      below_subscription,
      kScaleSet,
      kScaleSet.substr(0, kScaleSet.rfind('/')),
      kScaleSet + "/extensions/e1",
      kScaleSet + "/extensions",
      kScaleSet + "/virtualMachines/0",
      kScaleSet + "/providers/Microsoft.Authorization/roleAssignments/r1",
      kSecurityGroup,
      kSecurityGroup + "/securityRules/r1",
      kSecurityGroup + "/securityRules/R1",
      kSecurityGroup + "/securityRules",
      kNetwork,
      kNetwork + "/subnets/a",
      kNetwork + "/virtualNetworkPeerings/p",
      kStorage,
      kStormCluster,
      kStormCluster + "/agentPools/p1",
      kStormCluster + "/agentPools/P1",
      kStormCluster + "/agentPools",
      kStormZone,
      kStormZone + "/A/www",
      std::string(kGroup) + "/providers/Microsoft.Resources/tags/default",
  };
  constexpr std::array kVersions{"2015-06-15", "2022-08-01", "2024-07-01", "2025-10-01"};
  constexpr std::array kActions{"", "", "", "", "", "", "/restart", "/abort", "/deallocate"};
  return one_of(paths, rng) + one_of(kActions, rng) + "?api-version=" + one_of(kVersions, rng);
}

constexpr std::array kBodies{
    "",
    "null",
    "[]",
    "{}",
    R"({"location":"we"})",
    R"({"location":"we","tags":{"a":"1"}})",
    R"({"location":"we","tags":null,"properties":null})",
    R"({"location":"we","tags":{"b":"2"},"sku":{"capacity":3}})",
    R"({"location":7,"properties":{"provisioningState":5,"securityRules":null}})",
    R"({"location":"we","properties":{"securityRules":[{"name":"r1"},{"name":"R1"},{"name":"r2","properties":{}}]}})",
    R"({"location":"we","properties":{"securityRules":[{"name":7}],"subnets":"none"}})",
    R"({"location":"we","properties":{"subnets":[{"name":"a","properties":{"etag":"x"}}],"virtualNetworkPeerings":[]}})",
    R"({"location":"we","properties":{"agentPoolProfiles":[{"name":"p1","count":1},{"name":"p2"}]}})",
    R"({"location":"we","properties":{"agentPoolProfiles":[]}})",
    R"({"properties":{"count":2,"tags":{"a":"1"}}})",
    R"({"properties":{"tags":{"a":"1"}},"operation":"Merge"})",
    R"({"etag":7,"eTag":{},"id":[],"name":null,"type":1,"properties":{"name":"other"}})",
};

arm::Headers any_headers(Rng& rng) {
  constexpr std::array kFaults{"drop-before", "drop-after", "status-503",    "status-409",      "error-busy-network",
                               "stale-5",     "stale-500",  "stale-1000000", "error-throttled", "nothing"};
  constexpr std::array kMatches{"*", "\"1\"", "W/\"x\"", "", "\""};
  constexpr std::array kLengths{"0", "0", "20", "300", "-1", "x"};
  arm::Headers fields{{"x-sim-operation-ms", one_of(kLengths, rng)}};
  if (rng.chance(0.3)) fields.add("x-sim-fault", one_of(kFaults, rng));
  if (rng.chance(0.1)) fields.add("If-Match", one_of(kMatches, rng));
  if (rng.chance(0.1)) fields.add("If-None-Match", one_of(kMatches, rng));
  if (rng.chance(0.2)) fields.add("x-sim-operation-result", rng.chance(0.5) ? "Failed" : "Canceled");
  if (rng.chance(0.2)) fields.add("x-sim-increments", "/sku/capacity:1,/properties/count:2,/tags/a:1,no:1");
  if (rng.chance(0.2)) fields.add("x-sim-write-id", std::to_string(rng.below(50)));
  if (rng.chance(0.2)) fields.add("x-sim-client", "c" + std::to_string(rng.below(3)));
  return fields;
}

TEST(SimStorm, EveryRequestIsAnsweredWhateverGoesWrong) {
  constexpr std::array kMethods{"GET", "GET", "GET", "HEAD", "PUT", "PUT", "PUT", "PATCH", "DELETE", "POST", "OPTIONS"};
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    SimOptions options;
    options.operation = std::chrono::milliseconds(200);
    options.stale_read_chance = seed % 2 == 0 ? 0.2 : 0;
    options.stale_by = std::chrono::milliseconds(100);
    options.neighbour_every = std::chrono::milliseconds(seed % 3 == 0 ? 50 : 0);
    options.neighbour_links = seed % 6 < 3;
    options.list_items = seed % 4 < 2 ? ListItems::Fewer : ListItems::Whole;
    options.has_etags = seed % 5 != 0;
    options.exclusivity = static_cast<Exclusivity>(seed % 3);
    options.page_items = 2;
    Bench bench(options);
    bench.ask("PUT", kGroup, R"({"location":"we"})");
    for (int i = 0; i < 3000; ++i) {
      const std::string method = one_of(kMethods, rng);
      const std::string path = any_path(rng);
      const bool ends_it = method == "DELETE" && path.starts_with(std::string(kGroup) + "?");
      if (ends_it && rng.chance(0.9)) continue;  // else there is hardly ever anything
      const SimAnswer answer = bench.send(method, path, one_of(kBodies, rng), any_headers(rng));
      ASSERT_TRUE(answer.drop || (answer.response.head.status >= 200 && answer.response.head.status < 600)) << method << path;
      const std::string follow(answer.response.head.fields.get("Azure-AsyncOperation"));
      if (!follow.empty() && rng.chance(0.5)) {
        ASSERT_LT(bench.follow(follow).head.status, 500);
      }
      bench.pass(static_cast<int64_t>(rng.below(60)));
      if (bench.ask("GET", kGroup).head.status == 404) bench.ask("PUT", kGroup, R"({"location":"we"})");
    }
    EXPECT_FALSE(to_json(bench.arm.report()).empty());
  }
}

}  // namespace
}  // namespace armgate::sim
