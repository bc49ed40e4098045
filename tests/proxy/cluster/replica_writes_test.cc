// Goal: every replica knows what runs at the others, where its end can be read, and what an operation URL of armgate's own stands for.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "proxy/async/spawn.h"
#include "proxy/cluster/replica.h"
#include "tests/proxy/cluster/replica_rig.h"

namespace armgate::cluster::replica_writes_test {
namespace {

using arm::TrackedBy;
using std::chrono::seconds;
using Phase = OwnedOperation::Phase;
using Rig = ReplicaRig;

constexpr Hash128 kOwn{4, 2};
const std::vector<rules::LockKey> kKeys{{"/r", rules::LockMode::Exclusive}};

// A write of one replica, from its intent on.
struct Sent {
  std::optional<WriteLease> lease{};
  std::vector<IntentId> intents{};
};

Task<void> claim(Rig& rig, Rig::Process& process, std::shared_ptr<Sent> sent) {
  auto place =
      co_await process.replica.claim(kKeys, ClaimInfo(), nullptr, 0, rig.loop.get_executor(), rig.clock.now() + seconds(9));
  EXPECT_TRUE(place && place->position.granted());
  if (place) sent->lease = place->position.into_lease();
}

Task<void> intend(Rig& rig, Rig::Process& process, std::shared_ptr<Sent> sent, Hash128 owned) {
  Intended intended;
  intended.claim = sent->lease->kept_as();
  intended.write.host = "arm";
  intended.write.path = "/r";
  intended.write.api_version = "2024-07-01";
  intended.write.owned = owned;
  const auto id = co_await process.replica.intend(std::move(intended), rig.loop.get_executor(), rig.clock.now() + seconds(9));
  EXPECT_TRUE(id.has_value());
  if (id) sent->intents.push_back(*id);
}

WriteOutcome running_at(const std::string& url) {
  WriteOutcome outcome;
  outcome.status = 201;
  outcome.is_running = true;
  outcome.owned = kOwn;
  outcome.tracking.by = TrackedBy::StatusUrl;
  outcome.tracking.status_url = "https://arm" + url;
  return outcome;
}

struct ClusterWrites : testing::Test {
  // Another sending of the write goes to ARM; its outcome is not known yet.
  void send() {
    spawn(rig.loop.get_executor(), intend(rig, sends, sent, sent->intents.empty() ? Hash128{} : kOwn));
    rig.pass(seconds(2));
  }
  void settle(WriteOutcome outcome) {
    sends.replica.post(Settled{sent->intents.back(), std::move(outcome)});
    rig.pass(seconds(2));
  }
  void finish(IntentId intent, const OperationResult& result) {
    sends.replica.post(Finished{intent, WallTime{}, EndSeen::Yes, result});
    rig.pass(seconds(2));
  }
  ClusterWrites() {
    spawn(rig.loop.get_executor(), claim(rig, sends, sent));
    rig.pass(seconds(2));
    send();
    settle(running_at("/1"));
  }
  static TrackedBy found(const Rig::Process& process, const std::string& url) {
    return process.remote_operations.find("arm", url);
  }
  static OwnedOperation::Known known(const Rig::Process& process) {
    const auto operation = process.owned.find(kOwn);
    EXPECT_TRUE(operation);
    return operation ? operation->snapshot() : OwnedOperation::Known{};
  }

