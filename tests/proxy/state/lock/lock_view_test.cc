// What the lock table tells: who stands in whose way, and which run leases it has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/state/lock/lock_table.h"

namespace armgate::lock_view_test {
namespace {

using rules::LockKey;
using rules::LockMode;
using testing::IsEmpty;

LockKey exclusive(std::string id) { return {std::move(id), LockMode::Exclusive}; }
LockKey shared(std::string id) { return {std::move(id), LockMode::Shared}; }

class LockView : public testing::Test {
 protected:
  QueuePosition join(const std::vector<LockKey>& keys, ClaimInfo info = {}) {
    auto place = locks.join(keys, std::move(info), nullptr, 0);
    EXPECT_TRUE(place.ok());
    return *std::move(place);
  }
  QueuePosition join_for_run(const std::vector<LockKey>& keys, std::string client_label) {
    ClaimInfo info;
    info.client_label = std::move(client_label);
    info.run_purpose = "a repair";
    return join(keys, std::move(info));
  }
  // Entry of the claim at place `i` in the order of arrival.
  LockTable::Entry told(size_t i) const {
    auto entries = locks.entries(100).oldest;
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
    EXPECT_LT(i, entries.size());
    return entries.at(i);
  }

  LockTable locks{{}, Hasher(HashKey{1, 2})};
};

TEST_F(LockView, TellsWhoStandsInTheWayOfWhom) {
  const WriteLease runs = join({exclusive("a"), shared("parent")}).into_lease();
  const auto second = join({exclusive("a"), shared("parent")});
  const auto third = join({exclusive("a"), exclusive("b")});
  const auto beside = join({shared("parent")});
  const auto last = join({exclusive("parent")});
  EXPECT_EQ(told(0).ahead, 0u);
  EXPECT_EQ(told(0).behind, 0u);
  EXPECT_EQ(told(1).ahead, 1u);
  EXPECT_EQ(told(1).behind, told(0).number);
  EXPECT_EQ(told(2).ahead, 2u) << "the holder, and who came before";
  EXPECT_EQ(told(2).behind, told(0).number);
  EXPECT_EQ(told(3).state, LockTable::Entry::State::Holds);
  EXPECT_EQ(told(3).ahead, 0u);
  EXPECT_EQ(told(4).ahead, 3u) << "two that share it now, and one that will";
  EXPECT_EQ(told(4).behind, told(0).number);
}

TEST_F(LockView, WhoWaitsForOneThatWaitsIsToldSo) {
  const WriteLease runs = join({exclusive("a")}).into_lease();
  const auto waits = join({exclusive("a"), exclusive("b")});
  const auto behind = join({exclusive("b")});
  const auto sharer = join({shared("b")});
  EXPECT_EQ(told(2).ahead, 1u);
  EXPECT_EQ(told(2).behind, told(1).number) << "nobody has b yet";
  EXPECT_EQ(told(3).ahead, 2u);
}

TEST_F(LockView, AllAreCountedByTheirStateAlsoThoseThatAreNotTold) {
  const WriteLease runs = join({exclusive("a"), exclusive("b")}).into_lease();
  const auto second = join({exclusive("a"), exclusive("b")});
  const auto third = join({exclusive("b")});
  auto away = join({exclusive("a")});
  away.yield();
  const LockTable::Entries entries = locks.entries(1);
  EXPECT_EQ(entries.oldest.size(), 1u);
  EXPECT_EQ(entries.others, 3u);
  EXPECT_EQ(entries.hold, 1u);
  EXPECT_EQ(entries.wait, 2u);
  EXPECT_EQ(entries.away, 1u);
}

TEST_F(LockView, WhoLetsOthersByStandsInNobodysWay) {
  const WriteLease runs = join({exclusive("a")}).into_lease();
  auto away = join({exclusive("a")});
  away.yield();
  const auto waits = join({exclusive("a")});
  EXPECT_EQ(told(1).state, LockTable::Entry::State::Away);
  EXPECT_EQ(told(1).ahead, 1u);
  EXPECT_EQ(told(2).ahead, 1u) << "the holder only";
}

TEST_F(LockView, LeasesForRunsAreToldWhetherTheyAreHeldOrWait) {
  const Hash128 a = locks.key_of("a"), b = locks.key_of("b");
  EXPECT_THAT(locks.run_leases_on(a), IsEmpty());
  const WriteLease held = join_for_run({exclusive("a"), exclusive("b")}, "first").into_lease();
  const auto waits = join_for_run({exclusive("a")}, "second");
  const auto write = join({exclusive("a")});
  const auto leases = locks.run_leases_on(a);
  ASSERT_EQ(leases.size(), 2u);
  EXPECT_EQ(leases[0].info.client_label, "first");
  EXPECT_EQ(leases[0].keys, (std::vector{std::min(a, b), std::max(a, b)}));
  EXPECT_EQ(leases[1].info.client_label, "second");
  EXPECT_EQ(leases[1].number, waits.number());
  EXPECT_LT(leases[0].number, leases[1].number);
  EXPECT_EQ(locks.run_leases_on(b).size(), 1u);
  EXPECT_EQ(told(0).phase, WritePhase::Runs) << "whichever process gave it";
}

TEST_F(LockView, WhatOtherProcessesKeepIsWhatTheyHaveAndTheirLeasesThatWait) {
  struct Keeper final : ClaimKeeper {
    uint64_t claim() const override { return 1; }
    void give_back(const std::vector<Hash128>&) override {}
    void admit_own(Own) override {}
    void yield() override {}
  };
  const Hash128 a = locks.key_of("a");
  EXPECT_FALSE(locks.is_kept_elsewhere(a));
  auto here = join({exclusive("a")});
  const auto owned = here.keep(std::make_shared<Keeper>());
  EXPECT_FALSE(locks.is_kept_elsewhere(a));
  {
    const auto write = join({exclusive("a")});
    EXPECT_FALSE(locks.is_kept_elsewhere(a)) << "it waits";
    const auto lease = join_for_run({exclusive("a")}, "run");
    EXPECT_TRUE(locks.is_kept_elsewhere(a)) << "an operator can end it there";
  }
  here.end_here();
  const auto write = join({exclusive("a")});
  EXPECT_TRUE(locks.is_kept_elsewhere(a));
}

}  // namespace
}  // namespace armgate::lock_view_test
