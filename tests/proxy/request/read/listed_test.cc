// Goal: what is read by POST (the settings of an App Service) is read all the same: whoever lists and then writes the whole is compared
// with what it was shown. Method: two clients and a scripted ARM that shows the settings to POST alone.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/support/stage_rig.h"

namespace armgate::world::listed_test {
namespace {

const std::string kSettings = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Web/sites/w/config/appsettings";
const std::string kVersion = "?api-version=2023-12-01";
const std::string kList = "POST " + kSettings + "/list" + kVersion;
const std::string kPut = "PUT " + kSettings + kVersion;

std::string settings(const std::string& properties, const std::string& id = kSettings) {
  return R"({"id":")" + id + R"(","name":"appsettings","type":"Microsoft.Web/sites/config","properties":{)" + properties + "}}";
}

TEST(Listed, WhoListsAndWritesTheWholeKeepsWhatAnotherHasSetMeanwhile) {
  StageRig rig;
  rig.pass(std::chrono::hours(13));  // nothing of before counts any more
  for (const char* client : {"ann", "ben"}) {
    rig.arm(kList, 200, {}, settings(R"("x":"0")"));
    rig.ask(client, kList);
  }
  rig.arm(kList, 200, {}, settings(R"("x":"0")"));  // what is there
  rig.arm(kPut, 200, {}, settings(R"("x":"0","ann":"1")"));
  EXPECT_EQ(rig.ask("ann", kPut, settings(R"("x":"0","ann":"1")")).head.status, 200);
  rig.arm(kList, 200, {}, settings(R"("x":"0","ann":"1")"));
  rig.arm(kPut, 200, {}, settings(R"("x":"0","ann":"1","ben":"1")"));
  const auto answer = rig.ask("ben", kPut, settings(R"("x":"0","ben":"1")"));
  EXPECT_EQ(answer.head.status, 200) << answer.body;
  EXPECT_NE(rig.seen().back().body.find(R"("ann":"1")"), std::string::npos) << rig.seen().back().body;
  EXPECT_EQ(answer.head.fields.get("x-armgate-merged"), "1");
}

TEST(Listed, WhoSetsTheSameIsToldOfTheOther) {
  StageRig rig;
  rig.arm(kList, 200, {}, settings(R"("x":"0")"));
  rig.ask("ben", kList);
  rig.arm(kList, 200, {}, settings(R"("x":"1")"));
  const auto answer = rig.ask("ben", kPut, settings(R"("x":"2")"));
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_NE(answer.body.find("/properties/x"), std::string::npos) << answer.body;
  // Listed again it goes.
  rig.arm(kList, 200, {}, settings(R"("x":"1")"));
  rig.ask("ben", kList);
  rig.arm(kList, 200, {}, settings(R"("x":"1")"));
  rig.arm(kPut, 200, {}, settings(R"("x":"2")"));
  EXPECT_EQ(rig.ask("ben", kPut, settings(R"("x":"2")")).head.status, 200);
}

TEST(Listed, ItsOwnAnswerIsComparedByPostToo) {
  StageRig rig;
  rig.arm(kList, 200, {}, settings(R"("x":"0")"));
  rig.ask("ann", kList);
  for (const char* value : {"1", "2"}) {
    rig.arm(kList, 200, {}, settings(std::string(R"("x":")") + (value == std::string("1") ? "0" : "1") + "\""));
    rig.arm(kPut, 200, {}, settings(std::string(R"("x":")") + value + "\""));
    EXPECT_EQ(rig.ask("ann", kPut, settings(std::string(R"("x":")") + value + "\"")).head.status, 200);
  }
}

// An ARM that holds the settings, shows them to POST alone, and answers a GET as it is told to.
struct Settings {
  std::string there{};
  int get_status = 405;
  Step operator()(const arm::Request& request) {
    Step step;
    if (request.head.method == arm::Method::Put) there = request.body;
    step.body = there;
    if (request.head.method != arm::Method::Get) return step;
    step.status = get_status;
    step.body = R"({"error":{"code":"x","message":"y"}})";
    return step;
  }
};

// What was kept of its state came with the answer to a PUT then, and the list had the same bytes.
TEST(Listed, WhatWasWrittenBeforeAnybodyListedItIsReadByPostToo) {
  for (const int get_status : {405, 404}) {
    StageRig rig;
    Settings arm{.get_status = get_status};
    rig.arm_lives([&](const arm::Request& request) { return arm(request); });
    rig.pass(std::chrono::hours(13));
    rig.ask("ann", kPut, settings(R"("x":"0")"));
    rig.ask("ben", kList);
    EXPECT_EQ(rig.ask("ann", kPut, settings(R"("x":"0","ann":"1")")).head.status, 200) << get_status;
    EXPECT_EQ(rig.ask("ben", kPut, settings(R"("x":"0","ben":"1")")).head.status, 200) << get_status;
    EXPECT_NE(arm.there.find(R"("ann":"1")"), std::string::npos) << arm.there;
    EXPECT_NE(arm.there.find(R"("ben":"1")"), std::string::npos) << arm.there;
  }
}

TEST(Listed, WhoListsAgainAndAgainGetsThrough) {
  StageRig rig;
  Settings arm{.get_status = 404};
  rig.arm_lives([&](const arm::Request& request) { return arm(request); });
  rig.pass(std::chrono::hours(13));
  rig.ask("ann", kPut, settings(R"("x":"0")"));
  for (int round = 0; round < 4; ++round) {
    rig.ask("ann", kList);
    EXPECT_EQ(rig.ask("ann", kPut, settings(R"("x":"0","ann":")" + std::to_string(round) + "\"")).head.status, 200) << round;
  }
}

TEST(Listed, WhatWasChangedAroundArmgateIsSeen) {
  StageRig rig;
  Settings arm;
  rig.arm_lives([&](const arm::Request& request) { return arm(request); });
  rig.pass(std::chrono::hours(13));
  rig.ask("ann", kPut, settings(R"("x":"0")"));
  rig.ask("ann", kList);
  arm.there = settings(R"("x":"0","portal":"1")");
  EXPECT_EQ(rig.ask("ann", kPut, settings(R"("x":"1")")).head.status, 200);
  EXPECT_NE(arm.there.find(R"("portal":"1")"), std::string::npos) << arm.there;
}

// Its URL ends as that of a list.
TEST(Listed, AResourceOfTheNameListIsReadByGet) {
  const std::string network =
      "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/list?api-version=1";
  StageRig rig;
  std::string there = R"({"location":"w","tags":{"a":"1"},"properties":{"provisioningState":"Succeeded"}})";
  bool loses_deletes = true;
  rig.arm_lives([&](const arm::Request& request) {
    Step step;
    EXPECT_NE(request.head.method, arm::Method::Post);
    if (request.head.method == arm::Method::Put) there = request.body;
    if (request.head.method == arm::Method::Delete && std::exchange(loses_deletes, false))
      step.failure = upstream_error(ErrorKind::Reset, Sent::Maybe, "lost");
    else if (request.head.method == arm::Method::Delete)
      there.clear();
    step.status = there.empty() ? 404 : 200;
    step.body = there;
    return step;
  });
  rig.ask("ann", "GET " + network);
  const std::string wanted = R"({"location":"w","tags":{"a":"1","b":"2"},"properties":{}})";
  EXPECT_EQ(rig.ask("ann", "PUT " + network, wanted).head.status, 200);
  rig.ask("ann", "DELETE " + network);
  EXPECT_TRUE(there.empty()) << "the lost one went again";
}

TEST(Listed, WhatNamesAnotherResourceOrNoneShowsNothing) {
  for (const std::string& body :
       {settings(R"("x":"0")", kSettings + "/other"), std::string(R"({"keys":[]})"), std::string("[]")}) {
    StageRig rig;
    rig.arm(kList, 200, {}, body);
    EXPECT_EQ(rig.ask("ann", kList).body, body);
    rig.arm(kPut, 200, {}, "{}");
    EXPECT_EQ(rig.ask("ann", kPut, settings(R"("x":"1")")).head.status, 200);
  }
  StageRig rig;
  rig.arm(kList, 404, {}, "{}");
  rig.ask("ann", kList);
  rig.arm(kPut, 200, {}, "{}");
  const auto answer = rig.ask("ann", kPut, settings(R"("x":"1")"));
  EXPECT_EQ(answer.head.fields.get("x-armgate-guard"), "forgotten") << "it is not known to be absent";
}

}  // namespace
}  // namespace armgate::world::listed_test
