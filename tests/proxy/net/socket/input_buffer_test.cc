// Goal: what arrived stands there in order until it is used, and costs nothing afterwards.
#include "proxy/net/socket/input_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace armgate::net {
namespace {

TEST(InputBuffer, HoldsNoMemoryOnceAllIsUsed) {
  InputBuffer first;
  first.append(std::string(1000, 'a'));
  const char* const place = first.bytes().data();
  first.consume(1000);
  InputBuffer second;
  second.append("b");
  EXPECT_EQ(second.bytes().data(), place);
  first.append("c");
  EXPECT_EQ(first.bytes(), "c");
  EXPECT_EQ(second.bytes(), "b");
}

TEST(InputBuffer, DoesNotPileUpWhatIsUsed) {
  InputBuffer buffer;
  buffer.append("x");
  const char* lowest = buffer.bytes().data();
  const char* highest = lowest;
  for (int i = 0; i < 1000; ++i) {
    buffer.append(std::string(100, 'y'));
    buffer.consume(100);
    EXPECT_EQ(buffer.bytes(), "y");
    lowest = std::min(lowest, buffer.bytes().data());
    highest = std::max(highest, buffer.bytes().data());
  }
  EXPECT_LT(highest - lowest, 1000);
}

TEST(InputBuffer, ForgetsWhatIsUsed) {
  InputBuffer buffer;
  buffer.append("abc");
  buffer.consume(1);
  buffer.append("de");
  EXPECT_EQ(buffer.bytes(), "bcde");
  buffer.consume(4);
  EXPECT_TRUE(buffer.empty());
  buffer.append("f");
  EXPECT_EQ(buffer.bytes(), "f");
}

}  // namespace
}  // namespace armgate::net
