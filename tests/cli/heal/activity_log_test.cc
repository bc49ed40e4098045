// What counts as a failure of the storm, and when the cluster's operation began.
#include "cli/heal/facts/activity_log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/utc.h"

namespace armgate::heal {
namespace {

const std::string kCluster = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c";

LogEvent failure() {
  return {*parse_utc("2026-01-01T00:00:00Z"),
          "/subscriptions/s/resourcegroups/MC/providers/Microsoft.Compute/virtualMachineScaleSets/aks-system-1-vmss",
          "Microsoft.Compute/virtualMachineScaleSets/write", "Failed", std::string(kStormCode)};
}

TEST(ActivityLog, OnlyTheSignatureCounts) {
  EXPECT_EQ(storm_failures({failure(), failure()}, "system"), 2u);
  LogEvent spelt = failure();
  spelt.operation = "MICROSOFT.COMPUTE/virtualmachinescalesets/WRITE";
  spelt.resource = "/x/VIRTUALMACHINESCALESETS/AKS-SYSTEM-1-vmss";
  EXPECT_EQ(storm_failures({spelt}, "system"), 1u) << "ids and operations have no case";
  const auto counts = [](auto change) {
    LogEvent event = failure();
    change(event);
    return storm_failures({event}, "system");
  };
  EXPECT_EQ(counts([](LogEvent& e) { e.status = "failed"; }), 0u);
  EXPECT_EQ(counts([](LogEvent& e) { e.status = "Started"; }), 0u);
  EXPECT_EQ(counts([](LogEvent& e) { e.operation = "Microsoft.Compute/virtualMachineScaleSets/delete"; }), 0u);
  EXPECT_EQ(counts([](LogEvent& e) { e.operation = "Microsoft.Compute/virtualMachineScaleSets/extensions/write"; }), 0u);
  EXPECT_EQ(counts([](LogEvent& e) { e.resource = "/x/virtualMachineScaleSets/aks-system2-1"; }), 0u) << "another pool";
  EXPECT_EQ(counts([](LogEvent& e) { e.code = "QuotaExceeded"; }), 0u);
  EXPECT_EQ(counts([](LogEvent& e) { e.code = ""; }), 0u);
}

TEST(ActivityLog, APageIsReadAndAnUnreadableMessageHasNoCode) {
  const auto page = read_log_page(R"({"value":[
    {"eventTimestamp":"2026-01-01T00:00:00.1234567Z","resourceId":"r","operationName":{"value":"o"},"status":{"value":"Failed"},
     "properties":{"statusMessage":"{\"error\":{\"code\":\"C\"}}"}},
    {"eventTimestamp":"2026-01-01T00:00:01Z","properties":{"statusMessage":"no json"}},
    {"eventTimestamp":"2026-01-01T00:00:02Z","properties":{"statusMessage":"{\"error\":1}"}},
    {"eventTimestamp":"2026-01-01T00:00:03Z"}],"nextLink":"more"})");
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->events.size(), 4u);
  EXPECT_EQ(page->events[0].code, "C");
  EXPECT_EQ(page->events[0].operation, "o");
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(page->events[i].code, "");
  EXPECT_EQ(page->next, "more");
  for (const char* bad : {"", "{}", R"({"value":{}})", R"({"value":[1]})", R"({"value":[{"eventTimestamp":"yesterday"}]})"})
    EXPECT_FALSE(read_log_page(bad).ok()) << bad;
}

// An event of the cluster's own write, if nothing else is said.
LogEvent event(const char* at, const char* status, const char* correlation, const std::string& resource = kCluster,
               const char* operation = "Microsoft.ContainerService/managedClusters/write") {
  return {*parse_utc(at), resource, operation, status, "", correlation};
}

std::string start_in(const std::vector<LogEvent>& events, const std::string& cluster = kCluster) {
  const auto start = latest_start(events, cluster);
  return start ? utc_text(*start) : "none";
}

TEST(ActivityLog, TheNewestStartOfTheVeryClusterCounts) {
  const std::vector<LogEvent> events = {
      event("2026-01-01T00:00:00Z", "Started", "a"), event("2026-01-01T02:00:00Z", "Started", "b"),
      event("2026-01-01T03:00:00Z", "Started", "c", kCluster + "2"), event("2026-01-01T04:00:00Z", "Accepted", "b"),
      event("2026-01-01T01:00:00Z", "Started", "d")};
  EXPECT_EQ(start_in(events), "2026-01-01T02:00:00Z");
  EXPECT_EQ(start_in({}), "none");
  std::string upper = kCluster;
  upper.replace(1, 13, "SUBSCRIPTIONS");
  EXPECT_EQ(start_in(events, upper), "2026-01-01T02:00:00Z");
}

// The old one has ended, so the one that runs is another: of it nothing is known.
TEST(ActivityLog, AnOperationThatHasEndedIsNotTheOneThatRuns) {
  for (const char* status : {"Succeeded", "Failed", "Canceled"}) {
    EXPECT_EQ(start_in({event("2026-01-01T00:00:00Z", "Started", "a"), event("2026-01-01T00:10:00Z", status, "a")}), "none")
        << status;
    EXPECT_EQ(start_in({event("2026-01-01T00:00:00Z", "Started", "a"), event("2026-01-01T00:10:00Z", status, "b")}),
              "2026-01-01T00:00:00Z")
        << "another operation's end";
  }
  EXPECT_EQ(start_in({event("2026-01-01T00:20:00Z", "Started", "a"), event("2026-01-01T00:00:00Z", "Started", "a"),
                      event("2026-01-01T00:10:00Z", "Succeeded", "a")}),
            "2026-01-01T00:20:00Z")
      << "the second of one correlation still runs";
  EXPECT_EQ(start_in({event("2026-01-01T00:00:00Z", "Started", "a"),
                      event("2026-01-01T00:01:00Z", "Succeeded", "a", kCluster,
                            "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action")}),
            "2026-01-01T00:00:00Z")
      << "the end of another operation under the same correlation";
}

TEST(ActivityLog, AWriteOfAPoolKeepsTheClusterToo) {
  const std::string pool = kCluster + "/agentPools/work";
  constexpr const char* kPoolWrite = "Microsoft.ContainerService/managedClusters/agentPools/write";
  EXPECT_EQ(start_in({event("2026-01-01T00:00:00Z", "Started", "a"),
                      event("2026-01-01T01:00:00Z", "Started", "b", pool, kPoolWrite)}),
            "2026-01-01T01:00:00Z");
  EXPECT_EQ(
      start_in({event("2026-01-01T00:00:00Z", "Started", "a"),
                event("2026-01-01T01:00:00Z", "Started", "b", kCluster + "/providers/x/y/z", "Microsoft.Insights/write")}),
      "2026-01-01T00:00:00Z")
      << "what other providers hang on it";
}

TEST(ActivityLog, TheFilterIsTheOneThatAzureMonitorKnows) {
  EXPECT_EQ(log_target("s", "MC_g", *parse_utc("2026-01-01T00:00:00Z"), *parse_utc("2026-01-01T00:15:00Z")),
            "/subscriptions/s/providers/Microsoft.Insights/eventtypes/management/values?api-version=2015-04-01&$filter="
            "eventTimestamp%20ge%20'2026-01-01T00:00:00Z'%20and%20eventTimestamp%20le%20'2026-01-01T00:15:00Z'%20and%20"
            "resourceGroupName%20eq%20'MC_g'");
}

}  // namespace
}  // namespace armgate::heal
