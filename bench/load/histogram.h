// histogram.h – latencies counted in buckets whose width grows with the value, so that every percentile is within 1 %.
//
// Why: a mean hides what users feel, and keeping every value of a long run costs more than the run. The buckets are
// those of HdrHistogram: powers of two, each cut into 128 equal parts.
// Limits    values from 0 to 2^42 ns (73 minutes); what is longer counts as that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace armgate::load {

class Histogram {
 public:
  Histogram();

  void record(Duration value);
  void add(const Histogram& other);

  uint64_t count() const { return count_; }
  Duration max() const { return max_; }
  Duration mean() const;

  // The smallest value that at least `percent` of all values do not exceed, rounded up to its bucket's end but never
  // beyond max(). Zero without values.
  Duration percentile(double percent) const;

 private:
  static constexpr int kPartBits = 7;
  static constexpr int kValueBits = 42;
  static size_t bucket_of(uint64_t nanoseconds);
  static uint64_t last_value_of(size_t bucket);

  std::vector<uint64_t> buckets_;
  uint64_t count_ = 0;
  double sum_ = 0;
  Duration max_{};
};

}  // namespace armgate::load
