#include "proxy/state/client_table.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
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

// It was told to come again.
void begin_write(ClientState& state) {
  SendingLedger::Arrival arrival;
  arrival.at = {1, kStart};
  state.sendings().end(state.sendings().add(arrival).sending, {SendingLedger::Ending::Kind::Expected, nullptr, {}},
                       {2, kStart});
}

void list(ClientState& state, std::string bytes, Moment when) {
  KeptPage page;
  page.scope = {"/subscriptions/s", "microsoft.network/virtualnetworks"};
  page.shown = when;
  page.body = std::make_shared<policy::KeptBody>(policy::KeptBody{std::move(bytes)});
  state.record_page(std::move(page));
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
  begin_write(*table.find_or_add(client(1), kStart));
  begin_write(*table.find_or_add(client(2), kStart));
  table.find_or_add(client(3), kStart);
  EXPECT_EQ(table.size(), 3u);
  table.find_or_add(client(4), kStart + minutes(60));
  EXPECT_EQ(table.budget().clients_evicted.load(), 1u) << "clients that never come back must not fill the table";
}

TEST(ClientTable, AForgottenClientGivesItsBytesBack) {
  ClientTable table(small());
  list(*table.find_or_add(client(1), kStart), "12345", {1, kStart});
  EXPECT_GE(table.budget().page_bytes.load(), 5u);
  table.find_or_add(client(2), kStart + seconds(1));
  table.find_or_add(client(3), kStart + seconds(1));
  EXPECT_EQ(table.budget().page_bytes.load(), 0u);
}

TEST(ClientTable, WhoIsOnlyAskedAboutIsNotMade) {
  ClientTable table({});
  EXPECT_EQ(table.find(client(1)), nullptr);
  EXPECT_EQ(table.size(), 0u);
  const auto state = table.find_or_add(client(1), kStart);
  EXPECT_EQ(table.find(client(1)), state);
}

}  // namespace
}  // namespace armgate
