// Several replicas and one log: each comes to the same tables, and whoever is granted a key knows all that was told before.
#include "proxy/cluster/replica.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "proxy/async/spawn.h"
#include "tests/proxy/cluster/replica_rig.h"

namespace armgate::cluster {
namespace {

using std::chrono::seconds;

// Named, as g++ 12 takes a list within an awaited call for an array.
const std::vector<rules::LockKey> kKeys{{"/r", rules::LockMode::Exclusive}};

using Rig = ReplicaRig;

// A write that asks for a key, holds it for a while once it is granted, and says when.
struct Writer {
  std::string name;
  std::vector<std::string>* order = nullptr;
  int* holding = nullptr;
  Duration holds = seconds(1);
  std::optional<WriteLease> lease{};
};

Task<void> write(Rig& rig, Rig::Process& process, std::shared_ptr<Writer> writer) {
  Waiter waiter(rig.loop.get_executor());
  ClaimInfo info;
  info.client_label = writer->name;
  auto place = co_await process.replica.claim(kKeys, info, &waiter, 1, rig.loop.get_executor(), rig.clock.now() + seconds(100));
  EXPECT_TRUE(place.has_value());
  while (place && !place->position.granted()) co_await waiter.wait();
  if (!place) co_return;
  WriteLease lease = place->position.into_lease();
  EXPECT_EQ((*writer->holding)++, 0) << writer->name << " went beside another";
  writer->order->push_back(writer->name);
  co_await rig.clock.sleep_for(writer->holds);
  --*writer->holding;
}

TEST(ClusterReplica, WhoAsksFirstGoesFirstWhereverItAsks) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Rig rig(seed);
    for (int i = 0; i < 3; ++i) rig.begin();
    std::vector<std::string> order;
    std::vector<std::string> asked;
    int holding = 0;
    Rng rng(seed);
    for (int i = 0; i < 9; ++i) {
      const auto writer = std::make_shared<Writer>(Writer{std::to_string(i), &order, &holding});
      spawn(rig.loop.get_executor(), write(rig, *rig.processes[rng.below(3)], writer));
      asked.push_back(writer->name);
      rig.pass(std::chrono::milliseconds(1'500));  // longer than a lost reply
    }
    rig.pass(seconds(30));
    EXPECT_EQ(order, asked) << "seed " << seed;
    for (const auto& process : rig.processes) EXPECT_EQ(process->locks.counts().keys, 0u) << "seed " << seed;
  }
}

TEST(ClusterReplica, TwoNeverHoldAKeyAtOnceHoweverTheyAsk) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Rig rig(seed);
    for (int i = 0; i < 3; ++i) rig.begin();
    std::vector<std::string> order;
    int holding = 0;
    Rng rng(seed);
    for (int i = 0; i < 12; ++i) {
      const auto writer =
          std::make_shared<Writer>(Writer{std::to_string(i), &order, &holding, std::chrono::milliseconds(rng.below(40))});
      spawn(rig.loop.get_executor(), write(rig, *rig.processes[rng.below(3)], writer));
      if (rng.chance(0.5)) rig.pass(std::chrono::milliseconds(rng.below(20)));
    }
    rig.pass(seconds(60));
    EXPECT_EQ(order.size(), 12u) << "seed " << seed;
  }
}

policy::StateShown shown_to(Hash128 client, const Moment& at) {
  policy::StateShown shown;
  shown.client = client;
  shown.asked = at.order;
  shown.at = at;
  shown.etag = "\"1\"";
  return shown;
}

constexpr Hash128 kResource{5, 5};
constexpr Hash128 kClient{9, 9};

const policy::Observation* observation(Rig::Process& process) {
  return process.resources.ask(kResource, [](const policy::History& history) -> const policy::Observation* {
    const policy::ClientRecord* record = history.client(kClient);
    return record == nullptr || record->shown.empty() ? nullptr : &record->shown.back();
  });
}

TEST(ClusterReplica, WhatWasShownIsKnownEverywhereInOneOrder) {
  Rig rig;
  auto& first = rig.begin();
  auto& second = rig.begin();
  first.resources.apply(kResource, shown_to(kClient, first.clock.next_moment()));
  EXPECT_EQ(observation(first), nullptr) << "nothing is known before it stands in the log";
  rig.pass(seconds(2));
  ASSERT_NE(observation(first), nullptr);
  ASSERT_NE(observation(second), nullptr);
  EXPECT_EQ(observation(first)->last_shown.order, observation(second)->last_shown.order);
  EXPECT_GT(second.clock.next_moment().order, observation(second)->last_shown.order);
}

