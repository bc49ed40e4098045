#include "bench/load/zipf.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace armgate::load {

Zipf::Zipf(size_t n, double exponent) : up_to_(n) {
  GATE_CHECK(n > 0 && exponent >= 0, "a distribution over nothing");
  double sum = 0;
  for (size_t k = 0; k < n; ++k) up_to_[k] = sum += std::pow(static_cast<double>(k + 1), -exponent);
  for (double& share : up_to_) share /= sum;
}

uint64_t Zipf::next(Rng& rng) const {
  const auto found = std::upper_bound(up_to_.begin(), up_to_.end(), rng.unit());
  return static_cast<uint64_t>(std::min(found, up_to_.end() - 1) - up_to_.begin());
}

}  // namespace armgate::load
