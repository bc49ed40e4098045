// Whose doing a state is: a write may have been done without its answer, and so may another's that asks for the very same.
#include "proxy/request/guard/own_effect.h"

#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::own_effect_test {
namespace {

const std::string kBefore = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kAfter = R"({"etag":"\"2\"","sku":{"capacity":2},"properties":{"provisioningState":"Succeeded"}})";
const std::string kWanted = R"({"sku":{"capacity":2}})";

// Two clients, "one" and "two". All that the first one sends gets lost; one of these takes effect when the second one's first
// sending gets lost too, and makes `after` of the resource.
struct TwoInDoubt {
  TwoInDoubt() {
    rig.arm_lives([this](const arm::Request& request) {
      const bool is_put = request.head.method == arm::Method::Put;
      Step step;
      step.expected = request.head.method_token;
      step.body = state;
      if (is_put && loses_all) step.failure = upstream_error(ErrorKind::Reset, Sent::Maybe, "the script says so");
      if (is_put && second_goes) state = after;
      return step;
    });
    for (const char* client : {"one", "two"}) rig.ask(client, get(kScaleSet));
  }

  // What is told to the second one, that wants this, after the first one wanted that.
  arm::Response second(const std::string& firsts, const std::string& seconds) {
    EXPECT_NE(rig.ask("one", put(kScaleSet), firsts).head.status, 200);
    rig.pass(std::chrono::minutes(2));                // nobody waits for it any more
    if (reads_again) rig.ask("two", get(kScaleSet));  // and shows that it has not happened so far
    second_goes = true;
    return rig.ask("two", put(kScaleSet), seconds);
  }

  StageRig rig;
  std::string state = kBefore;
  std::string after = kAfter;
  bool loses_all = true;
  bool second_goes = false;
  bool reads_again = true;
};

TEST(OwnEffect, IsNotWhatAnotherInDoubtMayHaveDoneWithTheSameETag) {
  TwoInDoubt race;
  const auto second = race.second(kWanted, kWanted);  // both count from 1 to 2
  EXPECT_NE(second.head.status, 200) << second.head.fields.get("x-armgate-reason");
}

// Whatever the one in doubt asks for: what is there is what the second one asked for.
TEST(OwnEffect, IsWhatAnotherInDoubtAskedToBeSomethingElse) {
  const std::string tagged =
      R"({"etag":"\"2\"","sku":{"capacity":1},"tags":{"two":"2"},"properties":{"provisioningState":"Succeeded"}})";
  const std::string wanted = R"({"sku":{"capacity":1},"tags":{"two":"2"}})";
  const std::string with_rule = R"({"sku":{"capacity":2},"properties":{"rules":[{"name":"a","tags":{"k":"v"},"x":{"y":1}}]}})";
  const std::string shown_with_rule =
      R"({"etag":"\"2\"","sku":{"capacity":2},"properties":{"rules":[{"name":"a","tags":{"k":"v"},"x":{"y":1}}]}})";
  struct Case {
    std::string firsts;
    std::string seconds;
    std::string after;
    int status;
  };
  for (const Case& c : {
           Case{R"({"sku":{"capacity":3}})", kWanted, kAfter, 200},
           Case{R"({"sku":{"capacity":1},"tags":{"one":"1"}})", wanted, tagged, 200},  // else it would lack the second's tag
           // Both ask for the change that is there; the other, for something besides that the service may not show, too.
           Case{R"({"sku":{"capacity":2},"tags":{"one":"1"}})", kWanted, kAfter, 412},
           Case{R"({"sku":{"capacity":2},"properties":{"password":"x"}})", kWanted, kAfter, 412},
           // The service may have filled it in.
           Case{R"({"tags":{"one":"1"}})", kWanted, kAfter, 412},
           // An element is one place for a write that says nothing of its array.
           Case{kWanted, with_rule, shown_with_rule, 412},
       }) {
    // As it is if the second one has read before the first one's write.
    for (const bool reads_again : {true, false}) {
      TwoInDoubt race;
      race.after = c.after;
      race.reads_again = reads_again;
      const auto second = race.second(c.firsts, c.seconds);
      EXPECT_EQ(second.head.status, c.status) << c.firsts << reads_again << second.head.fields.get("x-armgate-reason");
    }
  }
}

TEST(OwnEffect, IsWhatNobodyElseWasInDoubtOf) {
  TwoInDoubt race;
  race.second_goes = true;
  const auto only = race.rig.ask("two", put(kScaleSet), kWanted);
  EXPECT_EQ(only.head.status, 200);
  EXPECT_EQ(only.head.fields.get("x-armgate-reason"), "answer-recovered-by-reading");
}

}  // namespace
}  // namespace armgate::world::own_effect_test
