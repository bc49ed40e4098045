// The answer to a create is kept back until reads show what it made (rule key shown.consecutive).
#include <gtest/gtest.h>

#include "rules/file/rule_file.h"
#include "tests/support/stage_rig.h"

namespace armgate::world::shown_test {
namespace {

const std::string kMade = R"({"name":"g","location":"w","properties":{"provisioningState":"Succeeded"}})";

class Shown : public testing::Test {
 protected:
  Shown() {
    rules::FaultList faults;
    auto rules = rules::read_rules("r.json", R"({"rules": [{"name": "groups",
        "match": {"types": ["Microsoft.Resources/resourceGroups"]}, "shown": {"consecutive": 3, "every": "2s"}}]})",
                                   faults);
    EXPECT_TRUE(faults.empty());
    rig.shared().rules.replace(std::make_shared<const rules::Ruleset>(std::move(rules)), rules::Mode::Protect);
  }
  // What the reads after the PUT find, and how long the answer waits for them.
  std::string waited(int status, const std::vector<int>& reads) {
    rig.arm(put(kGroup), status, {}, kMade);
    for (const int read : reads) rig.arm(get(kGroup), read, {}, read == 200 ? kMade : "{}");
    const auto answer = rig.ask("one", put(kGroup), R"({"location":"w"})");
    EXPECT_EQ(answer.head.status, status);
    EXPECT_EQ(answer.body, kMade) << "ARM's own";
    EXPECT_TRUE(rig.script_is_done());
    return answer.head.fields.get("x-armgate-waited-ms").empty() ? "0"
                                                                 : std::string(answer.head.fields.get("x-armgate-waited-ms"));
  }
  StageRig rig;
};

TEST_F(Shown, TheAnswerComesWhenSoManyReadsInARowHaveFoundIt) { EXPECT_EQ(waited(201, {200, 200, 200}), "4000"); }

TEST_F(Shown, A404CountsFromTheBeginning) { EXPECT_EQ(waited(201, {200, 404, 200, 200, 404, 200, 200, 200}), "14000"); }

TEST_F(Shown, ReadsThatTellNothingKeepNobodyWaiting) { EXPECT_EQ(waited(201, {200, 403}), "2000"); }

TEST_F(Shown, WhatNobodyWasToldToBeThereMayBeNew) { EXPECT_EQ(waited(200, {200, 200, 200}), "4000"); }

TEST_F(Shown, ARefusedCreateIsAnsweredAtOnce) {
  rig.arm(put(kGroup), 409, {}, R"({"error":{"code":"InvalidResourceGroupLocation","message":"m"}})");
  EXPECT_EQ(rig.ask("one", put(kGroup), R"({"location":"w"})").head.status, 409);
  EXPECT_EQ(rig.seen().size(), 1u);
}

TEST_F(Shown, WhenTheQueueTimeoutOfTheClientEndsItGetsArmsAnswerAllTheSame) {
  rig.arm(put(kGroup), 201, {}, kMade);
  for (int i = 0; i < 26; ++i) rig.arm(get(kGroup), 404, {}, "{}");
  const auto answer = rig.ask("one", put(kGroup), R"({"location":"w"})");
  EXPECT_EQ(answer.head.status, 201);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "waited-until-reads-show-it");
}

TEST(ShownByDefault, NoReadIsMade) {
  StageRig rig;
  rig.arm(put(kGroup), 201, {}, kMade);
  EXPECT_EQ(rig.ask("one", put(kGroup), R"({"location":"w"})").head.status, 201);
  EXPECT_EQ(rig.seen().size(), 1u);
}

}  // namespace
}  // namespace armgate::world::shown_test
