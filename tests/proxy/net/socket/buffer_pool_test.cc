// Goal: spares are few and small, and carry nothing from one connection to the next.
#include "proxy/net/socket/buffer_pool.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace armgate::net {
namespace {

TEST(BufferPool, KeepNothingLargeAndNotTooMany) {
  const size_t none = std::string().capacity();
  std::string large(16 * 1024, 'x');
  BufferPool::give_back(large);
  EXPECT_EQ(large.capacity(), none);
  std::vector<std::string> many(500);
  for (auto& text : many) text = BufferPool::take();
  for (auto& text : many) {
    BufferPool::give_back(text);
    EXPECT_EQ(text.capacity(), none);
  }
}

TEST(BufferPool, GivesWhatCameBackLastFirstAndEmpty) {
  std::string first = BufferPool::take();
  std::string second = BufferPool::take();
  first = "Authorization: Bearer x";
  const char* const place = first.data();
  BufferPool::give_back(second);
  BufferPool::give_back(first);
  const std::string again = BufferPool::take();
  EXPECT_EQ(again.data(), place);
  EXPECT_TRUE(again.empty());
  EXPECT_EQ(std::string(again.data(), 23), std::string(23, '\0')) << "wiped";
}

}  // namespace
}  // namespace armgate::net
