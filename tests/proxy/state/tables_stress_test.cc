// The tables that all event loops share, used from many threads at once as exchanges use them. Worth most under
// ThreadSanitizer (scripts/run_tests tsan): what they answer then is tested elsewhere.
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "proxy/async/spawn.h"
#include "proxy/state/budgets.h"
#include "proxy/state/client_table.h"
#include "proxy/state/lock/operation_leases.h"
#include "proxy/state/memory_store.h"
#include "proxy/state/resource_table.h"

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

policy::SharedBody stress_body(std::string bytes) {
  return std::make_shared<policy::KeptBody>(policy::KeptBody{std::move(bytes)});
}

// One write from its arrival to the fate of its answer. Its waiter lives as long as it may be signalled.
void write_once(ClientState& state, Rng& rng, const Executor& executor, const Hash128& resource, Moment when) {
  SendingLedger& ledger = state.sendings();
  const auto presence = std::make_shared<Presence>();
  Waiter waiter(executor);
  SendingLedger::Arrival arrival{{7, rng.below(4)}, rng.chance(0.5) ? "id" : "", resource, when, presence, rng.chance(0.5)};
  SendingLedger::Questions ask;
  ask.written = [](uint64_t, uint64_t order) {
    return order % 2 == 0 ? SendingLedger::Since::Written : SendingLedger::Since::Nothing;
  };
  const auto found = ledger.match(arrival, &waiter, 1, ask);
  if (found.match == SendingLedger::Match::InDoubt) return;
  if (found.match == SendingLedger::Match::Shared) {
    const auto ending = ledger.ending(found.asking.sending);
    const bool has_answer = ending && ending->answer;
    EXPECT_TRUE(!has_answer || !ending->answer->body.empty());
    ledger.leave(found.asking.sending, &waiter, has_answer ? SendingLedger::With::Answer : SendingLedger::With::Nothing);
  } else {
    using End = SendingLedger::Ending::Kind;
    ledger.sent(found.asking.sending);
    if (rng.chance(0.2)) ledger.note_maybe_applied(found.asking.sending);
    if (rng.chance(0.2)) ledger.note_had_base(found.asking.sending);
    (void)ledger.maybe_applied(found.asking.sending);
    (void)ledger.note_visibility_try(found.asking.sending);
    auto answer = std::make_shared<arm::Response>();
    answer->body = std::string(1 + rng.below(50), 'x');
    constexpr End kinds[] = {End::Expected, End::Refused, End::Accepted, End::Accepted, End::InDoubt};
    ledger.end(found.asking, {kinds[rng.below(5)], rng.chance(0.8) ? answer : nullptr, "reason"}, when);
  }
  presence->gone = rng.chance(0.5);
  if (rng.chance(0.3)) ledger.written(found.asking);
  rng.chance(0.5) ? ledger.delivered(found.asking) : ledger.undelivered(found.asking);
}

void list_once(ClientState& state, Rng& rng, const Hash128& resource, Moment when) {
  ListAnswer page;
  page.scope = {kScope, kType};
  page.api_version = "2025-05-01";
  page.shown = when;
  page.body = stress_body("{\"value\":[" + std::to_string(rng.below(5)) + "]}");
  state.record_page(std::move(page));
  const arm::ResourceId id{kScope + "/providers/" + kType + "/v", kType};
  for (const auto& unread : state.unread_pages(id)) {
    auto index = std::make_shared<PageIndex>();
    if (rng.chance(0.8)) index->items[resource] = {0, 1};
    state.index_page(unread.shown, unread.body, std::move(index));
  }
  for (const auto& item : state.items_of(id, resource)) {
    EXPECT_FALSE(item.page->bytes.empty());
    if (rng.chance(0.5)) (void)state.note_taken(item.shown.order, resource);
  }
  if (rng.chance(0.2)) (void)state.page_lost(when.order - rng.below(4));
  if (rng.chance(0.05)) state.note_page_missed(when.order);
  (void)state.pages_forgotten();
}

