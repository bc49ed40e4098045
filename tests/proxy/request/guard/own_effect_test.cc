// Whose doing a state is: a write may have been done without its answer, and so may another's that asks for the very same.
#include "proxy/request/guard/own_effect.h"

#include <fmt/format.h>
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

// A client that reads at one api-version and writes at another, of a type without ETags.
struct TwoVersions {
  static std::string at(std::string_view version) {
    return fmt::format("/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v?api-version={}",
                       version);
  }
  explicit TwoVersions(bool takes_effect) {
    rig.arm_lives([this, takes_effect](const arm::Request& request) {
      const bool is_put = request.head.method == arm::Method::Put;
      Step step;
      step.expected = request.head.method_token;
      const bool is_lost = is_put && ++puts == 1;
      if (is_put && (takes_effect || !is_lost)) capacity = 2;
      const bool is_newer = request.head.target.ends_with("2023-03-01");
      step.body = fmt::format(R"({{"sku":{{"capacity":{}}},"properties":{{{}"provisioningState":"Succeeded"}}}})", capacity,
                              is_newer ? R"("added":"x",)" : "");
      if (is_lost && takes_effect) step.status = 503;
      if (is_lost && !takes_effect) step.failure = upstream_error(ErrorKind::Reset, Sent::Maybe, "the script says so");
      return step;
    });
    rig.ask("one", get(at("2023-03-01")));
  }
  arm::Response write() { return rig.ask("one", put(at("2022-08-01")), kWanted); }

  StageRig rig;
  int puts = 0;
  int capacity = 1;
};

TEST(OwnEffect, IsShownAtTheApiVersionOfTheWrite) {
  TwoVersions race(true);
  EXPECT_EQ(race.write().head.status, 503);
  const auto again = race.write();
  EXPECT_EQ(again.head.status, 200) << again.head.fields.get("x-armgate-reason");
  EXPECT_EQ(again.head.fields.get("x-armgate-reason"), "answer-recovered-by-reading");
  EXPECT_EQ(again.body.find("added"), std::string::npos) << again.body;
  EXPECT_EQ(race.puts, 1);
}

TEST(OwnEffect, OfAnotherApiVersionsBaseIsLookedForThereAfterALostAnswer) {
  TwoVersions race(false);
  const auto answer = race.write();
  EXPECT_EQ(answer.head.status, 200) << answer.head.fields.get("x-armgate-reason");
  EXPECT_EQ(race.puts, 2);
}

}  // namespace
}  // namespace armgate::world::own_effect_test
