#include "proxy/net/client/body_room.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace armgate::net {
namespace {

constexpr size_t kLarge = kSmallBody + 1000;

TEST(BodyRoom, LargeBodiesAreCountedAsTheyGrowAndGivenBack) {
  BodyRoom room(10 * kLarge);
  {
    BodyShare share(&room);
    EXPECT_TRUE(share.grow_to(kLarge));
    EXPECT_EQ(room.held(), kLarge);
    EXPECT_TRUE(share.grow_to(kLarge + 5));
    EXPECT_EQ(room.held(), kLarge + 5);
    BodyShare other(&room);
    EXPECT_TRUE(other.grow_to(kLarge));
    EXPECT_EQ(room.held(), 2 * kLarge + 5);
    other.give_back();
    other.give_back();
    EXPECT_EQ(room.held(), kLarge + 5);
  }
  EXPECT_EQ(room.held(), 0u);
}

TEST(BodyRoom, SmallOnesAreNot) {
  BodyRoom room(0);
  BodyShare share(&room);
  EXPECT_TRUE(share.grow_to(kSmallBody));
  EXPECT_EQ(room.held(), 0u);
  EXPECT_FALSE(share.grow_to(kSmallBody + 1));
}

TEST(BodyRoom, WhatFindsNoRoomTakesNoneAndLeavesTheOthersTheirs) {
  BodyRoom room(2 * kLarge);
  BodyShare one(&room), two(&room);
  EXPECT_TRUE(one.grow_to(kLarge));
  EXPECT_TRUE(two.grow_to(kLarge));
  EXPECT_FALSE(two.grow_to(kLarge + 1));
  EXPECT_EQ(room.held(), 2 * kLarge);
  EXPECT_FALSE(one.grow_to(kLarge + 1));
  one.give_back();
  EXPECT_TRUE(two.grow_to(2 * kLarge));
}

TEST(BodyRoom, WithoutOneThereIsRoomForEverything) {
  BodyShare share(nullptr);
  EXPECT_TRUE(share.grow_to(size_t{1} << 40));
}

TEST(BodyRoom, IsNeverOverfullWhateverTheThreadsDo) {
  BodyRoom room(3 * kLarge);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&room] {
      for (int round = 0; round < 2000; ++round) {
        BodyShare share(&room);
        share.grow_to(kLarge);
        share.grow_to(2 * kLarge);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(room.held(), 0u);
}

}  // namespace
}  // namespace armgate::net
