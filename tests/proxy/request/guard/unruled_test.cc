// Types that no rule names: protected as far as it can be done without knowing them, and never worse off than without armgate.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::unruled_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const std::string kWidget = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Example/widgets/w?api-version=2024-01-01";
const std::string kRefusal = R"({"error":{"code":"Scripted","message":"m"}})";

std::string widget(int capacity, std::string_view more = "") {
  return fmt::format(R"({{"location":"westeurope","properties":{{"capacity":{}{}}}}})", capacity, more);
}

std::string guard_of(const arm::Response& answer) { return std::string(answer.head.fields.get("x-armgate-guard")); }
std::string reason_of(const arm::Response& answer) { return std::string(answer.head.fields.get("x-armgate-reason")); }

TEST(Unruled, WhatAClientWasShownIsComparedUnderTheLockAndNoEtagIsAdded) {
  StageRig rig;
  const arm::Headers etag{{"ETag", "\"1\""}};
  rig.arm(get(kWidget), 200, etag, widget(1));
  rig.arm(get(kWidget), 200, etag, widget(1));
  rig.arm(put(kWidget), 200, etag, widget(2));
  rig.ask("one", get(kWidget));
  const auto answer = rig.ask("one", put(kWidget), widget(2));
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(guard_of(answer), "newest, verified");
  EXPECT_FALSE(rig.seen()[2].head.fields.has("If-Match")) << "whether the type heeds it is not known";
}

TEST(Unruled, AStaleWriteIsRefused) {
  StageRig rig;
  rig.arm(get(kWidget), 200, {}, widget(1));
  rig.arm(get(kWidget), 200, {}, widget(5));
  rig.ask("one", get(kWidget));
  const auto answer = rig.ask("one", put(kWidget), widget(2));
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_EQ(reason_of(answer), "conflict");
  EXPECT_TRUE(rig.script_is_done());
}

// Of a type that nobody has described no array has keys that are known: two elements with one name may be two things.
TEST(Unruled, MembersAndTagsAreMergedAndNothingInArrays) {
  const auto with = [](std::string_view tags, std::string_view items, int size) {
    return fmt::format(R"({{"tags":{{{}}},"properties":{{"items":[{}],"size":{}}}}})", tags, items, size);
  };
  constexpr std::string_view kItem = R"({"name":"a"})", kMore = R"({"name":"a"},{"name":"b"})";
  const struct {
    std::string wanted;
    int status;
    std::string merged;
  } cases[] = {{with(R"("mine":"1")", kItem, 1), 200, with(R"("other":"1","mine":"1")", kItem, 1)},
               {with("", kItem, 2), 200, with(R"("other":"1")", kItem, 2)},
               {with("", kMore, 1), 412, ""}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.wanted);
    StageRig rig;
    rig.arm(get(kWidget), 200, {}, with("", kItem, 1));
    rig.arm(get(kWidget), 200, {}, with(R"("other":"1")", kItem, 1));
    if (c.status == 200) rig.arm(put(kWidget), 200, {}, "{}");
    rig.ask("one", get(kWidget));
    EXPECT_EQ(rig.ask("one", put(kWidget), c.wanted).head.status, c.status);
    const std::string sent = c.status == 200 ? rig.seen().back().body : "";
    EXPECT_EQ(sent, c.merged);
    EXPECT_TRUE(rig.script_is_done());
  }
}

TEST(Unruled, WhoWasShownNothingAndWhoOnlyMeansSomethingGoWithoutALook) {
  StageRig rig;
  rig.arm(put(kWidget), 200, {}, widget(2));
  rig.arm("PATCH " + kWidget, 200, {}, widget(3));
  rig.arm("DELETE " + kWidget, 204);
  EXPECT_EQ(guard_of(rig.ask("one", put(kWidget), widget(2))), "forgotten");
  EXPECT_EQ(rig.ask("two", "PATCH " + kWidget, widget(3)).head.status, 200);
  EXPECT_EQ(rig.ask("two", "DELETE " + kWidget).head.status, 204);
  EXPECT_TRUE(rig.script_is_done());
}

