// A client's turn is known to all replicas: whichever it reads and writes through, nobody who came later gets between.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/async/spawn.h"
#include "proxy/cluster/replica.h"
#include "tests/proxy/cluster/replica_rig.h"

namespace armgate::cluster::turns_test {
namespace {

using std::chrono::seconds;
using Rig = ReplicaRig;

constexpr Hash128 kRefused{9, 9}, kOther{8, 8};
constexpr Hash128 kResource{5, 5};
const std::vector<rules::LockKey> kKeys{{"/r", rules::LockMode::Exclusive}};

ClaimInfo claim_of(const Hash128& client) {
  ClaimInfo info;
  info.client = client;
  info.resource = kResource;
  return info;
}

// As the refusal of a write does.
std::shared_ptr<Turn> give_turn(Rig& rig, Rig::Process& process) {
  ClaimInfo info = claim_of(kRefused);
  info.priority = ClaimInfo::Priority::Turn;
  info.is_turn = true;
  ComingPosition coming = process.replica.claim_to_poll(kKeys, std::move(info));
  rig.pass(seconds(2));
  std::optional<QueuePosition> position = coming();
  return position ? process.turns.give(kResource, kRefused, *std::move(position), rig.loop.get_executor()) : nullptr;
}

struct Asked {
  std::optional<Replica::ClaimAnswer> place{};
};

Task<void> ask(Rig& rig, Rig::Process& process, ClaimInfo info, std::shared_ptr<Asked> asked) {
  asked->place =
      co_await process.replica.claim(kKeys, std::move(info), nullptr, 0, rig.loop.get_executor(), rig.clock.now() + seconds(9));
}

std::shared_ptr<Asked> write(Rig& rig, Rig::Process& process, const Hash128& client) {
  auto asked = std::make_shared<Asked>();
  spawn(rig.loop.get_executor(), ask(rig, process, claim_of(client), asked));
  rig.pass(seconds(2));
  return asked;
}

// ARM accepts a write of the refused client's, or may have.
void accept(Rig& rig, Rig::Process& process, policy::Cause cause = policy::Cause::Written, bool certain = true) {
  policy::WriteAccepted accepted;
  accepted.client = kRefused;
  accepted.cause = cause;
  accepted.certain = certain;
  accepted.at = process.clock.next_moment();
  process.resources.apply(kResource, accepted);
  rig.pass(seconds(2));
}

bool is_granted(const std::shared_ptr<Asked>& asked) { return asked->place && asked->place->position.granted(); }

// One replica gives a turn, and the client meets another.
struct ClusterTurns : testing::Test {
  Rig rig;
  Rig::Process& gave = rig.begin();
  Rig::Process& met = rig.begin();
};

TEST_F(ClusterTurns, AreTakenByAWriteThatComesToAnotherReplica) {
  const auto turn = give_turn(rig, gave);
  ASSERT_TRUE(turn && turn->granted());
  const auto other = write(rig, met, kOther);
  EXPECT_FALSE(is_granted(other)) << "the key is reserved";
  const auto own = write(rig, met, kRefused);
  EXPECT_TRUE(is_granted(own));
  EXPECT_TRUE(own->place->in_turn);
  EXPECT_FALSE(is_granted(other)) << "it came earlier, but it is not its turn";
  EXPECT_FALSE(other->place->in_turn);
  EXPECT_TRUE(turn->over());
  EXPECT_EQ(gave.turns.size(), 0u);
  own->place.reset();
  rig.pass(seconds(2));
  EXPECT_TRUE(is_granted(other));
  EXPECT_FALSE(write(rig, met, kRefused)->place->in_turn) << "it was taken";
}

TEST_F(ClusterTurns, RunFromAReadThatComesToAnotherReplica) {
  const auto turn = give_turn(rig, gave);
  ASSERT_TRUE(turn);
  policy::StateShown shown;
  shown.client = kOther;
  shown.at = met.clock.next_moment();
  met.resources.apply(kResource, shown);
  rig.pass(seconds(2));
  EXPECT_FALSE(turn->has_read()) << "that was somebody else";
  shown.client = kRefused;
  met.resources.apply(kResource, shown);
  rig.pass(seconds(2));
  EXPECT_TRUE(turn->has_read());
}

TEST_F(ClusterTurns, EndWhenAWriteIsAcceptedThroughAnotherReplica) {
  const auto turn = give_turn(rig, gave);
  const auto other = write(rig, met, kOther);
  EXPECT_FALSE(is_granted(other));
  accept(rig, met, policy::Cause::Written, false);
  EXPECT_FALSE(turn->over()) << "of what may have failed ARM asks for another try";
  accept(rig, met);
  EXPECT_TRUE(is_granted(other));
  EXPECT_TRUE(turn->over());
}

TEST_F(ClusterTurns, AreNotTakenBeforeTheyCome) {
  const auto holder = write(rig, met, kOther);
  ASSERT_TRUE(is_granted(holder));
  const auto turn = give_turn(rig, gave);
  ASSERT_TRUE(turn && !turn->granted());
  const auto waits = write(rig, gave, Hash128{7, 7});
  const auto own = write(rig, met, kRefused);
  EXPECT_FALSE(own->place->in_turn);
  accept(rig, met);
  EXPECT_FALSE(turn->over()) << "nor do they end";
  holder->place.reset();
  rig.pass(seconds(2));
  EXPECT_TRUE(turn->granted());
  EXPECT_FALSE(is_granted(waits));
  EXPECT_FALSE(is_granted(own));
}

TEST_F(ClusterTurns, DoNotEndWithAWriteOfWhatIsBelow) {
  const auto turn = give_turn(rig, gave);
  accept(rig, met, policy::Cause::ChildWritten);
  EXPECT_FALSE(turn->over());
}

TEST_F(ClusterTurns, AreOneForAClientAndAResource) {
  const auto turn = give_turn(rig, gave);
  ASSERT_TRUE(turn);
  EXPECT_EQ(give_turn(rig, met), nullptr);
  gave.turns.end(kResource, turn);
  rig.pass(seconds(2));
  EXPECT_NE(give_turn(rig, met), nullptr);
}

TEST_F(ClusterTurns, EndWithTheReplicaThatGaveThem) {
  const auto turn = give_turn(rig, gave);
  const auto other = write(rig, met, kOther);
  EXPECT_FALSE(is_granted(other));
  gave.member->leave();
  rig.pass(seconds(60));
  met.resources.apply(kResource, policy::Found{1});  // whoever tells something finds out who is dead
  rig.pass(seconds(2));
  EXPECT_TRUE(is_granted(other));
  EXPECT_FALSE(write(rig, met, kRefused)->place->in_turn);
}

}  // namespace
}  // namespace armgate::cluster::turns_test