  Rig rig;
  Rig::Process& sends = rig.begin();
  Rig::Process& other = rig.begin();
  std::shared_ptr<Sent> sent = std::make_shared<Sent>();
};

TEST_F(ClusterWrites, WhereAnOperationsEndCanBeReadIsKnownUntilItHasEnded) {
  EXPECT_EQ(found(other, "/1"), TrackedBy::StatusUrl);
  EXPECT_EQ(found(sends, "/1"), TrackedBy::Nothing) << "it follows that itself";
  EXPECT_EQ(found(rig.begin(), "/1"), TrackedBy::StatusUrl) << "also by who begins later";
  finish(sent->intents.back(), {arm::Progress::Succeeded, {}});
  EXPECT_EQ(found(other, "/1"), TrackedBy::Nothing);
}

TEST_F(ClusterWrites, WhatAnotherSentIsShownAsItGoes) {
  const auto shown = [&] { return other.locks.entries(9).oldest.at(0).phase; };
  EXPECT_EQ(shown(), WritePhase::Runs);
  send();
  WriteOutcome lost;
  lost.kind = OutcomeKind::InDoubt;
  settle(std::move(lost));
  EXPECT_EQ(shown(), WritePhase::Doubt);
}

TEST_F(ClusterWrites, SinceWhenArmMayBeAtWhatAnotherSentIsKnown) {
  const auto waits = other.locks.join(kKeys, {}, nullptr, 0);
  const auto age = [&] { return rig.clock.now() - waits->newest_at_arm(rig.clock.now()).value_or(TimePoint{}); };
  rig.pass(seconds(60));
  EXPECT_GE(age(), seconds(60)) << "since ARM had answered";
  send();
  EXPECT_LE(age(), seconds(2)) << "sent anew";
  rig.pass(seconds(60));
  settle(running_at("/2"));
  EXPECT_LE(age(), seconds(2)) << "it may have been sent more than once before";
}

TEST_F(ClusterWrites, AnOwnUrlStandsForTheNewestSending) {
  EXPECT_TRUE(known(other).is_led_elsewhere);
  EXPECT_EQ(known(other).tracking.status_url, "https://arm/1");
  EXPECT_EQ(other.owned.find(kOwn)->target(), "/r?api-version=2024-07-01");
  send();
  settle(running_at("/2"));
  finish(sent->intents.front(), {arm::Progress::Failed, {}});
  EXPECT_EQ(known(other).phase, Phase::Follows) << "not how the first one ended";
  EXPECT_EQ(known(other).tracking.status_url, "https://arm/2");
  EXPECT_EQ(known(other).newest, sent->intents.back());
  EXPECT_TRUE(known(other).is_led_elsewhere);
  finish(sent->intents.back(), {arm::Progress::Succeeded, {}});
  EXPECT_EQ(known(other).phase, Phase::Over);
  EXPECT_EQ(known(other).result.how, arm::Progress::Succeeded);
}

TEST_F(ClusterWrites, AnOwnUrlStandsForASecondSendingThatEndedWithItsAnswerToo) {
  send();
  WriteOutcome at_once;  // as request/operation/send_again.cc tells it
  at_once.status = 200;
  at_once.is_running = true;
  at_once.owned = kOwn;
  settle(std::move(at_once));
  finish(sent->intents.front(), {arm::Progress::Failed, {}});
  EXPECT_EQ(known(other).phase, Phase::Follows) << "not how the first one ended";
  finish(sent->intents.back(), {arm::Progress::Succeeded, {}});
  EXPECT_EQ(known(other).phase, Phase::Over);
  EXPECT_EQ(known(other).result.how, arm::Progress::Succeeded);
}

TEST_F(ClusterWrites, WhatWillNotGoAgainIsKnown) {
  sends.replica.tell_owned_left(kOwn);
  rig.pass(seconds(2));
  EXPECT_FALSE(known(other).is_led_elsewhere);
}

TEST_F(ClusterWrites, OfALostAnswerNobodyKnowsTheEnd) {
  send();
  WriteOutcome lost;
  lost.kind = OutcomeKind::InDoubt;
  lost.is_running = true;
  lost.owned = kOwn;
  settle(lost);
  EXPECT_TRUE(known(other).in_doubt);
  EXPECT_FALSE(known(other).is_led_elsewhere);
}

TEST_F(ClusterWrites, OfADeadReplicaTheNewestSendingIsAdopted) {
  send();
  sends.member->leave();
  rig.pass(seconds(14));
  ASSERT_EQ(other.adopted.size(), 1u);
  EXPECT_EQ(other.adopted[0].intent, sent->intents.back());
  EXPECT_EQ(other.adopted[0].write.owned, kOwn);
  EXPECT_FALSE(known(other).is_led_elsewhere) << "its body died with it";
  other.adopted.clear();
  other.replica.post(Finished{sent->intents.back(), WallTime{}, EndSeen::Yes, {}});
  rig.pass(seconds(2));
  EXPECT_GT(other.replica.oldest_needed(), 0u);
  EXPECT_EQ(other.replica.oldest_needed(), other.replica.applied() + 1) << "nothing of it stays open";
}

// The keys are given back before the outcome is told: another row may end between the two.
TEST_F(ClusterWrites, WhatADeadReplicaHadGivenBackIsOver) {
  sent->lease.reset();
  rig.pass(seconds(2));
  sends.member->leave();
  rig.pass(seconds(14));
  EXPECT_TRUE(other.adopted.empty());
  EXPECT_EQ(other.replica.oldest_needed(), other.replica.applied() + 1) << "nothing of it stays open";
  EXPECT_EQ(found(other, "/1"), TrackedBy::Nothing);
}

TEST_F(ClusterWrites, WhatOneHearsTheOthersAreTold) {
  other.replica.post(EndTold{"arm", "/1", 200, "{}"});
  other.replica.tell_owned_poll(kOwn, Hash128{1, 1});
  rig.pass(seconds(2));
  EXPECT_EQ(sends.ends_told, std::vector<std::string>{"/1"});
  EXPECT_EQ(sends.owned_polls, std::vector<Hash128>{kOwn});
  EXPECT_TRUE(other.ends_told.empty() && other.owned_polls.empty()) << "it knows";
}

}  // namespace
}  // namespace armgate::cluster::replica_writes_test
