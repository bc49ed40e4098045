// zipf.h – numbers 0..n-1 of which the small ones come up more often: number k with a chance proportional to
// 1 / (k + 1)^exponent. Exponent 0 is the uniform distribution.
//
// Why: some resources of an estate are touched far more often than others, and contention lives there.
// Limits    one pass over n at construction; one binary search for each number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rng.h"

namespace armgate::load {

class Zipf {
 public:
  // Requires: n > 0, exponent >= 0.
  Zipf(size_t n, double exponent);

  uint64_t next(Rng& rng) const;

 private:
  std::vector<double> up_to_;  // the chance that a number is at most this one
};

}  // namespace armgate::load
