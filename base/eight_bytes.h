// eight_bytes.h – ASCII text eight bytes at a time, for texts that are long enough for it to matter: ids and paths.
#pragma once

#include <cstdint>
#include <cstring>

namespace armgate::eight_bytes {

inline constexpr uint64_t kHighBits = 0x8080808080808080ULL;

// The same byte eight times.
constexpr uint64_t all(char c) { return 0x0101010101010101ULL * static_cast<unsigned char>(c); }

inline uint64_t load(const char* from) {
  uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

inline void store(uint64_t word, char* to) { std::memcpy(to, &word, sizeof word); }

// One of the high bits of the result is set if any byte is below `c`, or is `c`. One may be set although none is: beside such a
// byte, or for a byte that is not ASCII.
constexpr uint64_t any_below(uint64_t word, char c) { return (word - all(c)) | word; }
constexpr uint64_t any_equal(uint64_t word, char c) { return ((word ^ all(c)) - all('\x01')) & ~(word ^ all(c)); }

// With every capital letter lowered.
constexpr uint64_t lowered(uint64_t word) {
  const uint64_t seven_bits = word & ~kHighBits;
  const uint64_t from_a = seven_bits + all(static_cast<char>(0x80 - 'A'));
  const uint64_t beyond_z = seven_bits + all(static_cast<char>(0x80 - 'Z' - 1));
  return word | (from_a & ~beyond_z & ~word & kHighBits) >> 2;
}

}  // namespace armgate::eight_bytes
