// Goal: percentiles are right within the promised 1 %, at the edges of buckets too. Method: against sorted values.
#include "bench/load/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.h"

namespace armgate::load {
namespace {

TEST(Histogram, AnEmptyOneAnswersZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.percentile(99), Duration(0));
  EXPECT_EQ(histogram.mean(), Duration(0));
}

TEST(Histogram, EveryPercentileOfOneValueIsThatValue) {
  for (const int64_t value : {0, 1, 127, 128, 255, 256, 257, 65535, 65536, 1'000'000'007}) {
    Histogram histogram;
    histogram.record(Duration(value));
    for (const double percent : {0.0, 50.0, 100.0}) EXPECT_EQ(histogram.percentile(percent).count(), value) << percent;
  }
}

TEST(Histogram, SmallValuesAreExact) {
  Histogram histogram;
  for (int64_t value = 0; value < 256; ++value) histogram.record(Duration(value));
  EXPECT_EQ(histogram.percentile(50).count(), 127);
  EXPECT_EQ(histogram.percentile(100).count(), 255);
}

TEST(Histogram, PercentilesAreWithinOnePerCentOfTheSortedValues) {
  Rng rng(7);
  Histogram histogram;
  std::vector<int64_t> values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(static_cast<int64_t>(std::exp(rng.unit() * 25)));
    histogram.record(Duration(values.back()));
  }
  std::sort(values.begin(), values.end());
  for (const double percent : {1.0, 10.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
    const auto rank = static_cast<size_t>(std::ceil(percent / 100 * 20'000)) - 1;
    const auto exact = static_cast<double>(values[rank]);
    const auto told = static_cast<double>(histogram.percentile(percent).count());
    EXPECT_GE(told, exact) << percent;
    EXPECT_LE(told, exact * 1.01 + 1) << percent;
  }
}

TEST(Histogram, TwoPutTogetherAreLikeOne) {
  Histogram one, two, both;
  for (int64_t i = 1; i <= 1000; ++i) {
    (i % 3 == 0 ? one : two).record(Duration(i * 1000));
    both.record(Duration(i * 1000));
  }
  one.add(two);
  EXPECT_EQ(one.count(), both.count());
  EXPECT_EQ(one.mean(), both.mean());
  EXPECT_EQ(one.max(), both.max());
  for (const double percent : {1.0, 50.0, 99.0}) EXPECT_EQ(one.percentile(percent), both.percentile(percent));
}

TEST(Histogram, WhatIsBeyondTheLastBucketCountsAsTheLongest) {
  Histogram histogram;
  histogram.record(std::chrono::hours(100));
  histogram.record(Duration(-5));
  EXPECT_EQ(histogram.max(), std::chrono::hours(100));
  EXPECT_EQ(histogram.percentile(50), Duration(0));
  EXPECT_GT(histogram.percentile(100), std::chrono::hours(1));
}

}  // namespace
}  // namespace armgate::load
