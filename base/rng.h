// rng.h – small deterministic random numbers (xoshiro256**, seeded by splitmix64; Blackman and Vigna, public domain
// algorithms). Not for secrets: those come from OpenSSL.
//
// Why: retries need jitter and the simulator needs to replay it, so randomness is passed in like time.
#pragma once

#include <array>
#include <cstdint>

namespace armgate {

class Rng {
 public:
  explicit Rng(uint64_t seed) {
    for (auto& word : state_) {
      seed += 0x9e3779b97f4a7c15ULL;
      uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      word = z ^ (z >> 31);
    }
  }

  uint64_t next() {
    const uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // In [0, bound); 0 for bound 0. The bias of the modulo is below 2^-32 for every bound used here.
  uint64_t below(uint64_t bound) { return bound == 0 ? 0 : next() % bound; }

  // In [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  bool chance(double probability) { return unit() < probability; }

 private:
  static uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  std::array<uint64_t, 4> state_{};
};

}  // namespace armgate
