#include "base/hash.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>

namespace armgate {
namespace {

uint64_t rotate(uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

uint64_t load_little_endian(const char* p) {
  uint64_t word = 0;
  std::memcpy(&word, p, sizeof word);  // the supported machines are little-endian; see the static_assert below
  return word;
}
static_assert(std::endian::native == std::endian::little, "load_little_endian copies words as they are");

struct SipState {
  uint64_t v0, v1, v2, v3;

  explicit SipState(HashKey key)
      : v0(key.first ^ 0x736f6d6570736575ULL),
        v1(key.second ^ 0x646f72616e646f6dULL ^ 0xee),  // 0xee selects the 128-bit output
        v2(key.first ^ 0x6c7967656e657261ULL),
        v3(key.second ^ 0x7465646279746573ULL) {}

  void round() {
    v0 += v1;
    v1 = rotate(v1, 13);
    v1 ^= v0;
    v0 = rotate(v0, 32);
    v2 += v3;
    v3 = rotate(v3, 16);
    v3 ^= v2;
    v0 += v3;
    v3 = rotate(v3, 21);
    v3 ^= v0;
    v2 += v1;
    v1 = rotate(v1, 17);
    v1 ^= v2;
    v2 = rotate(v2, 32);
  }

  // One round for a word and three at the end, not two and four: bodies and tokens are hashed with every request, and that
  // takes half as long. Without the key the best collision known for one round has probability 2^-167, less than chance gives
  // in 128 bits (Dobraunig, Mendel, Schlaeffer: "Differential Cryptanalysis of SipHash", 2014), and no hash is shown whole.
  void word(uint64_t m) {
    v3 ^= m;
    round();
    v0 ^= m;
  }

  void bytes(std::string_view text, uint64_t length_seen) {
    while (text.size() >= 8) {
      word(load_little_endian(text.data()));
      text.remove_prefix(8);
    }
    uint64_t last = (length_seen & 0xff) << 56;
    for (size_t i = 0; i < text.size(); ++i) {
      last |= static_cast<uint64_t>(static_cast<unsigned char>(text[i])) << (8 * i);
    }
    word(last);
  }

  uint64_t fold() {
    for (int i = 0; i < 3; ++i) round();
    return v0 ^ v1 ^ v2 ^ v3;
  }

  Hash128 finish() {
    v2 ^= 0xee;
    const uint64_t low = fold();
    v1 ^= 0xdd;
    const uint64_t high = fold();
    return Hash128{high, low};
  }
};

}  // namespace

std::string Hash128::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (int i = 0; i < 16; ++i) {
    text[15 - i] = kDigits[(high >> (4 * i)) & 0xf];
    text[31 - i] = kDigits[(low >> (4 * i)) & 0xf];
  }
  return text;
}

std::string Hash128::tag() const { return "#" + hex().substr(0, 8); }

std::optional<Hash128> Hash128::from_hex(std::string_view digits) {
  if (digits.size() != 32) return std::nullopt;
  Hash128 hash;
  const auto read = [&digits](size_t at, uint64_t& half) {
    const char* const end = digits.data() + at + 16;
    const auto [stopped, error] = std::from_chars(digits.data() + at, end, half, 16);
    return error == std::errc{} && stopped == end;
  };
  if (!read(0, hash.high) || !read(16, hash.low)) return std::nullopt;
  return hash;
}

Hash128 Hasher::hash(std::string_view bytes) const {
  SipState state(key_);
  state.bytes(bytes, bytes.size());
  return state.finish();
}

Hash128 Hasher::chain(const Hash128& before, std::string_view bytes) const {
  SipState state(key_);
  state.word(before.low);
  state.word(before.high);
  state.word(bytes.size());
  state.bytes(bytes, bytes.size());
  return state.finish();
}

Hash128 Hasher::chain(const Hash128& before, const Hash128& more) const {
  const auto bytes = std::bit_cast<std::array<char, sizeof more>>(more);
  return chain(before, std::string_view(bytes.data(), bytes.size()));
}

}  // namespace armgate
