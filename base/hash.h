// hash.h – 128-bit keyed hashes (SipHash-1-3 with the 128-bit finalisation of the reference implementation).
//
// Why: keys of every shared table are hashes of bytes that a client chooses. A keyed hash of 128 bits means that no
// client can make two keys collide, and that a logged or stored hash of a token does not help to guess the token.
// Threads: a Hasher is immutable after construction.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace armgate {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;

  bool is_zero() const { return high == 0 && low == 0; }
  std::string hex() const;                                          // 32 lower-case digits
  std::string tag() const;                                          // for people: "#" and the first 8 of them
  static std::optional<Hash128> from_hex(std::string_view digits);  // of hex()

  // abseil's hash tables: the value is uniformly distributed already, one word of it is enough.
  template <class H>
  friend H AbslHashValue(H state, const Hash128& hash) {
    return H::combine(std::move(state), hash.low);
  }
};

// The 16-byte key of one process (random) or one simulation (from the seed).
struct HashKey {
  uint64_t first = 0;
  uint64_t second = 0;
};

class Hasher {
 public:
  explicit Hasher(HashKey key) : key_(key) {}

  Hash128 hash(std::string_view bytes) const;

  // The hash of several fields; each is prefixed by its length, so ("ab","c") and ("a","bc") differ.
  template <class... Parts>
  Hash128 hash_fields(const Parts&... parts) const {
    Hash128 combined{};
    ((combined = chain(combined, std::string_view(parts))), ...);
    return combined;
  }

  // The hash of an earlier hash and more bytes; the order of chaining matters.
  Hash128 chain(const Hash128& before, std::string_view bytes) const;
  Hash128 chain(const Hash128& before, const Hash128& more) const;

 private:
  HashKey key_;
};

}  // namespace armgate

template <>
struct std::hash<armgate::Hash128> {
  size_t operator()(const armgate::Hash128& h) const noexcept { return h.low; }
};
