#include "proxy/cluster/engine/configured.h"

#include <gtest/gtest.h>

namespace armgate::cluster {
namespace {

const std::string kOwn = to_text({{"mode", "\"protect\""}, {"rules", "#12ab"}, {"intercept", R"(["a b","c"])"}});

TEST(ClusterConfigured, WhoIsConfiguredAlikeDiffersInNothing) { EXPECT_EQ(difference(kOwn, kOwn), ""); }

TEST(ClusterConfigured, WhatDiffersIsNamedWithBothValuesUnlessTheyAreHashes) {
  const auto other = to_text({{"mode", "\"observe\""}, {"rules", "#34cd"}, {"intercept", R"(["a b"])"}});
  EXPECT_EQ(difference(kOwn, other), R"(intercept (["a b"] and not ["a b","c"]), mode ("observe" and not "protect"), rules)");
}

TEST(ClusterConfigured, WhatOnlyOneOfThemKnowsIsOfAnotherVersion) {
  EXPECT_EQ(difference(kOwn, to_text({{"mode", "\"protect\""}, {"new-option", "1"}})), "");
  EXPECT_EQ(difference(kOwn, ""), "") << "a replica that tells nothing of itself";
}

TEST(ClusterConfigured, OfMuchThatDiffersAFewAreNamed) {
  Configured own, other;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
    own.emplace_back(name, "#1");
    other.emplace_back(name, "#2");
  }
  EXPECT_EQ(difference(to_text(own), to_text(other)), "a, b, c, d, e and 2 more");
}

TEST(ClusterConfigured, GarbageIsNoDifference) {
  EXPECT_EQ(difference(kOwn, "\n\nmode\nrules"), "");
  EXPECT_EQ(difference("nonsense", kOwn), "");
}

}  // namespace
}  // namespace armgate::cluster
