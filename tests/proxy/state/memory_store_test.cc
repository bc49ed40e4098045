#include "proxy/state/memory_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "proxy/async/spawn.h"

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
  MemoryStore store(2);
  for (const IntentId id : {1, 2, 3, 4, 5}) run(intend(store, id));
  EXPECT_THAT(unfinished(store), testing::ElementsAre(4, 5));
}

}  // namespace
}  // namespace armgate
