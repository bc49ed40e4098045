// What the simulated ARM shows of a resource when its answers lag, when its lists are views of their own, when neighbours write
// into it, and when nothing has an ETag.
#include <gtest/gtest.h>

#include "tests/sim/sim_requests.h"

namespace armgate::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Json = nlohmann::json;

const std::string kScaleSets = std::string(kGroup) + "/providers/Microsoft.Compute/virtualMachineScaleSets";

SimOptions lagging() {
  SimOptions options;
  options.operation = Duration{};
  options.stale_read_chance = 1;
  options.stale_by = seconds(10);
  options.keep_states = true;
  return options;
}

TEST(LaggingReads, AreTheSameForPointsListsAndTags) {
  Bench bench(lagging());
  bench.create(kScaleSet, R"({"location":"westeurope","tags":{"x":"old"}})");
  bench.ask("PUT", kScaleSet, R"({"location":"westeurope","tags":{"x":"new"}})");
  const auto seen = [&](const char* value) {
    EXPECT_EQ(body_of(bench.ask("GET", kScaleSet))["tags"]["x"], value);
    EXPECT_EQ(body_of(bench.ask("GET", kScaleSets))["value"][0]["tags"]["x"], value);
    const Json tags =
        body_of(bench.ask("GET", kScaleSet + "/providers/Microsoft.Resources/tags/default?api-version=2021-04-01"));
    EXPECT_EQ(tags["properties"]["tags"]["x"], value);
  };
  seen("old");
  EXPECT_EQ(bench.send("GET", kScaleSet).seen.at(0).serial, bench.arm.states_of(kScaleSet)[0].serial);
  bench.pass(10'001);
  seen("new");
}

TEST(LaggingReads, ShowWhatIsGoneAndNotYetWhatIsNew) {
  Bench bench(lagging());
  bench.create(kScaleSet);
  bench.ask("DELETE", kScaleSet);
  EXPECT_EQ(bench.ask("GET", kScaleSet).head.status, 200);
  bench.pass(10'001);
  EXPECT_EQ(bench.ask("GET", kScaleSet).head.status, 404);
  bench.ask("PUT", kScaleSet, R"({"location":"westeurope"})");
  EXPECT_EQ(bench.ask("GET", kScaleSet).head.status, 404);
  EXPECT_TRUE(body_of(bench.ask("GET", kScaleSets))["value"].empty());
}

TEST(LaggingReads, HaveNotHeardOfTheOperationEither) {
  SimOptions options = lagging();
  options.operation = seconds(60);
  Bench bench(options);
  bench.create(kScaleSet);
  bench.pass(60'000);
  bench.ask("PUT", kScaleSet, R"({"location":"westeurope","tags":{"x":"new"}})");
  EXPECT_EQ(body_of(bench.ask("GET", kScaleSet))["properties"]["provisioningState"], "Succeeded");
  bench.pass(10'001);
  EXPECT_EQ(body_of(bench.ask("GET", kScaleSet))["properties"]["provisioningState"], "Updating");
}

TEST(Lists, MayShowLessThanAPointRead) {
  SimOptions options;
  options.list_items = ListItems::Fewer;
  Bench bench(options);
  bench.create(kScaleSet, R"({"location":"westeurope","tags":{"x":"1"}})");
  const Json item = body_of(bench.ask("GET", kScaleSets))["value"][0];
  EXPECT_FALSE(item.contains("etag") || item.contains("location")) << item;
  EXPECT_EQ(item["tags"]["x"], "1");
  ASSERT_TRUE(body_of(bench.ask("GET", kScaleSet)).contains("etag"));
  // Written back as it is, it changes nothing.
  EXPECT_EQ(bench.ask("PUT", kScaleSet, item.dump()).head.status, 200);
  EXPECT_EQ(body_of(bench.ask("GET", kScaleSet))["location"], "westeurope");
}

TEST(Settings, AreShownByPostAlone) {
  Bench bench;
  const std::string site = std::string(kGroup) + "/providers/Microsoft.Web/sites/w";
  const std::string settings = site + "/config/appsettings";
  bench.create(site, R"({"location":"westeurope"})");
  bench.ask("PUT", settings, R"({"properties":{"x":"1"}})");
  EXPECT_EQ(bench.ask("GET", settings).head.status, 405);
  const Json shown = body_of(bench.ask("POST", settings + "/list"));
  EXPECT_EQ(shown["id"], settings);
  EXPECT_EQ(shown["properties"]["x"], "1");
}

TEST(Neighbours, WriteIntoAResourceWhatNobodyElseCan) {
  SimOptions options;
  options.neighbour_every = milliseconds(100);
  options.neighbour_links = true;
  options.keep_states = true;
  Bench bench(options);
  bench.create(
      kNetwork,
      R"({"location":"westeurope","properties":{"subnets":[{"name":"a","properties":{"addressPrefix":"10.0.0.0/24"}}],"virtualNetworkPeerings":[]}})");
  bench.create(kSecurityGroup, R"({"location":"westeurope","properties":{"securityRules":[]}})");
  bench.pass(5'000);
  const Json group = body_of(bench.ask("GET", kSecurityGroup));
  const Json network = body_of(bench.ask("GET", kNetwork));
  ASSERT_TRUE(group["properties"].contains("subnets")) << group;
  ASSERT_TRUE(network["properties"]["subnets"][0]["properties"].contains("ipConfigurations")) << network;
  for (const auto& [path, body] : {std::pair(kSecurityGroup, group), std::pair(kNetwork, network)}) {
    const size_t states = bench.arm.states_of(path).size();
    bench.ask("PUT", path, body.dump());
    EXPECT_EQ(bench.arm.states_of(path).size(), states) << "who writes it back changes nothing";
  }
  const std::string subnet = kNetwork + "/subnets/a";
  const Json own = body_of(bench.ask("GET", subnet));
  ASSERT_TRUE(own["properties"].contains("ipConfigurations")) << own;
  bench.pass(60'000);
  const size_t states = bench.arm.states_of(subnet).size();
  bench.ask("PUT", subnet, own.dump());
  EXPECT_EQ(bench.arm.states_of(subnet).size(), states);
}

TEST(WithoutEtags, NothingShowsOneAndNothingIsCompared) {
  SimOptions options;
  options.has_etags = false;
  Bench bench(options);
  for (const std::string& path : {kScaleSet, kSecurityGroup, kNetwork}) {
    bench.create(path);
    const arm::Response seen = bench.ask("GET", path);
    EXPECT_FALSE(body_of(seen).contains("etag") || seen.head.fields.has("ETag")) << seen.body;
    EXPECT_EQ(bench.ask("PUT", path, R"({"location":"westeurope"})", {{"If-Match", "\"other\""}}).head.status, 200);
  }
  bench.ask("PUT", kSecurityGroup + "/securityRules/r", R"({"properties":{"priority":1}})");
  EXPECT_FALSE(body_of(bench.ask("GET", kSecurityGroup + "/securityRules/r")).contains("etag"));
}

}  // namespace
}  // namespace armgate::sim
