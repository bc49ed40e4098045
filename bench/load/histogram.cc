#include "bench/load/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace armgate::load {

// Values below 2^7 have a bucket each; above, the highest 8 bits of a value name its bucket.
size_t Histogram::bucket_of(uint64_t nanoseconds) {
  const uint64_t value = std::min(nanoseconds, (uint64_t{1} << kValueBits) - 1);
  const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - kPartBits - 1);
  return (static_cast<size_t>(shift) << kPartBits) + static_cast<size_t>(value >> shift);
}

uint64_t Histogram::last_value_of(size_t bucket) {
  const size_t parts = size_t{1} << kPartBits;
  if (bucket < 2 * parts) return bucket;
  const size_t shift = (bucket >> kPartBits) - 1;
  return ((uint64_t{bucket} - (shift << kPartBits) + 1) << shift) - 1;
}

Histogram::Histogram() : buckets_(bucket_of(~uint64_t{0}) + 1) {}

void Histogram::record(Duration value) {
  value = std::max(value, Duration::zero());
  ++buckets_[bucket_of(static_cast<uint64_t>(value.count()))];
  ++count_;
  sum_ += static_cast<double>(value.count());
  max_ = std::max(max_, value);
}

void Histogram::add(const Histogram& other) {
  for (size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

Duration Histogram::mean() const { return Duration(count_ == 0 ? 0 : std::llround(sum_ / static_cast<double>(count_))); }

Duration Histogram::percentile(double percent) const {
  if (count_ == 0) return {};
  const double share = std::clamp(percent, 0.0, 100.0) / 100;
  const auto wanted = std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(share * static_cast<double>(count_) - 1e-9)));
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen >= wanted) return std::min(max_, Duration(static_cast<int64_t>(last_value_of(bucket))));
  }
  return max_;
}

}  // namespace armgate::load
