// Goal: the numbers come up as often as the distribution says. Method: many draws, compared with the formula.
#include "bench/load/zipf.h"

#include <gtest/gtest.h>

#include <vector>

namespace armgate::load {
namespace {

std::vector<double> shares(size_t n, double exponent) {
  const Zipf zipf(n, exponent);
  Rng rng(3);
  std::vector<double> counts(n);
  for (int i = 0; i < 200'000; ++i) counts.at(zipf.next(rng)) += 1.0 / 200'000;
  return counts;
}

TEST(Zipf, ExponentZeroIsUniform) {
  for (const double share : shares(10, 0)) EXPECT_NEAR(share, 0.1, 0.005);
}

TEST(Zipf, ExponentOneHalvesFromTheFirstToTheSecond) {
  const auto share = shares(4, 1);  // 1, 1/2, 1/3, 1/4 of 25/12
  EXPECT_NEAR(share[0], 12.0 / 25, 0.01);
  EXPECT_NEAR(share[1], 6.0 / 25, 0.01);
  EXPECT_NEAR(share[2], 4.0 / 25, 0.01);
  EXPECT_NEAR(share[3], 3.0 / 25, 0.01);
}

TEST(Zipf, OneResourceIsAlwaysTheFirst) {
  const Zipf zipf(1, 1.2);
  Rng rng(1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(zipf.next(rng), 0u);
}

TEST(Zipf, TheSameSeedGivesTheSameNumbers) {
  const Zipf zipf(1000, 0.9);
  Rng one(5), two(5);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(zipf.next(one), zipf.next(two));
}

}  // namespace
}  // namespace armgate::load
