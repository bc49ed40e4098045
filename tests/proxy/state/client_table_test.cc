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
  state.sendings().end(state.sendings().add(arrival), {SendingLedger::Ending::Kind::Expected, nullptr, {}}, {2, kStart});
}

void list(ClientState& state, std::string bytes, Moment when) {
  ListAnswer page;
  page.scope = {"/subscriptions/s", "microsoft.network/virtualnetworks"};
  page.shown = when;
  page.body = std::make_shared<policy::KeptBody>(policy::KeptBody{std::move(bytes), false, false});
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

TEST(ClientTable, WhatWhoNeverComesBackLeftGoesAsLongAsOthersCome) {
  ClientTable table({});
  const auto gone = table.find_or_add(client(1), kStart);
  begin_write(*gone);
  const auto others_come = [&](TimePoint from) {
    for (int i = 0; i < 16; ++i) table.find_or_add({7, 7}, from + i * seconds(4));
  };
  others_come(kStart);
  EXPECT_EQ(gone->sendings().size(), 1u);
  others_come(kStart + minutes(6));
  EXPECT_EQ(gone->sendings().size(), 0u) << "nobody waits for its re-send any more";
  EXPECT_EQ(table.size(), 2u);
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

// A history knows a write by its client and its number, for longer than its client is known.
TEST(ClientTable, NoNumberOfASendingComesBackAfterItsClientWasForgotten) {
  ClientTable table(small());
  const auto next = [&](TimePoint now) { return table.find_or_add(client(1), now)->sendings().next_id(); };
  begin_write(*table.find_or_add(client(1), kStart));
  const uint64_t before = next(kStart);
  for (uint64_t other = 2; other <= 4; ++other) table.find_or_add(client(other), kStart + minutes(60));
  ASSERT_EQ(table.find(client(1)), nullptr);
  EXPECT_GE(next(kStart + minutes(60)), before);
}

TEST(ClientTable, AForgottenClientGivesItsBytesBack) {
  ClientTable table(small());
  list(*table.find_or_add(client(1), kStart), "12345", {1, kStart});
  EXPECT_GE(table.budget().page_bytes.load(), 5u);
  table.find_or_add(client(2), kStart + seconds(1));
  table.find_or_add(client(3), kStart + seconds(1));
  EXPECT_EQ(table.budget().page_bytes.load(), 0u);
}

TEST(ClientTable, AClientThatComesBackMayHaveBeenShownListsBefore) {
  ClientTable table(small());
  list(*table.find_or_add(client(1), kStart), "12345", {7, kStart});
  EXPECT_EQ(table.find_or_add(client(2), kStart + seconds(1))->pages_forgotten(), 0u);
  table.find_or_add(client(3), kStart + seconds(2));
  ASSERT_EQ(table.find(client(1)), nullptr);
  EXPECT_EQ(table.find_or_add(client(1), kStart + seconds(3))->pages_forgotten(), 7u)
      << "else its write of a list's item would pass for one of somebody who has never read it";
  EXPECT_EQ(table.find_or_add({1, 1}, kStart)->pages_forgotten(), 0u) << "in another shard";
}

TEST(ClientTable, PagesOfWhoHasNotBeenHereForLongestMakeRoomForThoseOfWhoIs) {
  auto options = small();
  options.page_bytes_max = 100'000;
  ClientTable table(options);
  for (uint64_t i = 1; i <= 30; ++i) {
    list(*table.find_or_add({i, i}, kStart + seconds(i)), std::string(5'000, 'x'), {i, kStart + seconds(i)});
    EXPECT_LE(table.budget().page_bytes.load(), 100'000u);
    EXPECT_EQ(table.find({i, i})->counts().pages, 1u) << "of the one that was shown it just now";
  }
  EXPECT_EQ(table.find({1, 1})->counts().pages, 0u);
  EXPECT_EQ(table.find({1, 1})->pages_forgotten(), 1u);
  EXPECT_EQ(table.find({29, 29})->counts().pages, 1u);
}

TEST(ClientTable, AloneAClientLosesItsOldestPagesOnly) {
  auto options = small();
  options.page_bytes_max = 100'000;
  ClientTable table(options);
  for (uint64_t i = 1; i <= 9; ++i) {
    list(*table.find_or_add(client(1), kStart + seconds(i)), std::string(20'000, static_cast<char>('a' + i)), {i, kStart});
  }
  EXPECT_GE(table.find(client(1))->counts().pages, 3u);
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
