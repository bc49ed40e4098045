#include "base/sixteen_bytes.h"

#include <gtest/gtest.h>

#include <string>

namespace armgate::sixteen_bytes {
namespace {

// Around one block and two: the last block is looked at from the text's end, some of it for the second time.
TEST(SixteenBytes, OneByteIsFoundAtEveryPlaceOfATextOfAnyLength) {
  for (size_t length = 0; length <= 40; ++length) {
    EXPECT_TRUE(has_none(std::string(length, 'a'), not_printable)) << length;
    for (size_t place = 0; place < length; ++place) {
      std::string text(length, 'a');
      text[place] = '\n';
      EXPECT_FALSE(has_none(text, not_printable)) << place << " of " << length;
    }
  }
}

TEST(SixteenBytes, PrintableIsWhatAsciiPrints) {
  for (int byte = 0; byte < 256; ++byte)
    EXPECT_EQ(has_none(std::string(1, static_cast<char>(byte)), not_printable), byte >= ' ' && byte <= '~') << byte;
}

TEST(SixteenBytes, TheFirstBytesStandInTheLowBitsOfTheFirstWord) {
  std::string text(16, 'x');
  text[1] = text[8] = ':';
  const auto words = words_of(load(text.data()) == ':');
  EXPECT_EQ(words[0], 0x000000000000ff00u);
  EXPECT_EQ(words[1], 0x00000000000000ffu);
}

}  // namespace
}  // namespace armgate::sixteen_bytes
