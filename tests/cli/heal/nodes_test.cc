// Which nodes count as ready, and how many are wanted.
#include "cli/heal/facts/nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace armgate::heal {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Nodes, ReadyIsReadyAndNotCordonedAndNotGoing) {
  const auto count = read_nodes(
      "aks-system-1   <none>   <none>                 True\n"
      "aks-system-2   true     <none>                 True\n"
      "aks-system-3   <none>   2026-01-01T00:00:00Z   True\n"
      "aks-system-4   <none>   <none>                 False\n"
      "aks-system-5   <none>   <none>                 Unknown\n"
      "aks-system-6   <none>   <none>                 <none>\n"
      "aks-system-7   false    <none>                 True\n");
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(count->ready, 2u);
  EXPECT_EQ(count->all, 7u);
  EXPECT_EQ(text_of(*count, "system", 3),
            "2 of 7 nodes of pool system are ready, 3 are wanted; not ready: aks-system-2, aks-system-3, aks-system-4, "
            "aks-system-5, aks-system-6");
  EXPECT_EQ(read_nodes("")->all, 0u);
  EXPECT_EQ(text_of({}, "system", 3), "0 of 0 nodes of pool system are ready, 3 are wanted");
  EXPECT_EQ(text_of({0, 6, {"a", "b", "c", "d", "e", "f"}}, "p", 1),
            "0 of 6 nodes of pool p are ready, 1 are wanted; not ready: a, b, c, d, e and 1 more");
}

TEST(Nodes, WhatIsNoListIsAnError) {
  for (const char* bad : {"error: You must be logged in", "Warning: one two\n", "aks-1 True"}) {
    const auto count = read_nodes(bad);
    ASSERT_FALSE(count.ok()) << bad;
    EXPECT_THAT(count.error().context, HasSubstr("which is no node"));
  }
}

// As kubectl 1.32 prints it.
TEST(Nodes, PodsThatKubectlGaveUpOnAreNamed) {
  constexpr std::string_view kPrinted =
      "evicting pod default/shop-1\n"
      "error when evicting pods/\"shop-3\" -n \"default\" (will retry after 5s): Cannot evict pod\n"
      "error when evicting pods/\"shop-4\" -n \"default\" (will retry after 5s): Cannot evict pod\n"
      "error: unable to drain node \"n\" due to error: [error when evicting pods/\"shop-1\" -n \"default\": "
      "global timeout reached: 6s, error when evicting pods/\"a\" -n \"b\": x], continuing command...\n"
      "error when evicting pods/\"shop-1\" -n \"default\": global timeout reached: 6s\n"
      "pod/shop-4 evicted\n"
      "error when evicting pods/\"cut";
  EXPECT_THAT(pods_left(kPrinted, Drain::Ended), ElementsAre("default/shop-1", "b/a"));
  EXPECT_THAT(pods_left(kPrinted, Drain::CutOff), ElementsAre("default/shop-3", "default/shop-1", "b/a"));
  EXPECT_TRUE(pods_left("", Drain::CutOff).empty());
}

TEST(Nodes, WantedIsTheLeastThatThePoolMayHave) {
  EXPECT_EQ(wanted_nodes(R"({"properties":{"minCount":2,"count":5}})"), 2);
  EXPECT_EQ(wanted_nodes(R"({"properties":{"count":5}})"), 5);
  EXPECT_EQ(wanted_nodes(R"({"properties":{"minCount":0,"count":0}})"), 1);
  for (const char* odd : {"", "[]", "{}", R"({"properties":1})"}) EXPECT_EQ(wanted_nodes(odd), 1) << odd;
}

TEST(Nodes, KubectlIsAskedForThePoolWithTheGivenFile) {
  for (const Words& words : {nodes_command("/k", "system"), cordon_command("/k", "system"),
                             drain_command("/k", "system", std::chrono::minutes(10))}) {
    EXPECT_EQ(words[0], "kubectl");
    EXPECT_EQ(words[2], "/k");
    EXPECT_THAT(words, Contains("agentpool=system"));
  }
  EXPECT_EQ(drain_command("/k", "system", std::chrono::minutes(10)).back(), "600000ms");
}

}  // namespace
}  // namespace armgate::heal
