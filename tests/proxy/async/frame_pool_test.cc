// Goal: what came back last is given out first, of the same size only, and a thread keeps no more than it may. Method: blocks are told
// apart by their addresses.
#include "proxy/async/frame_pool.h"

#include <gtest/gtest.h>

#include <vector>

namespace armgate {
namespace {

TEST(FramePool, GivesOutFirstWhatCameBackLast) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers are to see every frame by itself";
#endif
  void* const first = FramePool::take(1000);
  void* const second = FramePool::take(1000);
  void* const other = FramePool::take(100);
  FramePool::give_back(first, 1000);
  FramePool::give_back(second, 1000);
  FramePool::give_back(other, 100);
  void* const second_again = FramePool::take(990);
  void* const first_again = FramePool::take(1000);
  void* const other_again = FramePool::take(65);
  EXPECT_TRUE(second_again == second) << "of the same size but for what is rounded up";
  EXPECT_TRUE(first_again == first);
  EXPECT_TRUE(other_again == other);
  FramePool::give_back(first_again, 1000);
  FramePool::give_back(second_again, 1000);
  FramePool::give_back(other_again, 100);
}

TEST(FramePool, KeepsNoMoreThanItsLimit) {
  std::vector<void*> frames(2'000);
  for (auto& frame : frames) frame = FramePool::take(2'000);
  for (auto& frame : frames) FramePool::give_back(frame, 2'000);
  EXPECT_LE(FramePool::bytes_kept(), (1u << 20) + 4096);
  void* const large = FramePool::take(100'000);
  const size_t before = FramePool::bytes_kept();
  FramePool::give_back(large, 100'000);
  EXPECT_EQ(FramePool::bytes_kept(), before);
}

}  // namespace
}  // namespace armgate
