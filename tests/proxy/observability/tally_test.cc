// The line that a private gateway leaves behind.
#include "proxy/observability/tally.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

enum class Altered { No, Yes };

Exchange finished_exchange(int status, int attempts, Altered altered = Altered::No, const char* reason = "",
                           int waited_ms = 0) {
  Exchange exchange;
  exchange.status = status;
  exchange.report.attempts = attempts;
  exchange.report.altered = altered == Altered::Yes;
  exchange.report.reason = reason;
  exchange.report.waited = std::chrono::milliseconds(waited_ms);
  return exchange;
}

TEST(GatewayTally, HasNothingToSayAboutWhatWasPassedOn) {
  GatewayTally tally;
  tally.count(finished_exchange(200, 1));
  tally.count(finished_exchange(412, 1));  // ARM's own, to the client's own If-Match
  EXPECT_EQ(summary(tally.counts()), "");
}

TEST(GatewayTally, CountsWhatWasAlteredDelayedRepeatedAndRefused) {
  GatewayTally tally;
  tally.count(finished_exchange(200, 1));
  tally.count(finished_exchange(200, 1, Altered::Yes));
  tally.count(finished_exchange(412, 1, Altered::Yes));
  tally.count(finished_exchange(412, 0, Altered::Yes, "stale"));
  tally.count(finished_exchange(200, 2, Altered::No, "waited-for-another-write", 1500));
  tally.count(finished_exchange(503, 0, Altered::Yes, "waited-too-long", 500));
  tally.count(finished_exchange(200, 1, Altered::Yes, "answer-recovered-by-reading"));
  EXPECT_EQ(summary(tally.counts()),
            "7 requests to ARM: 1 guarded, 2 refused as stale (412), 1 answered by armgate itself, "
            "1 with a lost answer recovered, 1 sent more than once, 2 waited 2.0 s in all");
}

TEST(GatewayTally, AddsUpWhatSeveralCounted) {
  GatewayTally one, other;
  one.count(finished_exchange(412, 1, Altered::Yes));
  other.count(finished_exchange(412, 1, Altered::Yes));
  other.count(finished_exchange(200, 2, Altered::No, "waited-for-another-write", 1500));
  GatewayTally::Counts both = one.counts();
  both += other.counts();
  EXPECT_EQ(summary(both), "3 requests to ARM: 2 refused as stale (412), 1 sent more than once, 1 waited 1.5 s in all");
}

TEST(GatewayTally, DoesNotCallASendingWhatNeverLeft) {
  GatewayTally tally;
  tally.count(finished_exchange(502, 0, Altered::Yes, "upstream-failure"));
  EXPECT_EQ(summary(tally.counts()), "1 request to ARM: 1 without an answer from ARM");
}

TEST(GatewayTally, SaysWhatModeObserveHasSeen) {
  GatewayTally tally;
  tally.count(finished_exchange(200, 1));
  ObserveFinding finding;
  for (const auto kind : {ObserveFinding::Kind::Stale, ObserveFinding::Kind::Overlap, ObserveFinding::Kind::Overlap,
                          ObserveFinding::Kind::Wait, ObserveFinding::Kind::Duplicate}) {
    finding.kind = kind;
    tally.count(finding);
  }
  EXPECT_EQ(summary(tally.counts()),
            "1 request to ARM: 1 stale and let through (mode observe), 2 during another write (mode observe), "
            "1 sent again although the first may have run (mode observe)");
}

}  // namespace
}  // namespace armgate
