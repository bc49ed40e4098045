#include "proxy/state/memory_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "proxy/async/spawn.h"
#include "proxy/policy/history.h"
#include "proxy/seams/which_writes.h"

namespace armgate {
namespace {

Task<void> intend(MemoryStore& store, IntentId id) {
  const std::string resource = "/subscriptions/" + std::to_string(id);
  IntentRecord intent;
  intent.started.order = id;
  intent.method = "PUT";
  intent.resource = resource;
  const auto recorded = co_await store.record_intent(intent);
  EXPECT_TRUE(recorded.ok());
  EXPECT_EQ(*recorded, id);
}

void end(MemoryStore& store, IntentId id) {
  WriteOutcome outcome;
  outcome.kind = OutcomeKind::InDoubt;
  store.record_outcome(id, outcome);
}

void run(Task<void> task) {
  boost::asio::io_context io;
  spawn(io.get_executor(), std::move(task));
  io.run();
}

std::vector<IntentId> unfinished(const MemoryStore& store) {
  std::vector<IntentId> ids;
  for (const auto& write : store.unfinished()) ids.push_back(std::stoull(write.resource.substr(write.resource.rfind('/') + 1)));
  EXPECT_EQ(store.unfinished_count(), ids.size());
  return ids;
}

TEST(MemoryStore, KnowsWhatHasNoOutcomeYetTheOldestFirst) {
  MemoryStore store;
  for (const IntentId id : {1, 2, 3, 4}) run(intend(store, id));
  end(store, 2);
  end(store, 9);  // never begun
  EXPECT_THAT(unfinished(store), testing::ElementsAre(1, 3, 4));
}

TEST(MemoryStore, AnOutcomeMayBeToldByAnotherThread) {
  MemoryStore store;
  run(intend(store, 2));
  std::thread([&store] {
    run(intend(store, 1));
    end(store, 2);
  }).join();
  EXPECT_THAT(unfinished(store), testing::ElementsAre(1));
  end(store, 1);
  EXPECT_THAT(unfinished(store), testing::IsEmpty());
}

TEST(MemoryStore, ForgetsTheOldestBeyondItsBound) {
  MemoryStore store({.open_max = 2, .kept = 1});
  for (const IntentId id : {1, 2, 3, 4, 5}) run(intend(store, id));
  EXPECT_THAT(unfinished(store), testing::ElementsAre(4, 5));
}

TEST(MemoryStore, WhatHasEndedIsToldUntilItsPlaceIsNeeded) {
  MemoryStore store({.open_max = 10, .kept = 2});
  for (const IntentId id : {1, 2}) run(intend(store, id));
  WriteOutcome taken;
  taken.status = 202;
  taken.is_running = true;
  store.record_outcome(1, taken);
  store.record_end(1, WallTime(std::chrono::milliseconds(5)), EndSeen::Yes, {arm::Progress::Failed, {"Bad", ""}});
  auto all = store.newest(10, {});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].write.id, 1u);
  EXPECT_EQ(all[1].write.result.how, arm::Progress::Failed);
  EXPECT_EQ(all[1].write.result.error.code, "Bad");
  EXPECT_EQ(store.newest(10, "/subscriptions/2").size(), 1u);
  run(intend(store, 3));
  all = store.newest(10, {});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].write.id, 2u) << "it is open";
}

TEST(MemoryStore, WhatDidNotTakeEffectIsLeftOutBeforeTheyAreCounted) {
  MemoryStore store({.open_max = 10, .kept = 10});
  for (const IntentId id : {1, 2, 3}) run(intend(store, id));
  WriteOutcome refused;
  refused.status = 412;
  store.record_outcome(2, refused);
  WriteOutcome not_sent;
  not_sent.kind = OutcomeKind::NotSent;
  store.record_outcome(3, not_sent);
  const auto all = store.newest(1, {}, WhichWrites::MayHaveWritten);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].write.id, 1u);
  EXPECT_TRUE(store.newest(1, "/subscriptions", WhichWrites::MayHaveWritten).empty()) << "it is below";
}

TEST(MemoryStore, AnEndThatIsToldBeforeTheOutcomeStands) {
  MemoryStore store({.kept = 10, .changes = 1});
  run(intend(store, 1));
  store.record_end(1, WallTime(std::chrono::milliseconds(5)), EndSeen::Yes, {arm::Progress::Canceled, {}});
  WriteOutcome taken;
  taken.status = 202;
  taken.is_running = true;
  store.record_outcome(1, taken);
  const auto all = store.newest(1, {});
  EXPECT_EQ(all.at(0).write.outcome->status, 202);
  EXPECT_EQ(all.at(0).write.result.how, arm::Progress::Canceled);
  EXPECT_FALSE(all.at(0).write.is_open());
}

TEST(MemoryStore, WhatAWriteAskedForIsToldAsLongAsSomebodyElseKeepsIt) {
  MemoryStore store({.kept = 10, .changes = 1});
  run(intend(store, 1));
  auto asked = policy::kept_body("{}");
  WriteOutcome taken;
  taken.change.requested_body = asked;
  store.record_outcome(1, taken);
  taken.change.requested_body.reset();
  EXPECT_NE(store.newest(1, {}).at(0).change.requested_body, nullptr);
  asked.reset();
  EXPECT_EQ(store.newest(1, {}).at(0).change.requested_body, nullptr);
}

}  // namespace
}  // namespace armgate
