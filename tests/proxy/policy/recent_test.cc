#include "proxy/policy/recent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "base/rng.h"

namespace armgate::policy {
namespace {

// Goal: it is a queue like any other, from both ends. Method: the same steps as with a std::deque.
TEST(Recent, IsAQueueWithRoomForLateComers) {
  Rng rng(1);
  Recent<int> recent;
  std::deque<int> like;
  for (int step = 0; step < 5000; ++step) {
    if (!like.empty() && rng.below(100) < 48) {
      recent.pop_front();
      like.pop_front();
    } else {
      const size_t back = rng.below(std::min<size_t>(3, like.size() + 1));
      recent.insert(recent.end() - static_cast<std::ptrdiff_t>(back), step);
      like.insert(like.end() - static_cast<std::ptrdiff_t>(back), step);
    }
    ASSERT_EQ(recent.size(), like.size());
    ASSERT_TRUE(std::equal(recent.begin(), recent.end(), like.begin(), like.end())) << "step " << step;
    ASSERT_TRUE(std::equal(recent.rbegin(), recent.rend(), like.rbegin(), like.rend())) << "step " << step;
    if (like.empty()) continue;
    ASSERT_EQ(recent.front(), like.front());
    ASSERT_EQ(recent.back(), like.back());
    ASSERT_EQ(recent[like.size() / 2], like[like.size() / 2]);
  }
  EXPECT_GT(like.size(), 10u);
}

// Goal: what has gone keeps nothing alive.
TEST(Recent, WhatGoesIsFreedAtOnce) {
  Recent<std::shared_ptr<int>> recent;
  for (int i = 0; i < 64; ++i) recent.insert(recent.end(), std::make_shared<int>(i));
  const std::weak_ptr<int> first = recent.front();
  recent.pop_front();
  EXPECT_TRUE(first.expired());
  EXPECT_EQ(*recent.front(), 1);
}

}  // namespace
}  // namespace armgate::policy
