#include "proxy/state/client_table.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace armgate {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const TimePoint kStart{std::chrono::hours(10)};

// Hashes that fall into one shard of sixteen.
Hash128 client(uint64_t number) { return {16 * number, number}; }

ClientTable::Options small() {
  ClientTable::Options options;
  options.clients_max = 2 * 16;  // two per shard
  return options;
}

void begin_binding(ClientState& state) {
  ArrivingWrite write;
  write.facts.arrived = {1, kStart};
  const Bound bound = state.bind(write, {kStart, minutes(5), 0});
  state.leave(bound.binding, BindingPhase::Expected, kStart);
}

TEST(ClientTable, TheSameHashIsTheSameClient) {
  ClientTable table({});
  const auto one = table.find_or_add(client(1), kStart);
  EXPECT_EQ(table.find_or_add(client(1), kStart), one);
  EXPECT_NE(table.find_or_add(client(2), kStart), one);
  EXPECT_EQ(table.size(), 2u);
}

TEST(ClientTable, TheLeastRecentlyUsedIsForgottenAndCounted) {
  ClientTable table(small());
  const ClientState* first = table.find_or_add(client(1), kStart).get();
  table.find_or_add(client(2), kStart + seconds(1));
  EXPECT_EQ(table.find_or_add(client(1), kStart + seconds(2)).get(), first);
  table.find_or_add(client(3), kStart + seconds(3));
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(table.budget().clients_evicted.load(), 1u);
  EXPECT_EQ(table.find_or_add(client(1), kStart + seconds(4)).get(), first) << "it was used later than the second";
}

TEST(ClientTable, WhoIsServedIsNotForgotten) {
  ClientTable table(small());
  std::vector<std::shared_ptr<ClientState>> served;
  for (uint64_t i = 1; i <= 5; ++i) served.push_back(table.find_or_add(client(i), kStart));
  EXPECT_EQ(table.size(), 5u);
  served.clear();
  table.find_or_add(client(6), kStart);
  EXPECT_EQ(table.size(), 5u) << "one leaves for each that comes";
}

TEST(ClientTable, WhoIsExpectedAgainIsForgottenOnlyWhenItsGraceIsOver) {
  ClientTable table(small());
  begin_binding(*table.find_or_add(client(1), kStart));
  begin_binding(*table.find_or_add(client(2), kStart));
  table.find_or_add(client(3), kStart);
  EXPECT_EQ(table.size(), 3u);
  table.find_or_add(client(4), kStart + minutes(60));
  EXPECT_EQ(table.budget().clients_evicted.load(), 1u) << "clients that never come back must not fill the table";
}

TEST(ClientTable, AForgottenClientGivesItsBytesBack) {
  ClientTable table(small());
  policy::Observation seen;
  seen.etag = "a";
  seen.body = std::make_shared<policy::KeptBody>(policy::KeptBody{"12345"});
  seen.delivery.at = {1, kStart};
  table.find_or_add(client(1), kStart)->record({1, 1}, std::move(seen), std::nullopt);
  EXPECT_EQ(table.budget().body_bytes.load(), 5u);
  table.find_or_add(client(2), kStart + seconds(1));
  table.find_or_add(client(3), kStart + seconds(1));
  EXPECT_EQ(table.budget().body_bytes.load(), 0u);
}

void use_often(ClientTable& table, uint64_t seed) {
  for (uint64_t i = 0; i < 2000; ++i) {
    const auto state = table.find_or_add(client((i * seed) % 40), kStart + seconds(i));
    policy::Observation seen;
    seen.etag = std::to_string(i % 7);
    seen.body = std::make_shared<policy::KeptBody>(policy::KeptBody{"12345"});
    seen.delivery.at = {i, kStart + seconds(i)};
    state->record({i % 5, 1}, std::move(seen), std::nullopt);
  }
}

TEST(ClientTable, ManyThreadsUseItAtOnce) {
  auto options = small();
  options.body_bytes_max = 200;
  ClientTable table(options);
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 4; ++seed) threads.emplace_back(use_often, std::ref(table), seed);
  for (auto& thread : threads) thread.join();
  EXPECT_LE(table.budget().body_bytes.load(), 200u + 4 * 5);
}

}  // namespace
}  // namespace armgate