TEST(TablesStress, OneClientsMemoryIsUsedByManyExchanges) {
  ClientTable::Options options;
  options.clients_max = 3;
  options.page_bytes_max = 10'000;
  options.client.page_bytes_max = 5'000;
  options.client.sendings.sendings_max = 8;
  options.client.sendings.bytes_max = 300;
  ClientTable table(options);
  boost::asio::io_context loop;
  std::atomic<uint64_t> order{1};
  run_on_threads([&](Rng& rng) {
    for (int i = 0; i < kRounds; ++i) {
      const Moment when{++order, kStart + std::chrono::seconds(i)};
      const auto state = table.find_or_add({rng.below(5), 1}, when.time);
      const Hash128 resource{rng.below(3), 1};
      if (rng.chance(0.3))
        list_once(*state, rng, resource, when);
      else
        write_once(*state, rng, loop.get_executor(), resource, when);
      state->sendings().resolve({rng.below(6), 1}, when);
      state->set_label(std::to_string(rng.below(2)));
      (void)state->label();
      (void)state->expire(when.time);
    }
  });
  EXPECT_LE(table.budget().page_bytes.load(), options.page_bytes_max);
  EXPECT_GT(table.budget().pages_evicted.load(), 0u);
}

// Of the exchanges that come with one request at the same time one runs, and all get its answer.
TEST(TablesStress, OneRequestRunsOnceHoweverManyThreadsBringIt) {
  SendingLedger ledger({});
  boost::asio::io_context loop;
  std::atomic<uint64_t> order{1};
  std::atomic<int> runs{0};
  run_on_threads([&](Rng&) {
    for (uint64_t request = 1; request <= kRounds; ++request) {
      Waiter waiter(loop.get_executor());
      const Moment when{++order, kStart};
      const SendingLedger::Arrival arrival{{request, 1}, "id", {1, 1}, when, std::make_shared<Presence>(), false};
      const auto found = ledger.match(arrival, &waiter, 1, {});
      if (found.match == SendingLedger::Match::Shared) {
        while (!ledger.ending(found.asking.sending)) std::this_thread::yield();
        EXPECT_TRUE(ledger.ending(found.asking.sending)->answer);
        ledger.leave(found.asking.sending, &waiter, SendingLedger::With::Answer);
        continue;
      }
      ++runs;
      EXPECT_EQ(found.match, SendingLedger::Match::New);
      ledger.sent(found.asking.sending);
      ledger.end(found.asking, {SendingLedger::Ending::Kind::Accepted, std::make_shared<arm::Response>(), ""}, when);
    }
  });
  EXPECT_EQ(runs.load(), kRounds);
}

policy::Event any_event(Rng& rng, const Hash128& client, Moment when) {
  const Hash128 bytes{rng.below(9), 0};
  switch (rng.below(10)) {
    case 0: return policy::OperationEnded{bytes, when};
    case 1: return policy::ResourceDeleted{client, when};
    case 2: return policy::WriteAccepted{policy::Cause::Written, client, bytes, {}, stress_body("{}"), when};
    case 3: return policy::WriteArrived{client, {rng.below(4), bytes, ""}, when.time};
    case 4:
    case 5: return policy::WriteLeft{client, rng.below(4)};
    case 6: return policy::AnswerLost{client, when.order - rng.below(4)};
    case 7: {
      policy::Refused refused{client, {}};
      refused.refusal.told = when.order;
      refused.refusal.requested_body = stress_body("asked");
      return refused;
    }
    default: {
      policy::StateShown shown;
      shown.client = client;
      shown.asked = when.order;
      shown.at = when;
      shown.etag = std::to_string(rng.below(5));
      shown.rendering = {"2025-05-01", stress_body("{\"state\":" + shown.etag + "}")};
      return shown;
    }
  }
}

