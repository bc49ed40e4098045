// Whose doing a state is: a write may have been done without its answer, and so may another's that asks for the very same.
#include "proxy/request/guard/own_effect.h"

#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::own_effect_test {
namespace {

const std::string kBefore = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kAfter = R"({"etag":"\"2\"","sku":{"capacity":2},"properties":{"provisioningState":"Succeeded"}})";
const std::string kWanted = R"({"sku":{"capacity":2}})";

// Two clients that both count from 1 to 2. All that the first one sends gets lost; one of these takes effect when the second one's first
// sending gets lost too.
struct TwoThatCount {
  TwoThatCount() {
    rig.arm_lives([this](const arm::Request& request) {
      const bool is_put = request.head.method == arm::Method::Put;
      Step step;
      step.expected = request.head.method_token;
      step.body = *state;
      if (is_put && loses_all) step.failure = upstream_error(ErrorKind::Reset, Sent::Maybe, "the script says so");
      if (is_put && second_goes) state = &kAfter;
      return step;
    });
    for (const char* client : {"one", "two"}) rig.ask(client, get(kScaleSet));
  }
  StageRig rig;
  const std::string* state = &kBefore;
  bool loses_all = true;
  bool second_goes = false;
};

TEST(OwnEffect, IsNotWhatAnotherInDoubtMayHaveDoneWithTheSameETag) {
  TwoThatCount race;
  EXPECT_NE(race.rig.ask("one", put(kScaleSet), kWanted).head.status, 200);
  race.rig.pass(std::chrono::minutes(2));  // nobody waits for it any more
  race.rig.ask("two", get(kScaleSet));     // and shows that it has not happened so far
  race.second_goes = true;
  const auto second = race.rig.ask("two", put(kScaleSet), kWanted);
  EXPECT_NE(second.head.status, 200) << second.head.fields.get("x-armgate-reason");
}

TEST(OwnEffect, IsWhatNobodyElseWasInDoubtOf) {
  TwoThatCount race;
  race.second_goes = true;
  const auto only = race.rig.ask("two", put(kScaleSet), kWanted);
  EXPECT_EQ(only.head.status, 200);
  EXPECT_EQ(only.head.fields.get("x-armgate-reason"), "answer-recovered-by-reading");
}

}  // namespace
}  // namespace armgate::world::own_effect_test
