#include "base/eight_bytes.h"

#include <gtest/gtest.h>

#include <string>

namespace armgate::eight_bytes {
namespace {

// `c` at this place among seven others.
std::string among(char c, size_t place, char others) {
  std::string text(8, others);
  text[place] = c;
  return text;
}

TEST(EightBytes, EveryByteIsLoweredAsAsciiSays) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    for (const char others : {'a', 'Z', '@', '[', '\xc4'}) {
      for (size_t place = 0; place < 8; ++place) {
        std::string text = among(c, place, others);
        store(lowered(load(text.data())), text.data());
        EXPECT_EQ(text, among(lower, place, others == 'Z' ? 'z' : others)) << byte << " at " << place << " among " << others;
      }
    }
  }
}

// The high bit of no byte may stay unset where there is one; that one is set for nothing is allowed beside it only.
TEST(EightBytes, NoByteIsOverlooked) {
  for (int byte = 0; byte < 128; ++byte) {
    const char c = static_cast<char>(byte);
    for (size_t place = 0; place < 8; ++place) {
      const uint64_t word = load(among(c, place, 'm').data());
      EXPECT_EQ((any_equal(word, '/') & kHighBits) != 0, c == '/') << byte << " at " << place;
      EXPECT_EQ((any_below(word, ' ') & kHighBits) != 0, c < ' ') << byte << " at " << place;
    }
  }
  EXPECT_NE(any_below(load("m\xc3\xa9mmmmm"), ' ') & kHighBits, 0u) << "what is not ASCII is for a closer look";
}

}  // namespace
}  // namespace armgate::eight_bytes
