#include "proxy/state/memory_store.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "proxy/async/spawn.h"

namespace armgate {
namespace {

Task<void> record(MemoryStore& store, IntentId first, IntentId last, int& recorded) {
  for (IntentId id = first; id <= last; ++id) {
    IntentRecord intent;
    intent.id = id;
    OutcomeRecord outcome;
    outcome.id = id;
    outcome.kind = OutcomeKind::InDoubt;
    const auto intended = co_await store.record_intent(intent);
    const auto ended = co_await store.record_outcome(outcome);
    recorded += intended.ok() && ended.ok();
  }
}

int record_all(MemoryStore& store, IntentId first, IntentId last) {
  boost::asio::io_context io;
  int recorded = 0;
  spawn(io.get_executor(), record(store, first, last, recorded));
  io.run();
  return recorded;
}

TEST(MemoryStore, KeepsWhatItWasGivenInOrder) {
  MemoryStore store;
  EXPECT_EQ(record_all(store, 1, 3), 3);
  ASSERT_EQ(store.intents().size(), 3u);
  ASSERT_EQ(store.outcomes().size(), 3u);
  EXPECT_EQ(store.intents().front().id, 1u);
  EXPECT_EQ(store.outcomes().back().id, 3u);
  EXPECT_EQ(store.outcomes().back().kind, OutcomeKind::InDoubt);
}

Task<void> record_intent(MemoryStore& store, IntentId id) {
  IntentRecord intent;
  intent.id = id;
  const auto recorded = co_await store.record_intent(intent);
  EXPECT_TRUE(recorded.ok());
}

TEST(MemoryStore, KnowsWhatHasNoOutcomeYet) {
  MemoryStore store;
  record_all(store, 1, 2);
  boost::asio::io_context io;
  spawn(io.get_executor(), record_intent(store, 3));
  io.run();
  record_all(store, 4, 4);
  ASSERT_EQ(store.unfinished().size(), 1u);
  EXPECT_EQ(store.unfinished().front().id, 3u);
}

TEST(MemoryStore, ForgetsTheOldestBeyondItsBound) {
  MemoryStore store(2);
  EXPECT_EQ(record_all(store, 1, 5), 5);
  ASSERT_EQ(store.intents().size(), 2u);
  ASSERT_EQ(store.outcomes().size(), 2u);
  EXPECT_EQ(store.intents().front().id, 4u);
  EXPECT_EQ(store.outcomes().front().id, 4u);
}

}  // namespace
}  // namespace armgate