// A read that was asked for between two rows has the last order of the row before, beyond all that its own process gives meanwhile.
TEST(ClusterReplica, AReadThatWasUnderWayWhileAnotherWroteIsNotNewerThanThatWrite) {
  Rig rig;
  auto& first = rig.begin();
  auto& second = rig.begin();
  first.resources.apply(kResource, shown_to(kClient, first.clock.next_moment()));
  rig.pass(seconds(2));
  policy::StateShown slow = shown_to(kClient, {});
  slow.asked = last_order_in(first.replica.applied());
  policy::WriteAccepted accepted;
  accepted.at = second.clock.next_moment();
  second.resources.apply(kResource, accepted);
  slow.at = first.clock.next_moment();
  ASSERT_GT(slow.asked, slow.at.order);
  rig.pass(seconds(2));
  first.resources.apply(kResource, slow);
  rig.pass(seconds(2));
  for (auto* process : {&first, &second}) {
    const uint64_t asked = observation(*process)->last_asked;
    const auto is_later = [&](const policy::History& history) {
      return history.written_since(asked, [](const policy::Entry&) { return false; });
    };
    EXPECT_TRUE(process->resources.ask(kResource, is_later));
  }
}

Task<void> flush(Rig& rig, Rig::Process& process, std::shared_ptr<std::optional<uint64_t>> order) {
  process.replica.post(Finished{});
  *order = co_await process.replica.flush(rig.loop.get_executor(), rig.clock.now() + seconds(9));
}

// An answer of the engine may get lost, and what is told in the second until it is asked again is no part of it.
TEST(ClusterReplica, AFlushIsAtTheOrderOfItsRowHoweverLateThatIsKnown) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Rig rig(seed);
    auto& first = rig.begin();
    auto& second = rig.begin();
    second.resources.apply(kResource, shown_to(kClient, second.clock.next_moment()));
    rig.pass(seconds(5));
    ASSERT_NE(observation(first), nullptr) << "seed " << seed;
    const uint64_t before = observation(first)->last_shown.order;
    const auto order = std::make_shared<std::optional<uint64_t>>();
    spawn(rig.loop.get_executor(), flush(rig, first, order));
    rig.pass(std::chrono::milliseconds(100));
    second.resources.apply(kResource, shown_to(kClient, second.clock.next_moment()));
    rig.pass(seconds(9));
    ASSERT_TRUE(order->has_value()) << "seed " << seed;
    EXPECT_LT(before, **order);
    EXPECT_GE(observation(first)->last_shown.order, **order) << "seed " << seed;
  }
}

TEST(ClusterReplica, APlaceThatIsPolledIsThereWhenItStandsInTheLogAndGivenUpWithItsPoll) {
  Rig rig;
  auto& first = rig.begin();
  auto& second = rig.begin();
  ComingPosition poll = first.replica.claim_to_poll(kKeys, ClaimInfo());
  EXPECT_FALSE(poll().has_value());
  const auto abandoned = second.replica.claim_to_poll(kKeys, ClaimInfo());
  rig.pass(seconds(2));
  std::optional<QueuePosition> place = poll();
  ASSERT_TRUE(place.has_value());
  EXPECT_TRUE(place->granted());
  EXPECT_FALSE(poll().has_value()) << "it is given once";
  { const auto late = second.replica.claim_to_poll(kKeys, ClaimInfo()); }
  rig.pass(seconds(2));
  EXPECT_EQ(second.locks.counts().waiting, 1u) << "the one that is polled still; the other was given up before it was there";
  place.reset();
  rig.pass(seconds(2));
  EXPECT_EQ(first.locks.counts().waiting, 0u);
}

TEST(ClusterReplica, ReadsForWhichThereIsNoRoomAreSaidToBeMissing) {
  Rig rig;
  auto& first = rig.begin();
  auto& second = rig.begin();
  for (size_t i = 0; i <= Replica::Options().queue_max; ++i) {
    first.resources.apply(kResource, shown_to(kClient, first.clock.next_moment()));
  }
  rig.pass(seconds(30));
  EXPECT_NE(observation(second), nullptr);
  for (auto* process : {&first, &second}) {
    EXPECT_GT(process->resources.ask(kResource, [](const policy::History& history) { return history.clients_forgotten(); }),
              0u);
  }
}

// Clients poll on while the engine is away.
TEST(ClusterReplica, WhatIsPolledIsToldInBoundsOnly) {
  Rig rig;
  Replica& replica = rig.begin().replica;
  const Replica::Options bounds;
  for (size_t i = 0; i < 2 * bounds.queue_max; ++i) replica.post(OwnedPolled{kResource, kClient});
  EXPECT_EQ(replica.counts().waiting, bounds.queue_max);
  EXPECT_TRUE(replica.takes_more()) << "a write has a place";
  rig.pass(seconds(30));
  ASSERT_EQ(replica.counts().waiting, 0u);
  constexpr size_t kBody = 1u << 20;
  for (size_t i = 0; i < 200; ++i) replica.post(EndTold{"arm", "/operation", 200, std::string(kBody, 'x')});
  EXPECT_EQ(replica.counts().waiting, bounds.queue_bytes_max / kBody);
}