TEST(TablesStress, TheHistoriesAreChangedAndAskedAtOnce) {
  const Hasher hasher(HashKey{1, 2});
  ResourceTable::Options options;
  options.resources_max = 64;
  options.body_bytes_max = 64 * 50;
  ResourceTable table(options, hasher);
  std::atomic<uint64_t> order{10};
  run_on_threads([&](Rng& rng) {
    for (int i = 0; i < kRounds * 3; ++i) {
      const std::string id = kScope + "/" + std::to_string(rng.below(100));
      const Hash128 resource = hasher.hash(id);
      const Hash128 client{rng.below(3), 0};
      const Moment when{++order, kStart};
      switch (rng.below(8)) {
        case 0: table.apply(resource, policy::ResourceDeleted{client, when}); break;
        case 1: table.apply(resource, policy::ResourceCreated{when.time}); break;
        case 2: (void)table.last_delete({id, kType}); break;
        case 3: table.ask(resource, [](const policy::History& history) { return history.created(); }); break;
        case 4:
          table.ask(resource, [&](const policy::History& history) {
            for (const auto& entry : history.entries()) EXPECT_LE(entry.number, order.load());
            return history.client(client) != nullptr;
          });
          break;
        default: table.apply(resource, any_event(rng, client, when));
      }
    }
  });
  const auto counts = table.counts();
  EXPECT_GT(counts.resources, 0u);
  EXPECT_GT(counts.bodies_evicted, 0u);
  EXPECT_LE(counts.body_bytes, options.body_bytes_max);
}

// Many threads hold, find, renew and end; each operation lease ends exactly once.
TEST(TablesStress, ALeaseEndsOnceHoweverManyPollsTellItsEnd) {
  LockTable locks({}, Hasher(HashKey{1, 2}));
  OperationLeases table(Hasher(HashKey{1, 2}));
  boost::asio::io_context loop;
  std::atomic<int> opened{0};
  std::atomic<int> ended{0};
  const auto end_found = [&](Rng& rng) {
    for (const auto& match : table.find("management.azure.com", "/op/" + std::to_string(rng.below(8)), {})) {
      (void)match.op_lease->authorization();
      (void)match.op_lease->has_waiter();
      if (!match.op_lease->finish(arm::Progress{})) continue;
      ++ended;
      match.op_lease->release();
      table.close(match.op_lease);
    }
  };
  run_on_threads([&](Rng& rng) {
    for (int i = 0; i < kRounds; ++i) {
      auto place = locks.join({{std::to_string(rng.below(8)), rules::LockMode::Exclusive}}, {}, nullptr, 1);
      if (place.ok() && place->granted()) {
        LeasedWrite write;
        write.planned.plan = std::make_shared<const KeyedPlan>();
        write.inherited = rng.chance(0.5);
        write.host = "management.azure.com";
        write.tracking = {arm::TrackedBy::StatusUrl, "https://management.azure.com/op/" + std::to_string(rng.below(8)), ""};
        write.client = {rng.below(2), 0};
        table.add(std::make_shared<OperationLease>(std::move(write), place->into_lease(), kToken, loop.get_executor()));
        ++opened;
      }
      table.renew_token({rng.below(2), 0}, kToken);
      OperationLeases::CredentialLoan loan;
      table.lend_credentials({locks.key_of(std::to_string(rng.below(8)))}, kToken, loan);
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

// Scarce for all of them at once: whoever asks first spends the one question that goes.
TEST(TablesStress, OneQuestionGoesHoweverManyThreadsAsk) {
  Budgets budgets({}, Hasher(HashKey{1, 2}));
  const Hash128 principal{1, 1};
  const auto target = [](uint64_t number) { return "/subscriptions/s" + std::to_string(number); };
  const auto tell = [&](uint64_t subscription, std::string_view left) {
    arm::ResponseHead head;
    head.fields.add("x-ms-ratelimit-remaining-subscription-reads", left);
    const std::string whose = target(subscription);
    budgets.note({principal, whose}, arm::Method::Get, head, {kStart, WallTime{}});
  };
  constexpr uint64_t kScarce = 50;
  for (uint64_t i = 0; i < kScarce; ++i) {
    tell(i, "250");
    tell(i, "20");
  }
  std::atomic<uint64_t> gone{0};
  run_on_threads([&](Rng& rng) {
    for (uint64_t i = 0; i < kRounds; ++i) {
      const std::string whose = target(i % kScarce);
      if (budgets.ask({principal, whose}, kStart) == kStart) ++gone;
      tell(kScarce + rng.below(Budgets::kKeptMax - kScarce), "9");
      EXPECT_LE(budgets.report(kStart).rows.size(), Budgets::kKeptMax);
    }
  });
  EXPECT_EQ(gone, kScarce);
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