// Each way in which the comparing GET can fail for good: the write goes as it would have gone without armgate, and the answer says so.
TEST(Unruled, AWriteWhoseResourceIsNotShownToItsClientPassesAndTheAnswerSaysSo) {
  for (const int status : {204, 302, 400, 401, 403, 405, 409, 410, 501}) {
    SCOPED_TRACE(status);
    StageRig rig;
    rig.arm(get(kWidget), 200, {}, widget(1));
    rig.arm(get(kWidget), status, {}, kRefusal);
    rig.arm(put(kWidget), 200, {}, widget(2));
    rig.ask("one", get(kWidget));
    const auto answer = rig.ask("one", put(kWidget), widget(2));
    EXPECT_EQ(answer.head.status, 200);
    EXPECT_EQ(guard_of(answer), "newest, unverified");
    EXPECT_TRUE(rig.script_is_done());
  }
}

// What passes by itself is tried again, and then the client is told to come again: nothing was sent.
TEST(Unruled, AWriteWhoseResourceCannotBeReadForAMomentWaitsForIt) {
  for (const int status : {408, 429, 500, 503}) {
    SCOPED_TRACE(status);
    StageRig rig;
    rig.arm(get(kWidget), 200, {}, widget(1));
    rig.arm(get(kWidget), status, {}, kRefusal);
    rig.arm(get(kWidget), 200, {}, widget(1));
    rig.arm(put(kWidget), 200, {}, widget(2));
    rig.ask("one", get(kWidget));
    const auto answer = rig.ask("one", put(kWidget), widget(2));
    EXPECT_EQ(answer.head.status, 200);
    EXPECT_EQ(guard_of(answer), "newest, verified");
  }
}

TEST(Unruled, AReadThatTimesOutIsTriedAgain) {
  for (const Sent sent : {Sent::No, Sent::Maybe}) {
    StageRig rig;
    rig.arm(get(kWidget), 200, {}, widget(1));
    rig.arm_fails(get(kWidget), sent);
    rig.arm(get(kWidget), 200, {}, widget(1));
    rig.arm(put(kWidget), 200, {}, widget(2));
    rig.ask("one", get(kWidget));
    const auto answer = rig.ask("one", put(kWidget), widget(2));
    EXPECT_EQ(answer.head.status, 200);
    EXPECT_EQ(guard_of(answer), "newest, verified");
    EXPECT_TRUE(rig.script_is_done());
  }
}

// What is no JSON object is still the same bytes or others.
TEST(Unruled, AResourceThatIsNoJsonIsComparedByItsBytes) {
  for (const std::string page : {"<html>down</html>", "[]", "null", "{", ""}) {
    SCOPED_TRACE(page);
    for (const bool same : {true, false}) {
      StageRig rig;
      rig.arm(get(kWidget), 200, {}, page);
      rig.arm_lives([&](const arm::Request& request) {
        Step step;
        step.body = request.head.method == arm::Method::Put || !same ? widget(2) : page;
        return step;
      });
      rig.ask("one", get(kWidget));
      EXPECT_EQ(rig.ask("one", put(kWidget), widget(3)).head.status, same ? 200 : 412);
    }
  }
}

// The read is tried for half a minute, or not at all if ARM wants a longer pause. Then the client is told when to come again: when
// ARM lets the resource be read, but not after more than a minute, for which azcore would give up.
TEST(Unruled, OneThatCannotBeReadForLongIsToldWhenToComeAgain) {
  const struct {
    int status;  // 0: no answer
    std::string_view asks_for, told;
  } cases[] = {
      {408, "", "2"}, {429, "", "2"},  {500, "", "2"},    {502, "", "2"},    {503, "", "2"},      {504, "", "2"},
      {0, "", "2"},   {429, "1", "2"}, {429, "20", "20"}, {503, "45", "45"}, {429, "3600", "60"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << c.status << " " << c.asks_for);
    StageRig rig;
    rig.arm(get(kWidget), 200, {}, widget(1));
    rig.ask("one", get(kWidget));
    rig.arm_lives([&](const arm::Request& request) {
      EXPECT_EQ(request.head.method, arm::Method::Get) << "nothing was sent";
      Step step;
      step.status = c.status;
      step.body = kRefusal;
      if (c.status == 0) step.failure = upstream_error(ErrorKind::TimedOut, Sent::Maybe, "the script says so");
      if (!c.asks_for.empty()) step.fields = {{"Retry-After", std::string(c.asks_for)}};
      return step;
    });
    const TimePoint before = rig.now();
    const auto answer = rig.ask("one", put(kWidget), widget(2));
    EXPECT_EQ(answer.head.status, 503);
    EXPECT_EQ(reason_of(answer), "verify-failed");
    EXPECT_EQ(answer.head.fields.get("Retry-After"), c.told);
    EXPECT_LE(rig.now() - before, seconds(30));
    // And then it goes.
    rig.arm_lives([&](const arm::Request& request) {
      Step step;
      step.body = request.head.method == arm::Method::Get ? widget(1) : widget(2);
      return step;
    });
    EXPECT_EQ(guard_of(rig.ask("one", put(kWidget), widget(2))), "newest, verified");
  }
}

