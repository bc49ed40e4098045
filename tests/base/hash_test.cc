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

// Goal: our SipHash is the published one, with one compression round, three finalisation rounds and 128 bits. Method: what
// `openssl mac -macopt size:16 -macopt c-rounds:1 -macopt d-rounds:3 SIPHASH` gives, as little-endian words.
TEST(Hasher, AgreesWithAnotherImplementation) {
  const Hasher hasher(reference_key());
  EXPECT_EQ(hasher.hash(""), (Hash128{0x013030dd6adb62fdULL, 0xbea58827b2bc7ee7ULL}));
  EXPECT_EQ(hasher.hash(reference_input(1)), (Hash128{0x63f02f2bcc73055eULL, 0xa8edd36004376ffcULL}));
  EXPECT_EQ(hasher.hash(reference_input(17)), (Hash128{0xecf7bdfee8125197ULL, 0x8d66bb3ff9264123ULL}));
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
  EXPECT_EQ((Hash128{0x0123456789abcdefULL, 1}).tag(), "#01234567");
}

TEST(Hash128, IsReadBackFromItsDigitsOnly) {
  const Hash128 hash{0x0123456789abcdefULL, 0x10};
  EXPECT_EQ(Hash128::from_hex(hash.hex()), hash);
  for (const char* wrong :
       {"", "0123456789abcdeffedcba987654321", "0123456789abcdeffedcba98765432100", "0123456789abcdeffedcba987654321g",
        "+123456789abcdeffedcba9876543210", " 123456789abcdef-edcba9876543210"}) {
    EXPECT_EQ(Hash128::from_hex(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace armgate
