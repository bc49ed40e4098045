// How soon the end of an operation is noticed, and with how many reads (docs/design.md, "Operations").
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "arm/http.h"
#include "base/text.h"
#include "proxy/request/identify.h"
#include "tests/support/stage_rig.h"

namespace armgate::world::watch_test {
namespace {

using std::chrono::seconds;

const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kOperation = "https://management.azure.com/subscriptions/s/operations/1?t=a%2Fb";
const std::string kPoll = "GET /subscriptions/s/operations/1?t=a%2Fb";
const std::string kAbort =
    "POST /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v/abort?api-version=2024-07-01";

// An operation without a word about when to ask again, and how it goes whenever it is asked from then on.
void begin_unpaced(StageRig& rig, const std::vector<std::string>& states) {
  rig.arm(patch(kScaleSet), 202, {{"Azure-AsyncOperation", kOperation}});
  for (const auto& state : states) rig.arm(kPoll, 200, {}, R"({"status":")" + state + R"("})");
  rig.ask("one", patch(kScaleSet), R"({"a":1})");
}

TEST(Watching, TheEndOfAShortOperationIsSeenSoon) {
  StageRig rig;
  begin_unpaced(rig, {"InProgress", "InProgress", "Succeeded"});
  rig.arm(patch(kScaleSet), 200, {}, kState);
  EXPECT_EQ(rig.ask("two", patch(kScaleSet), R"({"a":2})").head.fields.get("x-armgate-waited-ms"), "4000");
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Watching, ALongOperationIsAskedAboutMoreRarelyTheLongerItRuns) {
  StageRig rig;
  begin_unpaced(rig, {"InProgress", "InProgress", "InProgress", "InProgress", "InProgress", "Succeeded"});
  rig.arm(patch(kScaleSet), 200, {}, kState);
  EXPECT_EQ(rig.ask("two", patch(kScaleSet), R"({"a":2})").head.fields.get("x-armgate-waited-ms"), "26000")
      << "asked after 1, 2, 4 and 8 s, and then every 10 s";
}

TEST(Watching, WhoComesLateFindsALongOperationAskedAboutAtOnceAndThenRarely) {
  StageRig rig;
  begin_unpaced(rig, {"InProgress", "Succeeded"});
  rig.arm(patch(kScaleSet), 200, {}, kState);
  rig.pass(seconds(40));
  EXPECT_EQ(rig.seen().size(), 1u) << "nobody waited";
  EXPECT_EQ(rig.ask("two", patch(kScaleSet), R"({"a":2})").head.fields.get("x-armgate-waited-ms"), "10000");
}

TEST(Watching, AnOperationAtAHostOutOfReachIsSeenByTheResource) {
  PipelineOptions options = StageRig::default_options();
  options.is_arm_host = [](std::string_view host) { return host == "management.azure.com"; };
  StageRig rig(options);
  rig.arm(patch(kScaleSet), 200, {{"Azure-AsyncOperation", "https://elsewhere.example/x?t=SECRET"}}, kState);
  rig.arm(get(kScaleSet), 200, {}, R"({"properties":{"provisioningState":"Updating"}})");
  rig.arm(get(kScaleSet), 200, {}, kState);
  rig.arm(patch(kScaleSet), 200, {}, kState);
  rig.ask("one", patch(kScaleSet), R"({"a":1})");
  EXPECT_EQ(rig.ask("two", patch(kScaleSet), R"({"a":2})").head.fields.get("x-armgate-waited-ms"), "2000");
  EXPECT_TRUE(rig.script_is_done());
  ASSERT_EQ(rig.loud().size(), 1u);
  EXPECT_NE(rig.loud()[0].find("at elsewhere.example/x,"), std::string::npos) << rig.loud()[0];
}

TEST(Watching, AnOperationWithOneUrlOutOfReachIsSeenByTheOther) {
  PipelineOptions options = StageRig::default_options();
  options.is_arm_host = [](std::string_view host) { return host == "management.azure.com"; };
  StageRig rig(options);
  rig.arm(patch(kScaleSet), 202, {{"Azure-AsyncOperation", "https://elsewhere.example/x"}, {"Location", kOperation}});
  rig.arm(kPoll, 202);
  rig.arm(kPoll, 200);
  rig.arm(patch(kScaleSet), 200, {}, kState);
  rig.ask("one", patch(kScaleSet), R"({"a":1})");
  EXPECT_EQ(rig.ask("two", patch(kScaleSet), R"({"a":2})").head.fields.get("x-armgate-waited-ms"), "2000");
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Watching, TheClientsOwnPollsReplaceOurs) {
  StageRig rig;
  begin_unpaced(rig, {});
  rig.pass(seconds(20));
  for (int i = 0; i < 9; ++i) rig.arm(kPoll, 200, {}, R"({"status":"InProgress"})");
  rig.arm(patch(kScaleSet), 200, {}, kState);
  rig.ask("one", kPoll);
  const auto second = rig.start("two", patch(kScaleSet), R"({"a":2})");
  for (int i = 0; i < 7; ++i) {
    rig.pass(seconds(5));
    rig.ask("one", kPoll);
  }
  EXPECT_EQ(rig.seen().size(), 9u) << "the write and its client's own eight polls";
  rig.pass(seconds(10));
  EXPECT_EQ(rig.seen().size(), 10u) << "its client has stopped asking";
}

TEST(Watching, WhatAClientsPollIsToldAboutThePauseHoldsForOurs) {
  StageRig rig;
  begin_unpaced(rig, {});
  rig.arm(kPoll, 200, {{"Retry-After", "30"}}, R"({"status":"InProgress"})");
  rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
  rig.arm(patch(kScaleSet), 200, {}, kState);
  rig.ask("one", kPoll);
  EXPECT_EQ(rig.ask("two", patch(kScaleSet), R"({"a":2})").head.fields.get("x-armgate-waited-ms"), "30000");
}

TEST(Watching, ThrottledPollsComeAgainWhenArmSaysAndKeepTheirPaceAfterwards) {
  StageRig rig;
  begin_unpaced(rig, {});
  rig.arm(kPoll, 429, {{"Retry-After", "20"}}, "{}");
  rig.arm(kPoll, 200, {}, R"({"status":"InProgress"})");
  rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
  rig.arm(patch(kScaleSet), 200, {}, kState);
  EXPECT_EQ(rig.ask("two", patch(kScaleSet), R"({"a":2})").head.fields.get("x-armgate-waited-ms"), "31000")
      << "asked after 1 s, 20 s later, and 10 s later";
}

TEST(Watching, ReadsOfAResourceThatIsBeingDeletedDoNotReplaceOurLooks) {
  StageRig rig;
  rig.arm("DELETE ", 202, {{"Azure-AsyncOperation", kOperation}});
  rig.ask("one", "DELETE " + std::string(kScaleSet));
  rig.arm(get(kScaleSet), 200, {}, kState);
  rig.arm(kPoll, 200, {}, R"({"status":"Failed"})");
  rig.arm(patch(kScaleSet), 200, {}, kState);
  rig.pass(seconds(20));
  rig.ask("dashboard", get(kScaleSet));
  EXPECT_EQ(rig.ask("two", patch(kScaleSet), R"({"a":2})").head.fields.get("x-armgate-waited-ms"), "0");
}

// Its role names the type, and not "locations/operations/read".
TEST(Watching, WhereTheWritersOwnTokenMayNotSeeTheOperationTheResourceHasToDo) {
  StageRig rig;
  bool is_first = true;
  rig.arm_lives([&](const arm::Request& request) {
    Step step;
    step.expected = request.head.method_token;
    const bool is_write = request.head.method == arm::Method::Patch;
    step.status = request.head.target.find("operations") != std::string::npos ? 403 : 200;
    step.body = step.status == 403 ? R"({"error":{"code":"AuthorizationFailed","message":"m"}})" : kState;
    if (is_write && std::exchange(is_first, false)) {
      step.status = 202;
      step.fields = {{"Azure-AsyncOperation", kOperation}};
    }
    return step;
  });
  EXPECT_EQ(rig.ask("one", patch(kScaleSet), R"({"a":1})").head.status, 202);
  const TimePoint began = rig.now();
  int tries = 0;
  while (rig.ask("one", "DELETE " + std::string(kScaleSet)).head.status == 503 && ++tries < 10) {
  }
  EXPECT_LE(rig.now() - began, seconds(120)) << "a minute in which the resource is in a final state";
}

TEST(Watching, ADeletionThatNobodySeesRunningKeepsTheResourceForTheShorterTime) {
  for (const bool says_so : {false, true}) {
    StageRig rig;
    rig.arm_lives([&](const arm::Request& request) {
      Step step;
      step.expected = request.head.method_token;
      step.status = request.head.method == arm::Method::Delete ? 202 : 200;
      if (step.status == 200) step.body = says_so ? R"({"properties":{"provisioningState":"Deleting"}})" : kState;
      return step;
    });
    EXPECT_EQ(rig.ask("one", "DELETE " + std::string(kScaleSet)).head.status, 202);
    rig.pass(std::chrono::hours(1) + std::chrono::minutes(1));
    EXPECT_EQ(rig.shared().locks.counts().keys > 0, says_so) << "lease.max, one hour";
  }
}

// Somebody's run of writes, that asks for the scale set.
class RunThatWaits {
 public:
  explicit RunThatWaits(StageRig& rig) : rig_(rig), client_(client_key(rig.shared().hasher, "heal")), asked_(rig.now()) {
    const std::string id(arm::path_of(kScaleSet));
    const auto lease = rig.shared().run_leases.take({lower_text(id)}, client_, "heal", "a repair", rig.now());
    EXPECT_TRUE(lease.ok() && !lease->held);
    if (lease.ok()) id_ = lease->id;
  }
  // For how long it has waited, when it has the lease; renewed each second.
  Duration waited() {
    for (int i = 0; i < 120; ++i) {
      const auto lease = rig_.shared().run_leases.renew(id_, rig_.now());
      EXPECT_TRUE(lease.has_value());
      if (!lease || lease->held) break;
      rig_.pass(seconds(1));
    }
    return rig_.now() - asked_;
  }

