// Which of several servers that take writes is the primary.
#include "proxy/cluster/engine/primary.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace armgate::cluster {
namespace {

Primary server(std::string name, int64_t timeline, std::string begun = "", std::string system = "one") {
  if (begun.empty()) begun = name;
  return {std::move(name), std::move(system), timeline, std::move(begun)};
}

TEST(Primary, TheOneThatWasPromotedLastIsIt) {
  EXPECT_EQ(newest_of({}), std::nullopt);
  EXPECT_EQ(newest_of({server("a", 1)}), 0u);
  EXPECT_EQ(newest_of({server("a", 1), server("b", 3), server("c", 2)}), 1u);
  EXPECT_EQ(newest_of({server("a", 2), server("b", 2), server("c", 1)}), std::nullopt) << "two went on from one";
  EXPECT_EQ(newest_of({server("a", 1), server("b", 2, "", "two")}), std::nullopt) << "nobody can say";
}

TEST(Primary, TwoNamesOfOneServerAreNoRivals) {
  EXPECT_EQ(newest_of({server("a", 1, "then"), server("alias", 1, "then")}), 0u);
  EXPECT_EQ(rivals_among({}), std::nullopt);
  EXPECT_EQ(rivals_among({server("a", 1, "then"), server("alias", 1, "then")}), std::nullopt);
}

TEST(Primary, RivalsAreNamed) {
  EXPECT_EQ(rivals_among({server("a", 1), server("b", 2)}),
            "more than one of the cluster's servers takes writes: a (timeline 1), b (timeline 2). b is the primary: stop the "
            "other");
  EXPECT_EQ(rivals_among({server("a", 2), server("b", 2)}),
            "more than one of the cluster's servers takes writes: a (timeline 2), b (timeline 2). None was promoted after the "
            "others, so none is used: stop the wrong one");
}

}  // namespace
}  // namespace armgate::cluster