// Many types answer every GET with 404, or have none.
TEST(Unruled, ATypeWithoutAGetIsNoDeletedResource) {
  StageRig rig;
  rig.arm(put(kWidget), 201, {}, widget(1));
  rig.arm(get(kWidget), 404, {}, kRefusal);
  rig.arm(put(kWidget), 200, {}, widget(2));
  rig.ask("one", put(kWidget), widget(1));
  const auto answer = rig.ask("one", put(kWidget), widget(2));
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(guard_of(answer), "newest, unverified");
  EXPECT_EQ(answer.head.fields.get("x-armgate-waited-ms"), "0") << "it is no read that lags behind";
}

TEST(Unruled, OneThatWasReadAndIsGoneIsStale) {
  StageRig rig;
  rig.arm(put(kWidget), 201, {}, widget(1));
  rig.arm(get(kWidget), 200, {}, widget(1));
  rig.arm_lives([](const arm::Request& request) {
    EXPECT_EQ(request.head.method, arm::Method::Get) << "nothing was sent";
    return Step{.expected = "GET ", .status = 404, .fields = {}, .body = kRefusal, .failure = {}, .breaks_at = {}, .takes = {}};
  });
  rig.ask("one", put(kWidget), widget(1));
  rig.ask("one", get(kWidget));
  EXPECT_EQ(rig.ask("one", put(kWidget), widget(2)).head.status, 412);
}

TEST(Unruled, OneThatAnotherDeletedIsNotMadeAgainUnawares) {
  StageRig rig;
  rig.arm(put(kWidget), 201, {}, widget(1));
  rig.arm("DELETE " + kWidget, 200);
  rig.arm(get(kWidget), 404, {}, kRefusal);
  rig.ask("one", put(kWidget), widget(1));
  rig.ask("two", "DELETE " + kWidget);
  EXPECT_EQ(rig.ask("one", put(kWidget), widget(2)).head.status, 412);
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Unruled, WritesOfSeveralWaitForTheOperationAndOneClientsOwnDoNot) {
  StageRig rig;
  const std::string running = widget(1, R"(,"provisioningState":"Updating")");
  rig.arm(put(kWidget), 200, {}, running);
  rig.arm("PATCH " + kWidget, 200, {}, running);
  rig.ask("one", put(kWidget), widget(1));
  EXPECT_EQ(rig.ask("one", "PATCH " + kWidget, R"({"properties":{"capacity":2}})").head.fields.get("x-armgate-waited-ms"), "0");
  rig.arm_lives([&](const arm::Request& request) {
    Step step{.expected = "", .status = 200, .fields = {}, .body = running, .failure = {}, .breaks_at = {}, .takes = {}};
    if (request.head.method == arm::Method::Get && rig.now().time_since_epoch() > seconds(20)) step.body = widget(2);
    return step;
  });
  const auto answer = rig.ask("two", "PATCH " + kWidget, widget(3));
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(reason_of(answer), "waited-for-another-write");
}

