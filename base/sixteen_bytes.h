// sixteen_bytes.h – text sixteen bytes at a time, for what every request is looked through for.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace armgate::sixteen_bytes {

// Comparing one gives a block again, with all bits of each byte set for which it holds.
using Block [[gnu::vector_size(16)]] = uint8_t;

inline Block load(const char* from) {
  Block block;
  std::memcpy(&block, from, sizeof block);
  return block;
}

// A comparison as two words, the first bytes in the low bits of the first.
template <class Comparison>
std::array<uint64_t, 2> words_of(const Comparison& comparison) {
  return std::bit_cast<std::array<uint64_t, 2>>(comparison);
}

// Whether a comparison holds for no byte of a text, nor for a space.
template <class Compare>
bool has_none(std::string_view text, Compare compare) {
  const auto is_clean = [&](const char* from) {
    const auto words = words_of(compare(load(from)));
    return (words[0] | words[1]) == 0;
  };
  if (text.size() < sizeof(Block)) {
    std::array<char, sizeof(Block)> padded;
    padded.fill(' ');
    std::memcpy(padded.data(), text.data(), text.size());
    return is_clean(padded.data());
  }
  for (size_t at = 0; at + sizeof(Block) < text.size(); at += sizeof(Block)) {
    if (!is_clean(text.data() + at)) return false;
  }
  return is_clean(text.data() + text.size() - sizeof(Block));  // some of it for the second time
}

// The bytes that are not printable ASCII.
inline auto not_printable(Block block) { return (block < ' ') | (block > '~'); }

}  // namespace armgate::sixteen_bytes
