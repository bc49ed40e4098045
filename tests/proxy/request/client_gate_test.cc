// What a sending that waits for a connection makes of its client's leaving and of armgate's end. Method: a gate that is asked as the
// pool asks it.
#include "proxy/request/client_gate.h"

#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::client_gate_test {
namespace {

using AtClosing = ClientWait::AtClosing;
using std::chrono::seconds;

struct GateBench {
  StageRig rig;
  SimLink link{static_cast<SimClock&>(rig.parts().clock), rig.parts().executor};
  ClientWait client_wait{rig.parts().clock, rig.parts().executor, link, rig.now() + seconds(50)};
  Report report;
  std::optional<ClientGate> gate{std::in_place, rig.parts(), report, ClientGate::Sender::OneOfSeveral};

  explicit GateBench(AtClosing at_closing = AtClosing::Stop) { gate->watch(client_wait, at_closing); }
  bool begin() { return gate->begin(rig.now()); }
};

TEST(ClientGate, WhatItsClientHasLeftNeitherWaitsNorBegins) {
  GateBench bench;
  EXPECT_TRUE(bench.gate->may_wait());
  bench.link.leave(Leaving::Reset);
  EXPECT_FALSE(bench.gate->may_wait());
  EXPECT_FALSE(bench.begin());
  EXPECT_FALSE(bench.gate->begun());
  EXPECT_TRUE(bench.gate->client_gone());
  EXPECT_FALSE(bench.gate->is_closing());
}

TEST(ClientGate, AtTheEndOnlyWhatNothingKeepsWaitingBegins) {
  GateBench at_once;
  at_once.link.close();
  EXPECT_TRUE(at_once.begin());
  EXPECT_EQ(at_once.gate->begun(), at_once.rig.now());
  GateBench waits;
  EXPECT_TRUE(waits.gate->may_wait());
  waits.link.close();
  EXPECT_FALSE(waits.gate->may_wait());
  EXPECT_FALSE(waits.begin());
  EXPECT_TRUE(waits.gate->is_closing());
  GateBench owes(AtClosing::WaitOn);
  owes.link.close();
  EXPECT_TRUE(owes.gate->may_wait()) << "an answer of ARM's may be owed";
  EXPECT_TRUE(owes.begin());
}

TEST(ClientGate, TheTimeInLineIsAddedToTheReportOnce) {
  for (const bool begins : {false, true}) {
    GateBench bench;
    bench.rig.pass(seconds(1));
    EXPECT_TRUE(bench.gate->may_wait());
    bench.rig.pass(seconds(2));
    EXPECT_TRUE(bench.gate->may_wait());
    if (begins) {
      EXPECT_TRUE(bench.begin());
      bench.rig.pass(seconds(4));
    }
    bench.gate->note_waited();
    bench.rig.pass(seconds(8));
    bench.gate.reset();
    EXPECT_EQ(bench.report.waited, seconds(2)) << begins;
  }
  GateBench at_once;
  EXPECT_TRUE(at_once.begin());
  at_once.rig.pass(seconds(1));
  at_once.gate.reset();
  EXPECT_EQ(at_once.report.waited, Duration::zero());
}

TEST(ClientGate, BeforeItIsWatchedNobodyHasLeft) {
  GateBench bench;
  bench.link.leave(Leaving::Reset);
  ClientGate gate(bench.rig.parts(), bench.report, ClientGate::Sender::Any);
  EXPECT_EQ(gate.waiter(), nullptr);
  EXPECT_FALSE(gate.client_gone());
  EXPECT_TRUE(gate.begin(bench.rig.now()));
}

TEST(ClientGate, WhoseTimeIsOverStillGetsAMomentForAConnection) {
  StageRig rig;
  EXPECT_EQ(connection_due(rig.parts(), rig.now() + seconds(9)), rig.now() + seconds(9));
  EXPECT_EQ(connection_due(rig.parts(), rig.now() - seconds(9)), rig.now() + seconds(5));
}

}  // namespace
}  // namespace armgate::world::client_gate_test