// A member that no two reads show alike: after two refusals its client is believed, unless somebody wrote meanwhile.
TEST(Unruled, AMemberThatMovesByItselfDoesNotMakeAResourceUnusable) {
  for (const bool somebody_wrote : {false, true}) {
    StageRig rig(unmerged());
    int reads = 0;
    rig.arm_lives([&](const arm::Request&) {
      const std::string clock = fmt::format(R"(,"readings":{})", ++reads);
      return Step{
          .expected = "", .status = 200, .fields = {}, .body = widget(1, clock), .failure = {}, .breaks_at = {}, .takes = {}};
    });
    std::vector<int> statuses;
    for (int tries = 0; tries < 3; ++tries) {
      const auto shown = rig.ask("one", get(kWidget));
      if (somebody_wrote && tries == 1) rig.ask("two", "PATCH " + kWidget, R"({"tags":{}})");
      const auto answer = rig.ask("one", put(kWidget), widget(2, fmt::format(R"(,"readings":{})", reads)));
      statuses.push_back(answer.head.status);
      EXPECT_EQ(guard_of(answer).ends_with(", forced"), answer.head.status == 200) << guard_of(answer);
    }
    EXPECT_EQ(statuses, (somebody_wrote ? std::vector{412, 412, 412} : std::vector{412, 412, 200}));
  }
}

// Several actors behind one name: that others of them were refused says nothing about a write which has not been tried yet.
TEST(Unruled, RefusalsOfOtherChangesDoNotForceAWrite) {
  StageRig rig(unmerged());
  const auto tagged = [](const char* tag) { return widget(1, fmt::format(R"(,"of":"{}")", tag)); };
  std::string there = widget(1);
  rig.arm_lives([&](const arm::Request& request) {
    if (request.head.method == arm::Method::Put) there = request.body;
    return Step{.expected = "", .status = 200, .fields = {}, .body = there, .failure = {}, .breaks_at = {}, .takes = {}};
  });
  for (int actor = 0; actor < 4; ++actor) rig.ask("jvm", get(kWidget));
  EXPECT_EQ(rig.ask("two", put(kWidget), tagged("two")).head.status, 200);
  for (const char* own : {"a", "b"}) {
    EXPECT_EQ(rig.ask("jvm", put(kWidget), widget(1, fmt::format(R"(,"{}":1)", own))).head.status, 412) << own;
    rig.ask("jvm", get(kWidget));
  }
  EXPECT_EQ(rig.ask("jvm", put(kWidget), widget(1, R"(,"c":1)")).head.status, 412) << "two's change would be lost";
}

// Merged, it is in nobody's way.
TEST(Unruled, WhatMovesByItselfBesideAChangeIsKeptAsItIs) {
  StageRig rig;
  int reads = 0;
  rig.arm_lives([&](const arm::Request&) {
    const std::string clock = fmt::format(R"(,"readings":{})", ++reads);
    return Step{
        .expected = "", .status = 200, .fields = {}, .body = widget(1, clock), .failure = {}, .breaks_at = {}, .takes = {}};
  });
  for (int tries = 0; tries < 3; ++tries) {
    rig.ask("one", get(kWidget));
    const auto answer = rig.ask("one", put(kWidget), widget(2, fmt::format(R"(,"readings":{})", reads)));
    EXPECT_EQ(answer.head.status, 200) << "at try " << tries;
    EXPECT_EQ(rig.seen().back().body.find(R"("readings":0)"), std::string::npos);
  }
}

// A state that is none of ARM's terminal ones.
TEST(Unruled, AnOperationThatNeverEndsShutsOthersOutForABoundedTime) {
  StageRig rig;
  rig.arm_lives([](const arm::Request&) {
    return Step{.expected = "",
                .status = 200,
                .fields = {},
                .body = widget(1, R"(,"provisioningState":"Waiting")"),
                .failure = {},
                .breaks_at = {},
                .takes = {}};
  });
  const TimePoint start = rig.now();
  rig.ask("one", put(kWidget), widget(1));
  int status = 503;
  while (status == 503 && rig.now() - start < minutes(40)) {
    status = rig.ask("two", "PATCH " + kWidget, widget(2)).head.status;
    if (status == 503) rig.pass(seconds(2));
  }
  EXPECT_EQ(status, 200);
  EXPECT_LE(rig.now() - start, minutes(31));
  ASSERT_EQ(rig.loud().size(), 1u);
  EXPECT_TRUE(rig.loud().front().starts_with("lease expired:")) << rig.loud().front();
}

}  // namespace
}  // namespace armgate::world::unruled_test
