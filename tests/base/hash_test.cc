#include "base/hash.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace armgate {
namespace {

HashKey reference_key() { return HashKey{0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL}; }

std::string reference_input(size_t length) {
  std::string text;
  for (size_t i = 0; i < length; ++i) text.push_back(static_cast<char>(i));
  return text;
}

// Goal: our SipHash-2-4-128 is the published one. Method: first rows of vectors_sip128 of the reference code
// (github.com/veorq/SipHash, vectors.h), written there as little-endian bytes.
TEST(Hasher, AgreesWithTheReferenceVectors) {
  const Hasher hasher(reference_key());
  const Hash128 empty = hasher.hash("");
  EXPECT_EQ(empty.low, 0xe6a825ba047f81a3ULL);
  EXPECT_EQ(empty.high, 0x930255c71472f66dULL);
  const Hash128 one = hasher.hash(reference_input(1));
  EXPECT_EQ(one.low, 0x44af996bd8c187daULL);
  EXPECT_EQ(one.high, 0x45fc229b11597634ULL);
}

TEST(Hasher, FieldBoundariesCount) {
  const Hasher hasher(reference_key());
  EXPECT_NE(hasher.hash_fields("ab", "c"), hasher.hash_fields("a", "bc"));
  EXPECT_NE(hasher.hash_fields("ab", ""), hasher.hash_fields("ab"));
  EXPECT_EQ(hasher.hash_fields("ab", "c"), hasher.hash_fields("ab", "c"));
}

TEST(Hasher, LengthsUpToTwoBlocksAllDiffer) {
  const Hasher hasher(reference_key());
  std::set<Hash128> seen;
  for (size_t length = 0; length <= 17; ++length) seen.insert(hasher.hash(std::string(length, '\0')));
  EXPECT_EQ(seen.size(), 18u);
}

TEST(Hash128, HexIsHighThenLow) {
  EXPECT_EQ((Hash128{0x0123456789abcdefULL, 0xfedcba9876543210ULL}).hex(), "0123456789abcdeffedcba9876543210");
}

}  // namespace
}  // namespace armgate
