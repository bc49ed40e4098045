// The tables that all event loops share, used from many threads at once as exchanges use them. Worth most under
// ThreadSanitizer (scripts/run_tests tsan): what they answer then is tested elsewhere.
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "proxy/async/spawn.h"
#include "proxy/state/client_table.h"
#include "proxy/state/hold_table.h"
#include "proxy/state/memory_store.h"
#include "proxy/state/resource_log.h"

namespace armgate {
namespace {

constexpr uint64_t kThreads = 4;
constexpr int kRounds = 1000;
constexpr TimePoint kStart{std::chrono::hours(100)};
constexpr char kToken[] = "Bearer e30.eyJvaWQiOiJvIn0.bmV3";  // {"oid":"o"}, unsigned

const std::string kScope = "/subscriptions/s/resourcegroups/g";
const std::string kType = "microsoft.network/virtualnetworks";

void run_on_threads(const std::function<void(Rng& rng)>& work) {
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= kThreads; ++seed) {
    threads.emplace_back([&work, seed] {
      Rng rng(seed);
      work(rng);
    });
  }
  for (auto& thread : threads) thread.join();
}

policy::Observation observation(Rng& rng, Moment when) {
  policy::Observation seen;
  seen.etag = std::to_string(rng.below(5));
  seen.body = std::make_shared<policy::KeptBody>(policy::KeptBody{"{\"state\":" + seen.etag + "}"});
  seen.target = "/r";
  seen.api_version = "2025-05-01";
  seen.delivery = {when, policy::DeliveryKind::PointRead, policy::Confirmation::Pending, {}, {}, false};
  return seen;
}

// One write from its binding to its end.
void write_once(ClientState& state, Rng& rng, const Hash128& resource, Moment when) {
  ArrivingWrite write;
  write.resource = resource;
  write.bytes = {7, rng.below(20)};
  write.facts.arrived = when;
  const uint64_t active = state.begin_write(resource, "id", when.time);
  const Bound bound = state.bind(write, {when.time, std::chrono::minutes(5), 0});
  if (rng.chance(0.2)) state.note_maybe_applied(bound.binding);
  if (rng.chance(0.2)) state.note_in_doubt(write.bytes, "id", resource, when);
  (void)state.maybe_applied(bound.binding);
  (void)state.doubt_of(write.bytes, "id", when.time);
  if (rng.chance(0.5))
    state.consume(resource, bound, {"id", "", when});
  else
    state.refuse(resource, bound.base);
  const bool answered = rng.chance(0.7);
  state.leave(bound.binding, answered ? BindingPhase::Written : BindingPhase::Expected, when.time);
  if (answered) state.confirm_written(bound.binding, ClientState::Final::Refused, when);
  state.end_write(resource, active);
}

void read_once(ClientState& state, Rng& rng, const Hash128& resource, Moment when) {
  const uint64_t order = state.record(resource, observation(rng, when), std::nullopt);
  (void)state.versions(resource);
  switch (rng.below(5)) {
    case 0: state.confirm(resource, order); break;
    case 1: state.bury(resource, when.order); break;
    case 2: state.record_absent(resource, observation(rng, when).delivery); break;
    case 3: state.record_not_modified(resource, "1", "2025-05-01", observation(rng, when).delivery); break;
    default: state.resolve_doubts(resource, when);
  }
  KeptPage page;
  page.scope = {kScope, kType};
  page.api_version = "2025-05-01";
  page.delivery = observation(rng, when).delivery;
  page.body = std::make_shared<policy::KeptBody>(policy::KeptBody{R"({"value":[]})"});
  state.record_page(std::move(page));
  for (const auto& kept : state.pages_for({kScope + "/providers/" + kType + "/v", kType}, resource)) {
    state.index_page(kept.delivery.at.order, kept.body, std::make_shared<PageIndex>());
  }
  state.confirm_page(when.order);
}

TEST(TablesStress, OneClientsMemoryIsUsedByManyExchanges) {
  ClientTable::Options options;
  options.clients_max = 3;
  options.client.body_bytes_max = 300;
  options.client.pages_max = 4;
  ClientTable table(options);
  std::atomic<uint64_t> order{1};
  run_on_threads([&](Rng& rng) {
    for (int i = 0; i < kRounds; ++i) {
      const Moment when{++order, kStart + std::chrono::seconds(i)};
      const auto state = table.find_or_add({rng.below(5), 1}, when.time);
      state->touch(when.time);
      const Hash128 resource{rng.below(3), 1};
      if (rng.chance(0.5))
        read_once(*state, rng, resource, when);
      else
        write_once(*state, rng, resource, when);
      (void)state->busy(when.time);
    }
  });
  EXPECT_LE(table.budget().body_bytes.load(), options.body_bytes_max);
  EXPECT_GT(table.budget().bodies_evicted.load(), 0u);
}

TEST(TablesStress, TheResourceLogIsWrittenAndAskedAtOnce) {
  const Hasher hasher(HashKey{1, 2});
  ResourceLog log({.resources_max = 64}, hasher);
  std::atomic<uint64_t> order{1};
  run_on_threads([&](Rng& rng) {
    for (int i = 0; i < kRounds * 3; ++i) {
      const std::string id = kScope + "/" + std::to_string(rng.below(100));
      const Hash128 resource = hasher.hash(id);
      const Hash128 client{rng.below(3), 0};
      const Hash128 bytes{rng.below(9), 0};
      const Moment when{++order, kStart};
      switch (rng.below(8)) {
        case 0: log.finished(resource, bytes, when); break;
        case 1: log.deleted(resource, client, when); break;
        case 2: log.being_deleted(resource); break;
        case 3: log.created(resource, when); break;
        case 4: (void)log.other_finished_since(resource, bytes, when.order, client); break;
        case 5: (void)log.last_delete({id, kType}); break;
        case 6: (void)log.created_at(resource); break;
        default: log.accepted(resource, client, bytes, when);
      }
    }
  });
  EXPECT_GT(log.size(), 0u);
}

// Many threads hold, find, renew and end; each hold ends exactly once.
TEST(TablesStress, AHoldEndsOnceHoweverManyPollsTellItsEnd) {
  LockTable locks({}, Hasher(HashKey{1, 2}));
  HoldTable table(Hasher(HashKey{1, 2}));
  boost::asio::io_context loop;
  std::atomic<int> opened{0};
  std::atomic<int> ended{0};
  const auto end_found = [&](Rng& rng) {
    for (const auto& match : table.find("management.azure.com", "/op/" + std::to_string(rng.below(8)), {})) {
      (void)match.hold->authorization();
      (void)match.hold->wanted();
      if (!match.hold->finish(arm::Progress{})) continue;
      ++ended;
      match.hold->release();
      table.close(match.hold);
    }
  };
  run_on_threads([&](Rng& rng) {
    for (int i = 0; i < kRounds; ++i) {
      auto place = locks.join({{std::to_string(rng.below(8)), rules::LockMode::Exclusive}}, {}, nullptr, 1);
      if (place.ok() && place->granted()) {
        HeldWrite write;
        write.planned.plan = std::make_shared<const KeyedPlan>();
        write.inherited = rng.chance(0.5);
        write.host = "management.azure.com";
        write.tracking = {arm::TrackedBy::StatusUrl, "https://management.azure.com/op/" + std::to_string(rng.below(8)), ""};
        write.client = {rng.below(2), 0};
        table.open(std::make_shared<Hold>(std::move(write), place->take(), kToken, loop.get_executor()));
        ++opened;
      }
      table.renew({rng.below(2), 0}, kToken);
      HoldTable::Loan loan;
      table.hurry({locks.key_of(std::to_string(rng.below(8)))}, kToken, loan);
      end_found(rng);
    }
  });
  Rng rng(1);
  while (!table.empty()) end_found(rng);
  EXPECT_EQ(opened.load(), ended.load());
  EXPECT_GT(opened.load(), 0);
  EXPECT_EQ(locks.counts().keys, 0u);
}

Task<void> record_often(MemoryStore& store, uint64_t id) {
  IntentRecord intent;
  intent.started.order = id;
  const auto recorded = co_await store.record_intent(intent);
  EXPECT_TRUE(recorded.ok());
  store.record_outcome(*recorded, {});
}

TEST(TablesStress, TheStoreTakesRecordsFromEveryLoop) {
  MemoryStore store;
  std::atomic<uint64_t> ids{0};
  run_on_threads([&](Rng&) {
    boost::asio::io_context loop;
    for (int i = 0; i < kRounds; ++i) spawn(loop.get_executor(), record_often(store, ++ids));
    loop.run();
    EXPECT_LE(store.unfinished_count(), kThreads) << "each thread has one open at most";
  });
  EXPECT_EQ(store.unfinished_count(), 0u);
}

// The sender and the receiver of a signal are on different loops, as a grant's giver and taker are.
Task<void> answer_signals(Waiter& mine, Waiter& other, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await mine.wait();
    other.signal(1);
  }
}

TEST(TablesStress, SignalsCrossFromLoopToLoop) {
  boost::asio::io_context left;
  boost::asio::io_context right;
  Waiter to_left(left.get_executor());
  Waiter to_right(right.get_executor());
  spawn(left.get_executor(), answer_signals(to_left, to_right, kRounds));
  spawn(right.get_executor(), answer_signals(to_right, to_left, kRounds));
  to_left.signal(1);
  std::thread other([&] { right.run(); });
  left.run();
  other.join();
}

}  // namespace
}  // namespace armgate
