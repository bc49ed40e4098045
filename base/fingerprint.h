// fingerprint.h – tells at a fraction of a keyed hash's cost whether a text is the same as the one before.
//
// Why: a connection sends the same token with every request, and of a token nothing may be kept between them (promise P8). The
// sum is NH, with words of 64 bits (Black, Halevi, Krawczyk, Krovetz, Rogaway: "UMAC: Fast and Secure Message Authentication",
// CRYPTO 1999, theorem 4.2): whatever two texts of one length are chosen, they have the same sum under 2^-64 of all keys. That
// counts as long as nobody is shown a sum: it is for comparing within one connection, and no key of a table.
// Threads   immutable after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/hash.h"

namespace armgate {

struct Fingerprint {
  Hash128 sum{};
  size_t bytes = 0;
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

class Fingerprinter {
 public:
  explicit Fingerprinter(const Hasher& hasher);

  // Of a longer text than the key, which hardly any token is, the sum is its keyed hash.
  Fingerprint of(std::string_view text) const;

 private:
  static constexpr size_t kWords = 512;
  static constexpr size_t kBlock = 16;  // bytes: two words, which are multiplied

  const Hasher hasher_;
  std::array<uint64_t, kWords> key_{};
};

}  // namespace armgate
