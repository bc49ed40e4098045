#include "proxy/observability/timeline.h"
#include "json/tree.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

using nlohmann::json;

std::vector<uint64_t> column(const Timeline& timeline, const char* name) {
  return json::parse(timeline.json()).at("columns").at(name).get<std::vector<uint64_t>>();
}

TEST(Timeline, EachRowIsWhatWasCountedSinceTheLookBefore) {
  Timeline timeline;
  Timeline::Sample sample;
  sample.tally.requests = 100;
  timeline.add(sample);
  EXPECT_TRUE(column(timeline, "requests").empty()) << "what was before the first look is nobody's";
  sample.tally.requests = 130;
  sample.tally.guarded = 4;
  sample.tally.stale = 1;
  sample.upstream.throttled = 7;
  sample.waiting = 3;
  timeline.add(sample);
  sample.tally.requests = 131;
  sample.waiting = 0;
  timeline.add(sample);
  EXPECT_EQ(column(timeline, "requests"), (std::vector<uint64_t>{30, 1}));
  EXPECT_EQ(column(timeline, "guarded"), (std::vector<uint64_t>{4, 0}));
  EXPECT_EQ(column(timeline, "stale"), (std::vector<uint64_t>{1, 0}));
  EXPECT_EQ(column(timeline, "arm_429"), (std::vector<uint64_t>{7, 0}));
  EXPECT_EQ(column(timeline, "waiting"), (std::vector<uint64_t>{3, 0})) << "how many wait is no sum";
}

TEST(Timeline, AddedLatencyIsToldOverAllRequestsAndForThoseThatWaited) {
  Timeline timeline;
  Timeline::Sample sample;
  timeline.add(sample);
  DurationHistogram waited;
  for (int i = 0; i < 19; ++i) waited.observe(std::chrono::milliseconds(40));
  waited.observe(std::chrono::seconds(3));
  sample.waited = waited.counts();
  sample.tally.requests = 40;
  timeline.add(sample);
  EXPECT_EQ(column(timeline, "added_ms").back(), (19 * 40 + 3000) / 40u);
  EXPECT_EQ(column(timeline, "added_p95_ms").back(), 50u) << "19 of 20 waited 50 ms at most";
  for (int i = 0; i < 2; ++i) waited.observe(std::chrono::hours(1));
  sample.waited = waited.counts();
  sample.tally.requests += 2;
  timeline.add(sample);
  EXPECT_EQ(column(timeline, "added_p95_ms").back(), 300'000u) << "the last bound that there is";
  timeline.add(sample);
  EXPECT_EQ(column(timeline, "added_ms").back(), 0u);
  EXPECT_EQ(column(timeline, "added_p95_ms").back(), 0u);
}

TEST(Timeline, AnHourIsKeptAndTheOldestForgotten) {
  Timeline timeline;
  Timeline::Sample sample;
  for (size_t i = 0; i <= Timeline::kSlots + 5; ++i) {
    sample.tally.requests += i;
    timeline.add(sample);
  }
  const auto requests = column(timeline, "requests");
  ASSERT_EQ(requests.size(), Timeline::kSlots);
  EXPECT_EQ(requests.front(), 6u);
  EXPECT_EQ(requests.back(), Timeline::kSlots + 5);
  EXPECT_EQ(Timeline::kEvery * Timeline::kSlots, Duration(std::chrono::hours(1)));
}

}  // namespace
}  // namespace armgate