TEST(ClusterReplica, AnAnswerThatGotLostIsFoundByTheOrderThatItsReplicaHadGiven) {
  Rig rig;
  auto& first = rig.begin();
  auto& second = rig.begin();
  const Moment at = first.clock.next_moment();
  first.resources.apply(kResource, shown_to(kClient, at));
  first.resources.apply(kResource, policy::AnswerLost{kClient, at.order});
  rig.pass(seconds(2));
  EXPECT_TRUE(observation(first)->lost);
  EXPECT_TRUE(observation(second)->lost);
}

TEST(ClusterReplica, WhoeverBeginsLaterKnowsWhatWasBefore) {
  Rig rig;
  auto& first = rig.begin();
  first.resources.apply(kResource, shown_to(kClient, first.clock.next_moment()));
  rig.pass(seconds(2));
  EXPECT_NE(observation(rig.begin()), nullptr);
}

Task<void> intend(Rig& rig, Rig::Process& process, std::shared_ptr<std::optional<WriteLease>> kept) {
  Waiter waiter(rig.loop.get_executor());
  auto place =
      co_await process.replica.claim(kKeys, ClaimInfo(), &waiter, 1, rig.loop.get_executor(), rig.clock.now() + seconds(9));
  EXPECT_TRUE(place && place->position.granted());
  *kept = place->position.into_lease();
  Intended intended;
  intended.claim = (*kept)->kept_as();
  intended.write.resource = "/r";
  EXPECT_TRUE(co_await process.replica.intend(std::move(intended), rig.loop.get_executor(), rig.clock.now() + seconds(9)));
}

TEST(ClusterReplica, WhatADeadReplicaHadSentIsAdoptedWithItsKeysAndWhatItWaitedForIsFree) {
  Rig rig;
  auto& dead = rig.begin();
  auto& heir = rig.begin();
  const auto kept = std::make_shared<std::optional<WriteLease>>();
  spawn(rig.loop.get_executor(), intend(rig, dead, kept));
  rig.pass(seconds(3));
  std::vector<std::string> order;
  int holding = 0;
  spawn(rig.loop.get_executor(), write(rig, dead, std::make_shared<Writer>(Writer{"waits at the dead", &order, &holding})));
  rig.pass(seconds(1));
  spawn(rig.loop.get_executor(), write(rig, heir, std::make_shared<Writer>(Writer{"waits", &order, &holding})));
  rig.pass(seconds(2));
  dead.member->leave();
  rig.pass(seconds(8));
  EXPECT_TRUE(heir.adopted.empty()) << "its membership lease is not over";
  rig.pass(seconds(5));
  ASSERT_EQ(heir.adopted.size(), 1u);
  EXPECT_EQ(heir.adopted[0].write.resource, "/r");
  EXPECT_TRUE(order.empty()) << "the keys of what may be at ARM were given away";
  heir.adopted.clear();
  rig.pass(seconds(3));
  EXPECT_EQ(order, std::vector<std::string>{"waits"});
}

TEST(ClusterReplica, WhoWasTakenForDeadEnds) {
  Rig rig;
  auto& cut = rig.begin();
  rig.begin();
  rig.pass(seconds(2));
  cut.member->cut_off(seconds(20));
  rig.pass(seconds(9));
  EXPECT_FALSE(cut.replica.may_send()) << "it stops before the others may take over";
  EXPECT_FALSE(cut.was_ended);
  rig.pass(seconds(5));
  EXPECT_TRUE(cut.replica.is_apart());
  rig.pass(seconds(10));
  EXPECT_TRUE(cut.was_ended);
}

TEST(ClusterReplica, NobodyIsDeadBecauseTheEngineWasAway) {
  Rig rig;
  auto& first = rig.begin();
  auto& second = rig.begin();
  rig.pass(seconds(2));
  rig.log.away(seconds(60));
  rig.pass(seconds(30));
  EXPECT_TRUE(first.replica.is_apart());
  rig.pass(seconds(60));
  EXPECT_FALSE(first.was_ended || second.was_ended);
  EXPECT_TRUE(first.replica.may_send() && second.replica.may_send());
}

TEST(ClusterReplica, AnAbortIsToldToTheOthers) {
  Rig rig;
  auto& tells = rig.begin();
  auto& other = rig.begin();
  tells.replica.post(AbortTaken{kResource});
  rig.pass(seconds(2));
  EXPECT_EQ(other.aborts, std::vector<Hash128>{kResource});
  EXPECT_TRUE(tells.aborts.empty());
}

TEST(ClusterReplica, AnUnlockIsAskedOfTheOthers) {
  Rig rig;
  auto& asks = rig.begin();
  auto& other = rig.begin();
  asks.replica.post(UnlockAsked{kResource, "ops"});
  rig.pass(seconds(2));
  EXPECT_EQ(other.unlocks, std::vector<std::string>{"ops"});
  EXPECT_TRUE(asks.unlocks.empty()) << "it has done its own part";
}

}  // namespace
}  // namespace armgate::cluster
