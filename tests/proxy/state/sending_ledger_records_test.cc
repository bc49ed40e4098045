// The ledger's bounds: records that nobody works on are forgotten, oldest end first, by number, bytes and age (promise P10,
// docs/design.md).
#include <gtest/gtest.h>

#include "proxy/state/sending_ledger.h"
#include "tests/proxy/state/ledger_rig.h"

namespace armgate {
namespace {

using Match = SendingLedger::Match;
using Kind = SendingLedger::Ending::Kind;
using std::chrono::minutes;

// ---- limits

TEST(SendingLedger, OverTheirNumberTheOldestThatNobodyWorksOnAreForgotten) {
  LedgerRig rig({.sendings_max = 4});
  const auto running = rig.begin(99);
  for (uint64_t request = 1; request <= 20; ++request) rig.end(rig.begin(request), Kind::Expected);
  EXPECT_EQ(rig.ledger.size(), 4u);
  EXPECT_FALSE(rig.ledger.ending(running.sending()).has_value()) << "it still runs";
  EXPECT_EQ(rig.match(20), Match::Again);
  EXPECT_EQ(rig.match(1), Match::New);
}

TEST(SendingLedger, OverTheirBytesTheOldestAnswersAreForgotten) {
  LedgerRig rig({.bytes_max = 100});
  for (uint64_t request = 1; request <= 3; ++request) {
    auto write = rig.begin(request, "x");
    rig.ledger.sent(write.sending());
    rig.end(write, Kind::Accepted, 45).lose();
  }
  EXPECT_FALSE(rig.knows(1, "x")) << "three answers of 45 bytes are more than 100";
  EXPECT_TRUE(rig.knows(2, "x"));
  EXPECT_TRUE(rig.knows(3, "x"));
}

TEST(SendingLedger, WhatRunsAgainDoesNotCountItsOldAnswer) {
  LedgerRig rig({.bytes_max = 100});
  for (int times = 0; times < 10; ++times) {
    auto write = rig.begin(1, "x");
    ASSERT_EQ(write.match(), times == 0 ? Match::New : Match::Again);
    rig.end(write, Kind::Refused, 40).lose();
  }
  auto other = rig.begin(2);
  rig.ledger.sent(other.sending());
  rig.end(other, Kind::Accepted, 60).lose();
  EXPECT_TRUE(rig.knows(2)) << "40 and 60 bytes fit";
  EXPECT_EQ(rig.match(1, "x"), Match::Again);
}

TEST(SendingLedger, ThingsExpireByTheirEndsNotByTheirArrivals) {
  LedgerRig rig;
  const auto first = rig.begin(1);
  const auto second = rig.begin(2);
  const auto third = rig.begin(3);
  rig.end(second, Kind::Expected);
  rig.pass(minutes(3));
  rig.end(first, Kind::Expected);
  rig.pass(minutes(3));
  EXPECT_TRUE(rig.ledger.expire(rig.now));
  EXPECT_EQ(rig.ledger.size(), 2u) << "the second was over first; neither of those before and after it keeps it";
  EXPECT_FALSE(rig.ledger.ending(third.sending()).has_value());
  rig.end(third, Kind::Expected);
  rig.pass(minutes(6));
  EXPECT_FALSE(rig.ledger.expire(rig.now));
}

}  // namespace
}  // namespace armgate
