// What the simulated ARM remembers of its resources for those who judge, and what its answers are said to have shown.
#include "sim/state_log.h"

#include <gtest/gtest.h>

#include "tests/sim/sim_requests.h"

namespace armgate::sim {
namespace {

SimOptions keeping() {
  SimOptions options;
  options.keep_states = true;
  options.operation = Duration{};
  return options;
}

arm::Headers by(const char* client) { return {{"x-sim-client", client}}; }

TEST(StateLog, HasEveryContentWithItsTimeAndItsMaker) {
  Bench bench(keeping());
  bench.ask("PUT", kGroup, R"({"location":"westeurope"})");
  bench.ask("PUT", kScaleSet, R"({"location":"westeurope"})", by("a"));
  bench.pass(1000);
  bench.ask("PUT", kScaleSet, R"({"location":"westeurope","tags":{"x":"1"}})", by("b"));
  bench.ask("PUT", kScaleSet, R"({"location":"westeurope","tags":{"x":"1"}})", by("c"));
  bench.ask("DELETE", kScaleSet, {}, by("d"));
  const States states = bench.arm.states_of(kScaleSet);
  ASSERT_EQ(states.size(), 3u) << "the same content again is no state of its own";
  EXPECT_EQ(states[0].by, "a");
  EXPECT_EQ(states[0].since, at_ms(1000));
  EXPECT_EQ(states[1].by, "b");
  EXPECT_EQ((*states[1].content)["tags"]["x"], "1");
  EXPECT_EQ(states[2].by, "d");
  EXPECT_EQ(states[2].content, nullptr);
  EXPECT_EQ(state_at(states, at_ms(1500)), &states[0]);
  EXPECT_EQ(state_at(states, at_ms(500)), nullptr);
  EXPECT_EQ(state_throughout(states, at_ms(1000), at_ms(1999)), &states[0]);
  EXPECT_EQ(state_throughout(states, at_ms(1000), at_ms(2000)), nullptr);
}

TEST(StateLog, ChildrenHaveStatesOfTheirOwn) {
  Bench bench(keeping());
  bench.create(kSecurityGroup);
  const std::string rule = kSecurityGroup + "/securityRules/r";
  bench.ask("PUT", rule, R"({"properties":{"priority":1}})", by("a"));
  bench.ask("PUT", kSecurityGroup + "/securityRules/other", R"({"properties":{"priority":2}})", by("b"));
  const SimAnswer read = bench.send("GET", rule);
  ASSERT_EQ(read.seen.size(), 1u);
  bench.ask("DELETE", rule, {}, by("c"));
  const States states = bench.arm.states_of(rule);
  ASSERT_EQ(states.size(), 2u);
  EXPECT_EQ(states[0].by, "a");
  EXPECT_EQ(states[1].by, "c");
  EXPECT_EQ(state_with(states, read.seen[0].serial), &states[0]) << "the read came after another child's change";
  EXPECT_EQ(bench.arm.states_of(kSecurityGroup).size(), 4u);
}

TEST(StateLog, AnswersSayWhichStateTheyShowed) {
  Bench bench(keeping());
  bench.create(kScaleSet);
  const auto serial = [&] { return bench.arm.states_of(kScaleSet).back().serial; };
  const SimAnswer list = bench.send("GET", std::string(kGroup) + "/providers/Microsoft.Compute/virtualMachineScaleSets");
  ASSERT_EQ(list.seen.size(), 1u);
  EXPECT_EQ(list.seen[0].serial, serial());
  const SimAnswer put = bench.send("PUT", kScaleSet, R"({"location":"westeurope","tags":{"x":"1"}})");
  ASSERT_EQ(put.seen.size(), 1u);
  EXPECT_EQ(put.seen[0].serial, serial());
  EXPECT_GT(put.seen[0].serial, list.seen[0].serial);
  bench.ask("DELETE", kScaleSet);
  const SimAnswer gone = bench.send("GET", kScaleSet);
  ASSERT_EQ(gone.response.head.status, 404);
  EXPECT_EQ(gone.seen.at(0).serial, serial());
}

TEST(StateLog, NothingIsKeptUnlessItIsAskedFor) {
  Bench bench;
  bench.create(kScaleSet);
  EXPECT_TRUE(bench.arm.states_of(kScaleSet).empty());
  EXPECT_TRUE(bench.send("GET", kScaleSet).seen.empty());
}

}  // namespace
}  // namespace armgate::sim
