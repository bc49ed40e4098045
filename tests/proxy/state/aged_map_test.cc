// Goal: the bound holds, and what was used last is what stays.
#include "proxy/state/aged_map.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace armgate {
namespace {

using Map = AgedMap<int, std::string>;

bool always(int, const std::string&) { return true; }

std::string in_order(const Map& map) {
  std::string all;
  for (const auto& [key, value] : map) all += std::to_string(key) + value + " ";
  return all;
}

Map three() {
  Map map;
  map.add(1, "a");
  map.add(2, "b");
  map.add(3, "c");
  return map;
}

TEST(AgedMap, FindsWhatWasAddedAndNothingElse) {
  Map map = three();
  ASSERT_NE(map.find(2), nullptr);
  EXPECT_EQ(*map.find(2), "b");
  EXPECT_EQ(map.find(4), nullptr);
  EXPECT_EQ(map.use(4), nullptr);
  EXPECT_EQ(map.size(), 3u);
}

TEST(AgedMap, UsingMakesTheNewestAndLookingDoesNot) {
  Map map = three();
  EXPECT_NE(map.find(1), nullptr);
  EXPECT_EQ(in_order(map), "1a 2b 3c ");
  EXPECT_EQ(*map.use(1), "a");
  EXPECT_EQ(in_order(map), "2b 3c 1a ");
  EXPECT_EQ(*map.use(1), "a");
  EXPECT_EQ(in_order(map), "2b 3c 1a ");
}

TEST(AgedMap, TheOldestMakeRoomForOneMore) {
  Map map = three();
  map.use(1);
  EXPECT_TRUE(map.make_room(4, always));
  EXPECT_EQ(map.size(), 3u) << "there was room";
  EXPECT_TRUE(map.make_room(3, always));
  EXPECT_EQ(in_order(map), "3c 1a ");
  EXPECT_EQ(map.find(2), nullptr);
  EXPECT_TRUE(map.make_room(1, always));
  EXPECT_EQ(map.size(), 0u);
}

TEST(AgedMap, WhatMayNotGoStaysAndTheNextOldestGoes) {
  Map map = three();
  EXPECT_TRUE(map.make_room(3, [](int key, const std::string&) { return key != 1; }));
  EXPECT_EQ(in_order(map), "1a 3c ");
  EXPECT_FALSE(map.make_room(2, [](int, const std::string&) { return false; }));
  EXPECT_EQ(map.size(), 2u);
  EXPECT_FALSE(map.make_room(0, always)) << "nothing fits into no room";
}

TEST(AgedMap, ValuesStayWhereTheyAreAndNeedNotMove) {
  AgedMap<int, std::unique_ptr<int>> map;
  const auto* one = &map.add(1, std::make_unique<int>(7));
  for (int i = 2; i < 100; ++i) map.add(i, nullptr);
  map.use(1);
  EXPECT_EQ(map.find(1), one);
  EXPECT_EQ(**one, 7);
}

TEST(AgedMap, WhatWasErasedCanComeBack) {
  Map map = three();
  map.erase(2);
  map.erase(9);
  EXPECT_EQ(in_order(map), "1a 3c ");
  map.add(2, "d");
  EXPECT_EQ(in_order(map), "1a 3c 2d ");
}

}  // namespace
}  // namespace armgate
