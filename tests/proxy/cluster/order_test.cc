// One order for all replicas, that of the log: neither what a process did a moment before its row, nor what it gave back, counts earlier.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/async/spawn.h"
#include "tests/proxy/cluster/replica_rig.h"

namespace armgate::cluster::order_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Priority = ClaimInfo::Priority;

// Named, as g++ 12 takes a list within an awaited call for an array.
const std::vector<rules::LockKey> kKeys{{"/r", rules::LockMode::Exclusive}};
constexpr Hash128 kResource{5, 5};
constexpr Hash128 kReader{9, 9};
constexpr Hash128 kWriter{8, 8};

struct Holders {
  int now = 0;
  int overlaps = 0;
  int granted = 0;
};

Task<void> hold(ReplicaRig& rig, ReplicaRig::Process& process, Priority priority, Duration holds, Holders& holders) {
  Waiter waiter(rig.loop.get_executor());
  ClaimInfo info;
  info.priority = priority;
  auto place = co_await process.replica.claim(kKeys, info, &waiter, 1, rig.loop.get_executor(), rig.clock.now() + seconds(100));
  EXPECT_TRUE(place.has_value());
  while (place && !place->position.granted()) co_await waiter.wait();
  if (!place) co_return;
  const WriteLease lease = place->position.into_lease();
  ++holders.granted;
  holders.overlaps += holders.now++ > 0 ? 1 : 0;
  co_await rig.clock.sleep_for(holds);
  --holders.now;
}

// Whoever goes before all others may be in the log between the moment at which somebody gives a key back and the row that tells so. If
// the one who gives it back let in the next one at once, that one would hold it beside the other.
TEST(ClusterOrder, AKeyIsFreeWhenTheLogSaysSoAndNotWhenItIsGivenBack) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    ReplicaRig rig(seed);
    for (int i = 0; i < 3; ++i) rig.begin();
    Rng rng(seed);
    Holders holders;
    for (int i = 0; i < 20; ++i) {
      const Priority priority = rng.chance(0.3) ? Priority::InTurn : Priority::None;
      spawn(rig.loop.get_executor(), hold(rig, *rig.processes[rng.below(3)], priority, milliseconds(rng.below(20)), holders));
      if (rng.chance(0.7)) rig.pass(milliseconds(rng.below(15)));
    }
    rig.pass(seconds(60));
    EXPECT_EQ(holders.granted, 20) << "seed " << seed;
    EXPECT_EQ(holders.overlaps, 0) << "seed " << seed;
  }
}

// A write that ARM took, told by a process that had not heard yet of what another had shown: in the log it comes after that, and so it
// must count as newer, whatever moment its own process gave it.
TEST(ClusterOrder, AWriteThatStandsLaterInTheLogIsNewerThanWhatWasShownBefore) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    ReplicaRig rig(seed);
    auto& writes = rig.begin();
    auto& reads = rig.begin();
    rig.pass(seconds(2));
    policy::WriteAccepted accepted;
    accepted.client = kWriter;
    accepted.at = writes.clock.next_moment();
    policy::StateShown shown;
    shown.client = kReader;
    shown.at = reads.clock.next_moment();
    shown.asked = shown.at.order;
    shown.etag = "\"1\"";
    reads.resources.apply(kResource, shown);
    rig.pass(seconds(2));
    writes.resources.apply(kResource, accepted);
    rig.pass(seconds(2));
    for (auto* process : {&writes, &reads}) {
      const bool is_newer = process->resources.ask(kResource, [](const policy::History& history) {
        const policy::ClientRecord* record = history.client(kReader);
        return record != nullptr &&
               history.written_since(record->shown.back().last_shown.order, [](const auto&) { return false; });
      });
      EXPECT_TRUE(is_newer) << "seed " << seed << ": a copy of the state before would be taken for fresh";
    }
  }
}

// A row that comes after the engine's clock was set back bears the time of before: who went by that would take it for earlier than what
// came here seconds before it.
TEST(ClusterOrder, UnderLoadAJumpOfTheEnginesClockIsNoticedWithinATenthOfTheLease) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ReplicaRig rig(seed);
    auto& busy = rig.begin();
    auto& other = rig.begin();
    const auto work = [&](Duration time) {
      for (const TimePoint until = rig.clock.now() + time; rig.clock.now() < until;) {
        busy.replica.mark();
        rig.pass(milliseconds(5));
      }
    };
    work(seconds(3));
    rig.log.set_clock_by(-seconds(20));
    work(rig.log.faults().membership_lease / 10 + seconds(2));  // and the answer, which may get lost once or twice
    const TimePoint came = rig.clock.now();
    const uint64_t newest = rig.log.newest();
    other.replica.mark();
    work(seconds(3));
    EXPECT_GT(busy.replica.applied(), newest);
    EXPECT_LE(busy.replica.positions().surely_before(came), newest) << "seed " << seed;
  }
}

}  // namespace
}  // namespace armgate::cluster::order_test
