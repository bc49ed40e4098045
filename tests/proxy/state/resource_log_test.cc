#include "proxy/state/resource_log.h"

#include <gtest/gtest.h>

#include <string>

namespace armgate {
namespace {

constexpr Hash128 kMine{1, 1};
constexpr Hash128 kTheirs{2, 2};
constexpr Hash128 kMyBytes{10, 10};
constexpr Hash128 kTheirBytes{20, 20};
const std::string kGroup = "/subscriptions/s/resourcegroups/g";
const std::string kNet = kGroup + "/providers/microsoft.network/virtualnetworks/v";

const Hasher kHasher(HashKey{1, 2});

Hash128 key(std::string_view id) { return kHasher.hash(id); }

Moment at(uint64_t order) { return {order, TimePoint{std::chrono::seconds(order)}}; }

struct Log : ResourceLog {
  explicit Log(size_t resources_max = 1'000'000) : ResourceLog({resources_max}, kHasher) {}
  bool finished_since(uint64_t since, std::optional<Hash128> own = {}) const {
    return other_finished_since(key(kNet), kMyBytes, since, own);
  }
  bool accepted_since(uint64_t since, std::optional<Hash128> own = {}) const {
    return other_accepted_since(key(kNet), kMyBytes, since, own);
  }
};

// ---- the blind rule

TEST(ResourceLog, KnowsNothingOfAResourceThatNobodyWrote) {
  const Log log;
  EXPECT_FALSE(log.finished_since(0));
  EXPECT_FALSE(log.accepted_since(0));
  EXPECT_EQ(log.created_at(key(kGroup)), std::nullopt);
}

TEST(ResourceLog, AnotherWriteCountsFromItsAcceptanceAndFromItsEnd) {
  Log log;
  log.accepted(key(kNet), kTheirs, kTheirBytes, at(10));
  EXPECT_TRUE(log.accepted_since(9));
  EXPECT_FALSE(log.accepted_since(10));
  EXPECT_FALSE(log.finished_since(0)) << "it still runs";
  log.finished(key(kNet), kTheirBytes, at(20));
  EXPECT_TRUE(log.finished_since(19));
  EXPECT_FALSE(log.finished_since(20));
}

TEST(ResourceLog, TheSameBytesAreNotAnotherWriteAndOneActorsOwnAreNotEither) {
  Log log;
  log.accepted(key(kNet), kMine, kMyBytes, at(10));
  log.finished(key(kNet), kMyBytes, at(11));
  EXPECT_FALSE(log.finished_since(0));
  log.accepted(key(kNet), kMine, kTheirBytes, at(12));
  log.finished(key(kNet), kTheirBytes, at(13));
  EXPECT_TRUE(log.finished_since(0)) << "the same client may hide several actors";
  EXPECT_FALSE(log.finished_since(0, kMine));
  EXPECT_TRUE(log.finished_since(0, kTheirs));
}

TEST(ResourceLog, TellsTheWriteOfAChildFromOneOfTheResource) {
  Log log;
  log.accepted(key(kNet), kTheirs, kTheirBytes, at(10));
  EXPECT_FALSE(log.child_accepted_since(key(kNet), 0));
  log.accepted(key(kNet), kMine, kMyBytes, at(20), {}, ResourceLog::Write::Of::Child);
  EXPECT_TRUE(log.child_accepted_since(key(kNet), 19));
  EXPECT_FALSE(log.child_accepted_since(key(kNet), 20));
  for (uint64_t i = 1; i <= 17; ++i) log.accepted(key(kNet), kMine, {i, i}, at(20 + i));
  EXPECT_TRUE(log.child_accepted_since(key(kNet), 19)) << "what is forgotten may have been one";
}

TEST(ResourceLog, OfTwoRunningWritesOfTheSameBytesEachEndsOnce) {
  Log log;
  log.accepted(key(kNet), kTheirs, kTheirBytes, at(1));
  log.accepted(key(kNet), kMine, kTheirBytes, at(2));
  log.finished(key(kNet), kTheirBytes, at(3));
  log.finished(key(kNet), kTheirBytes, at(4));
  EXPECT_TRUE(log.finished_since(3));
  EXPECT_FALSE(log.finished_since(4));
}

TEST(ResourceLog, WhatItForgotMakesTheBlindRuleRefuse) {
  Log log;
  for (uint64_t i = 1; i <= 17; ++i) log.accepted(key(kNet), kMine, {i, i}, at(i));
  EXPECT_TRUE(log.accepted_since(0, kMine)) << "the first of seventeen is forgotten: it may have been anybody's";
  EXPECT_FALSE(log.accepted_since(1, kMine));
}

TEST(ResourceLog, AnEndWhoseBeginningWasForgottenCountsAsAnothers) {
  Log log;
  log.finished(key(kNet), kMyBytes, at(5));
  EXPECT_TRUE(log.finished_since(4, kMine));
  EXPECT_FALSE(log.finished_since(5, kMine));
}

// ---- eviction

TEST(ResourceLog, IsBoundedAndAForgottenResourceMakesTheBlindRuleRefuse) {
  Log log(64);  // one per shard
  log.accepted(key(kNet), kTheirs, kTheirBytes, at(1));
  log.finished(key(kNet), kTheirBytes, at(2));
  for (uint64_t i = 0; i < 2000; ++i) log.accepted(key("/r" + std::to_string(i)), kTheirs, kTheirBytes, at(100 + i));
  EXPECT_LE(log.size(), 64u);
  EXPECT_TRUE(log.finished_since(1)) << "its write is forgotten, not undone";
  EXPECT_TRUE(log.accepted_since(0));
  EXPECT_FALSE(log.finished_since(5000)) << "nothing that was forgotten is as new as that";
}

TEST(ResourceLog, AResourceThatComesBackAfterEvictionRemembersThatSomethingWasForgotten) {
  Log log(64);
  log.accepted(key(kNet), kTheirs, kTheirBytes, at(1));
  for (uint64_t i = 0; i < 2000; ++i) log.created(key("/r" + std::to_string(i)), at(100 + i));
  log.accepted(key(kNet), kMine, kMyBytes, at(5000));
  EXPECT_TRUE(log.accepted_since(0, kMine));
  EXPECT_FALSE(log.accepted_since(4999, kMine));
}

TEST(ResourceLog, TheLeastRecentlyChangedGoesFirst) {
  Log log(128);  // two per shard
  log.deleted(key(kNet), {}, at(1));
  for (uint64_t i = 0; i < 2000; ++i) {
    log.accepted(key(kNet), kMine, kMyBytes, at(10 + 2 * i));
    log.accepted(key("/r" + std::to_string(i)), kTheirs, kTheirBytes, at(11 + 2 * i));
  }
  EXPECT_EQ(log.last_delete({kNet, "microsoft.network/virtualnetworks"}).when.order, 1u);
}

// ---- deletes and creations

TEST(ResourceLog, ADeleteConcernsAllThatWasBelow) {
  Log log;
  const arm::ResourceId subnet{kNet + "/subnets/a", "microsoft.network/virtualnetworks/subnets"};
  EXPECT_EQ(log.last_delete(subnet).when.order, 0u);
  log.deleted(key(kGroup), {}, at(5));
  EXPECT_EQ(log.last_delete(subnet).when.order, 5u);
  log.deleted(key(kNet), {}, at(9));
  EXPECT_EQ(log.last_delete(subnet).when.order, 9u);
  log.deleted(key(kGroup), {}, at(7));
  EXPECT_EQ(log.last_delete(subnet).when.order, 9u) << "the newest counts";
  EXPECT_EQ(log.last_delete({kGroup + "2", "microsoft.resources/resourcegroups"}).when.order, 0u);
}

TEST(ResourceLog, ACreationIsEvidenceUntilADeleteIsAccepted) {
  Log log;
  log.created(key(kGroup), at(5));
  EXPECT_EQ(log.created_at(key(kGroup)), at(5).time);
  log.being_deleted(key(kGroup));
  EXPECT_EQ(log.created_at(key(kGroup)), std::nullopt);
  log.created(key(kGroup), at(8));
  EXPECT_EQ(log.created_at(key(kGroup)), at(8).time);
  log.deleted(key(kGroup), {}, at(9));
  EXPECT_EQ(log.created_at(key(kGroup)), std::nullopt);
  log.being_deleted(key("/unknown"));
  EXPECT_EQ(log.size(), 1u) << "asking about the unknown leaves nothing behind";
}

TEST(ResourceLog, TheSameBytesOfAnotherActorOfOneClientAreAnotherWrite) {
  ResourceLog log({}, kHasher);
  log.accepted(key(kNet), kMine, kMyBytes, at(10), Hash128{7, 1});
  EXPECT_FALSE(log.others_accepted_since(key(kNet), kMine, Hash128{7, 1}, 5)) << "its own earlier sending";
  EXPECT_TRUE(log.others_accepted_since(key(kNet), kMine, Hash128{8, 1}, 5));
  EXPECT_TRUE(log.others_accepted_since(key(kNet), kTheirs, Hash128{7, 1}, 5)) << "bindings are numbered by client";
  EXPECT_FALSE(log.others_accepted_since(key(kNet), kMine, Hash128{8, 1}, 10));
}

}  // namespace
}  // namespace armgate