 private:
  StageRig& rig_;
  const Hash128 client_;
  const TimePoint asked_;
  std::string id_;
};

TEST(Watching, ALeaseForARunWaitsForAnOperationAsAWriteDoes) {
  StageRig rig;
  begin_unpaced(rig, {"InProgress", "Succeeded"});
  rig.pass(seconds(4));
  RunThatWaits run(rig);
  EXPECT_LE(run.waited(), seconds(5)) << "asked at once, and after as long as it had run";
  EXPECT_TRUE(rig.script_is_done());
}

// What ARM tells the bearers of some tokens about an operation, or its resource: 401 to all others.
std::function<Step(const arm::Request&)> tells_only(std::vector<std::string> tokens, std::string body) {
  return [tokens = std::move(tokens), body = std::move(body)](const arm::Request& request) {
    Step step;
    const auto token = request.head.fields.get("authorization");
    step.status = std::find(tokens.begin(), tokens.end(), token) == tokens.end() ? 401 : 200;
    step.body = step.status == 200 ? body : "{}";
    return step;
  };
}

TEST(Watching, AnOperationWhoseClientsTokenIsDeadIsAskedAboutWithThatOfWhoWaits) {
  StageRig rig;
  begin_unpaced(rig, {});
  rig.arm_lives(tells_only({"Bearer of-two"}, R"({"status":"Succeeded"})"));
  EXPECT_EQ(rig.ask("two", patch(kScaleSet), R"({"a":2})").head.fields.get("x-armgate-waited-ms"), "2000");
}

TEST(Watching, AnOperationWhoseClientsTokenIsDeadIsAskedAboutWithThatOfWhoWaitsForALease) {
  StageRig rig;
  begin_unpaced(rig, {});
  rig.arm_lives(tells_only({"Bearer of-heal"}, R"({"status":"Succeeded"})"));
  rig.pass(seconds(4));
  RunThatWaits run(rig);
  rig.ask("heal", get(kNetwork));
  EXPECT_LE(run.waited(), seconds(5));
}

TEST(Watching, ATokenThatIsLentForALeaseIsTakenBackWithIt) {
  StageRig rig;
  begin_unpaced(rig, {});
  rig.arm_lives(tells_only({}, "{}"));
  rig.pass(seconds(4));
  const RunThatWaits run(rig);
  rig.ask("heal", get(kNetwork));
  rig.pass(seconds(20));
  const auto op_lease =
      rig.shared().op_leases.on_key(rig.shared().locks.key_of(lower_text(std::string(arm::path_of(kScaleSet)))))[0];
  EXPECT_EQ(op_lease->authorization(), "Bearer of-heal");
  rig.pass(seconds(60));
  ASSERT_EQ(rig.shared().run_leases.expire(rig.now()).size(), 1u);
  EXPECT_EQ(op_lease->authorization(), "Bearer of-one");
}

TEST(Watching, WhatCameToRestIsSeenWithTheTokenOfWhoWaitsToo) {
  StageRig rig;
  rig.arm(put(kSubnet), 201, {{"Azure-AsyncOperation", kOperation}}, "{}");
  rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
  rig.ask("one", put(kSubnet), "{}");
  rig.ask("one", kPoll);
  std::vector<std::string> shown;
  const auto answer = tells_only({"Bearer of-two"}, kState);
  rig.arm_lives([&](const arm::Request& request) {
    Step step = answer(request);
    if (request.head.method == arm::Method::Get && step.status == 200) shown.push_back(request.head.target);
    return step;
  });
  EXPECT_EQ(rig.ask("two", patch(kNetwork), R"({"a":1})").head.status, 200);
  EXPECT_EQ(shown.size(), 2u) << "the subnet and its network";
}

// Observed: the URL of the resource itself as Location.
TEST(Watching, AReadOfTheResourceEndsNoOperationThatHasAUrlOfItsOwn) {
  StageRig rig;
  const std::string location = "https://management.azure.com" + std::string(kScaleSet);
  rig.arm(patch(kScaleSet), 202, {{"Azure-AsyncOperation", kOperation}, {"Location", location}});
  rig.ask("one", patch(kScaleSet), R"({"a":1})");
  rig.arm(get(kScaleSet), 200, {}, kState);
  rig.ask("dashboard", get(kScaleSet));
  EXPECT_EQ(rig.shared().op_leases.size(), 1u);
  rig.arm(kPoll, 200, {}, R"({"status":"Succeeded"})");
  rig.ask("one", kPoll);
  EXPECT_TRUE(rig.shared().op_leases.empty());
}

// An operation about which ARM wants to be asked every 100 s at most, and somebody who waits for its end from its 40th second on.
std::shared_ptr<StageRig::Running> wait_for_operation(StageRig& rig) {
  rig.arm(patch(kScaleSet), 202, {{"Azure-AsyncOperation", kOperation}, {"Retry-After", "100"}});
  rig.ask("one", patch(kScaleSet), R"({"a":1})");
  rig.pass(seconds(40));
  return rig.start("two", patch(kScaleSet), R"({"a":2})");
}

TEST(Watching, AnAbortThatArmTakesIsFollowedByALook) {
  StageRig rig;
  const auto second = wait_for_operation(rig);
  rig.pass(seconds(2));
  rig.arm(kAbort, 202);
  for (int i = 0; i < 2; ++i) rig.arm(kPoll, 200, {{"Retry-After", "100"}}, R"({"status":"Canceling"})");
  rig.arm(kPoll, 200, {}, R"({"status":"Canceled"})");
  rig.arm(patch(kScaleSet), 200, {}, kState);
  rig.ask("one", kAbort);
  rig.run_until([&] { return second->done; });
  EXPECT_EQ(second->link->answer().head.fields.get("x-armgate-waited-ms"), "4000") << "looks at once, and 1 and 2 s later";
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Watching, AnAbortEndsNothingByItself) {
  StageRig rig;
  const auto second = wait_for_operation(rig);
  rig.arm(kAbort, 202);
  for (int i = 0; i < 3; ++i) rig.arm(kPoll, 200, {}, R"({"status":"InProgress"})");
  rig.ask("one", kAbort);
  rig.pass(seconds(3));
  EXPECT_FALSE(second->done);
  EXPECT_EQ(rig.shared().op_leases.size(), 1u);
}

TEST(Watching, AnAbortThatArmRefusesChangesNothing) {
  StageRig rig;
  const auto second = wait_for_operation(rig);
  rig.arm(kAbort, 409, {}, "{}");
  rig.ask("one", kAbort);
  rig.pass(seconds(9));
  EXPECT_EQ(rig.seen().size(), 2u) << "the write and the abort";
}

TEST(Watching, AnAbortWhileNobodyWaitsCostsNoRead) {
  StageRig rig;
  rig.arm(patch(kScaleSet), 202, {{"Azure-AsyncOperation", kOperation}, {"Retry-After", "100"}});
  rig.arm(kAbort, 202);
  rig.ask("one", patch(kScaleSet), R"({"a":1})");
  rig.ask("one", kAbort);
  rig.pass(seconds(50));
  EXPECT_EQ(rig.seen().size(), 2u);
}

// That the resource is in a final state does not show that ARM will not carry it out any more, over what others write. With a
// precondition it cannot, and who has read nothing sets values whatever is there.
TEST(Watching, WhatWasLostAfterAComparisonKeepsOthersAwayForAWhile) {
  const char* const without_etag = R"({"sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
  struct Case {
    const char* name;
    bool has_read;
    arm::Headers precondition;
    const char* waited_ms;
  };
  for (const Case& each :
       {Case{"unread", false, {}, "1000"}, Case{"read", true, {}, "10000"},
        Case{"its own precondition", false, {{"If-Match", "\"1\""}}, "900"}}) {  // its client was told before it left
    SCOPED_TRACE(each.name);
    auto options = StageRig::default_options();
    options.wait_max = seconds(100);
    StageRig rig(options);
    bool is_lost = false;
    rig.arm_lives([&](const arm::Request& request) {
      Step step;
      step.expected = request.head.method_token;
      step.body = without_etag;
      if (request.head.method == arm::Method::Put && !std::exchange(is_lost, true))
        step.failure = upstream_error(ErrorKind::Reset, Sent::Maybe, "the script says so");
      return step;
    });
    if (each.has_read) rig.ask("one", get(kScaleSet));
    const auto lost = rig.start("one", put(kScaleSet), R"({"sku":{"capacity":2}})", each.precondition);
    rig.pass(std::chrono::milliseconds(100));
    lost->link->leave(Leaving::Reset);
    rig.run_until([&] { return lost->done; });
    const auto asked_before = rig.seen().size();
    const auto next = rig.ask("two", patch(kScaleSet), R"({"a":2})");
    EXPECT_EQ(next.head.status, 200);
    EXPECT_EQ(next.head.fields.get("x-armgate-waited-ms"), each.waited_ms);
    EXPECT_LE(rig.seen().size() - asked_before, 11u) << "asked rarely";
  }
}

}  // namespace
}  // namespace armgate::world::watch_test
