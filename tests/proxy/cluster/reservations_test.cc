// A place that is kept for a client who was sent away is its at every replica (docs/design.md, "Queue reservations").
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/async/spawn.h"
#include "proxy/cluster/replica.h"
#include "tests/proxy/cluster/replica_rig.h"

namespace armgate::cluster::reservations_test {
namespace {

using std::chrono::seconds;
using Rig = ReplicaRig;

constexpr Hash128 kAway{9, 9}, kFirst{1, 1}, kLater{8, 8};
constexpr Hash128 kBytes{6, 6};
constexpr Hash128 kResource{5, 5};
const std::vector<rules::LockKey> kKeys{{"/r", rules::LockMode::Exclusive}};
const std::vector<rules::LockKey> kOtherKeys{{"/other", rules::LockMode::Exclusive}};

struct Asked {
  std::optional<Replica::ClaimAnswer> place{};
};

struct ClusterReservations : testing::Test {
  Task<void> ask(Rig::Process& process, std::vector<rules::LockKey> keys, ClaimInfo info, std::shared_ptr<Asked> asked) {
    asked->place = co_await process.replica.claim(keys, std::move(info), nullptr, 0, rig.loop.get_executor(),
                                                  rig.clock.now() + seconds(9));
  }
  std::shared_ptr<Asked> write(Rig::Process& process, const Hash128& client, const Hash128& bytes = kBytes,
                               const std::vector<rules::LockKey>& keys = kKeys) {
    auto asked = std::make_shared<Asked>();
    ClaimInfo info;
    info.client = client;
    info.resource = kResource;
    info.bytes = bytes;
    spawn(rig.loop.get_executor(), ask(process, keys, std::move(info), asked));
    rig.pass(seconds(2));
    return asked;
  }
  // As the end of its wait does.
  std::shared_ptr<Reservation> reserve(Rig::Process& process, Asked& asked) {
    QueuePosition position = std::move(asked.place->position);
    asked.place.reset();
    process.replica.post(Reserved{position.kept_as()});
    auto reservation = process.reservations.keep({kAway, kResource}, {kBytes, rig.clock.now(), rig.clock.now()},
                                                 std::move(position), rig.loop.get_executor());
    rig.pass(seconds(2));
    return reservation;
  }
  static bool is_granted(const std::shared_ptr<Asked>& asked) { return asked->place && asked->place->position.granted(); }
  void give_back(const std::shared_ptr<Asked>& asked) {
    asked->place.reset();
    rig.pass(seconds(2));
  }

  Rig rig;
  Rig::Process& kept = rig.begin();
  Rig::Process& met = rig.begin();
};

TEST_F(ClusterReservations, AreTakenThroughAnotherReplicaBeforeWhoCameLater) {
  const auto first = write(met, kFirst);
  const auto away = write(kept, kAway);
  const auto reservation = reserve(kept, *away);
  const auto later = write(met, kLater);
  EXPECT_EQ(reservation->state(), Reservation::State::InLine);
  const auto back = write(met, kAway);
  EXPECT_TRUE(back->place->was_reserved);
  EXPECT_FALSE(is_granted(back)) << "the first one is not over";
  EXPECT_EQ(reservation->state(), Reservation::State::Gone);
  EXPECT_EQ(kept.reservations.size(), 0u);
  give_back(first);
  EXPECT_TRUE(is_granted(back));
  EXPECT_FALSE(is_granted(later));
  give_back(back);
  EXPECT_TRUE(is_granted(later));
  EXPECT_FALSE(write(kept, kAway)->place->was_reserved) << "once";
}

TEST_F(ClusterReservations, WhoseMomentItIsGetsTheKeysAtOnce) {
  const auto first = write(met, kFirst);
  const auto away = write(kept, kAway);
  const auto reservation = reserve(kept, *away);
  const auto later = write(met, kLater);
  give_back(first);
  EXPECT_EQ(reservation->state(), Reservation::State::Claimable);
  EXPECT_FALSE(is_granted(later)) << "the keys are reserved";
  const auto back = write(met, kAway);
  EXPECT_TRUE(is_granted(back));
  EXPECT_FALSE(is_granted(later));
}

TEST_F(ClusterReservations, LetOthersByAndKeepTheirPlace) {
  const auto first = write(met, kFirst);
  const auto away = write(kept, kAway);
  const auto reservation = reserve(kept, *away);
  give_back(first);
  reservation->yield();
  reservation->yield();
  rig.pass(seconds(2));
  EXPECT_EQ(reservation->state(), Reservation::State::Passing);
  const auto by = write(met, kLater);
  EXPECT_TRUE(is_granted(by));
  const auto waits = write(met, Hash128{7, 7});
  const auto back = write(met, kAway);
  EXPECT_TRUE(back->place->was_reserved);
  EXPECT_FALSE(is_granted(back));
  give_back(by);
  EXPECT_TRUE(is_granted(back));
  EXPECT_FALSE(is_granted(waits)) << "it came later";
}

TEST_F(ClusterReservations, AreOfTheSameBytesKeysAndClient) {
  const auto first = write(met, kFirst);
  reserve(kept, *write(kept, kAway));
  EXPECT_FALSE(write(met, kLater)->place->was_reserved);
  EXPECT_FALSE(write(met, kAway, Hash128{7, 7})->place->was_reserved);
  EXPECT_EQ(kept.reservations.size(), 1u);
  EXPECT_FALSE(write(met, kAway, kBytes, kOtherKeys)->place->was_reserved);
  EXPECT_EQ(kept.reservations.size(), 0u) << "one for other keys is over";
  EXPECT_FALSE(write(met, kAway)->place->was_reserved);
}

TEST_F(ClusterReservations, ACrowdThatIsAwayHasOneMomentAtAllReplicas) {
  const auto first = write(met, kFirst);
  const auto one = reserve(kept, *write(kept, kAway));
  const auto other = reserve(met, *write(met, kLater));
  give_back(first);
  rig.pass(seconds(5));
  EXPECT_EQ(one->state(), Reservation::State::Claimable);
  EXPECT_EQ(other->state(), Reservation::State::InLine);
  kept.reservations.let_others_by(one->keys(), rig.clock.now());
  rig.pass(seconds(2));
  EXPECT_EQ(one->state(), Reservation::State::Passing);
  EXPECT_EQ(other->state(), Reservation::State::Passing) << "it was away as well";
  EXPECT_TRUE(is_granted(write(met, Hash128{7, 7})));
}

TEST_F(ClusterReservations, AreKnownToWhoBeginsLater) {
  const auto first = write(met, kFirst);
  reserve(kept, *write(kept, kAway));
  const auto later = write(met, kLater);
  auto& begun = rig.begin();
  rig.pass(seconds(2));
  const auto back = write(begun, kAway);
  EXPECT_TRUE(back->place->was_reserved);
  give_back(first);
  EXPECT_TRUE(is_granted(back));
  EXPECT_FALSE(is_granted(later));
}

TEST_F(ClusterReservations, EndWithTheReplicaThatKeptThem) {
  const auto first = write(met, kFirst);
  reserve(kept, *write(kept, kAway));
  const auto later = write(met, kLater);
  give_back(first);
  kept.member->leave();
  rig.pass(seconds(60));
  met.resources.apply(kResource, policy::Found{1});  // whoever tells something finds out who is dead
  rig.pass(seconds(2));
  EXPECT_TRUE(is_granted(later));
  EXPECT_FALSE(write(met, kAway)->place->was_reserved);
}

}  // namespace
}  // namespace armgate::cluster::reservations_test
