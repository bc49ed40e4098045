// Goal: the cost of a process is read right, whatever its name holds. Method: lines of /proc, and this process itself.
#include "bench/load/process_cost.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace armgate::load {
namespace {

TEST(ProcessCost, TheTimesAreTheFourteenthAndFifteenthField) {
  const auto cost = parse_stat("12 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 1 0 99", 100);
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->user_us, 2'500'000);
  EXPECT_EQ(cost->system_us, 500'000);
}

TEST(ProcessCost, WhatIsNoSuchLineIsNothing) {
  for (const char* text : {"", "12", "12 (name", "12 (name) S 1 2"}) EXPECT_FALSE(parse_stat(text, 100)) << text;
}

TEST(ProcessCost, AProcessThatIsNotThereIsRefused) {
  const auto meter = ProcessMeter::open(999'999'999);
  ASSERT_FALSE(meter.ok());
  EXPECT_EQ(meter.error().context, "pid=999999999: there is no such process");
}

TEST(ProcessCost, OneselfHasMemory) {
  const auto meter = ProcessMeter::open(::getpid());
  ASSERT_TRUE(meter.ok());
  EXPECT_GT(meter->resident_kb(), 1000u);
}

}  // namespace
}  // namespace armgate::load
