// A stale write whose change touches something else is merged with what others did, and what its client goes on from then
// (docs/merging.md).
#include <gtest/gtest.h>

#include <string>

#include "tests/support/stage_rig.h"

namespace armgate::world::merging_test {
namespace {

const std::string kPlain =
    R"({"location":"w","tags":{"team":"x"},"properties":{"provisioningState":"Succeeded","flowTimeoutInMinutes":4}})";
const std::string kWithA =
    R"({"location":"w","tags":{"team":"x","a":"1"},"properties":{"provisioningState":"Succeeded","flowTimeoutInMinutes":4}})";
const std::string kWithB =
    R"({"location":"w","tags":{"team":"x","b":"1"},"properties":{"provisioningState":"Succeeded","flowTimeoutInMinutes":4}})";
const std::string kWithBoth =
    R"({"location":"w","tags":{"team":"x","a":"1","b":"1"},"properties":{"provisioningState":"Succeeded","flowTimeoutInMinutes":4}})";
const std::string kStale = R"({"error":{"code":"PreconditionFailed","message":"m"}})";

// "one" and "two" have read the same, and "one" has added tag a.
struct AfterOnesTag : StageRig {
  explicit AfterOnesTag(PipelineOptions given = default_options()) : StageRig(std::move(given)) {
    for (int reader = 0; reader < 2; ++reader) arm(get(kNetwork), 200, etag("\"1\""), kPlain);
    arm(put(kNetwork), 200, etag("\"2\""), kWithA);
    ask("one", get(kNetwork));
    ask("two", get(kNetwork));
    ask("one", put(kNetwork), kWithA);
  }
};

void arm_is_stale_and_shows(StageRig& rig, std::string tag, std::string body) {
  rig.arm(put(kNetwork), 412, {}, kStale);
  rig.arm(get(kNetwork), 200, etag(std::move(tag)), std::move(body));
}

TEST(Merging, TwoWhoEachAddATagBothSucceed) {
  AfterOnesTag rig;
  arm_is_stale_and_shows(rig, "\"2\"", kWithA);
  rig.arm(put(kNetwork), 200, etag("\"3\""), kWithBoth);
  const auto answer = rig.ask("two", put(kNetwork), kWithB);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.head.fields.get("x-armgate-merged"), "1") << "the other's tag";
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "merged");
  EXPECT_EQ(rig.seen().back().body, kWithBoth);
  EXPECT_EQ(rig.sent_field(rig.seen().size() - 1, "If-Match"), "\"2\"");
  EXPECT_EQ(rig.shared().counters.merged.load(), 1u);
}

TEST(Merging, TwoWhoChangeTheSameAreToldWhat) {
  AfterOnesTag rig;
  arm_is_stale_and_shows(rig, "\"2\"", kWithA);
  const auto answer =
      rig.ask("two", put(kNetwork), R"({"location":"w","tags":{"team":"x","a":"9"},"properties":{"flowTimeoutInMinutes":4}})");
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_NE(answer.body.find("ArmgateConflict"), std::string::npos) << answer.body;
  EXPECT_NE(answer.body.find("Somebody else changed /tags/a 0.0 s ago."), std::string::npos) << answer.body;
  EXPECT_EQ(answer.body.find("\"9\""), std::string::npos) << "no values";
  EXPECT_FALSE(answer.head.fields.has("x-armgate-merged"));
}

TEST(Merging, OfAChangeAroundArmgateItIsNotKnownWhenItCame) {
  StageRig rig;
  rig.arm(get(kNetwork), 200, etag("\"1\""), kPlain);
  rig.ask("one", get(kNetwork));
  arm_is_stale_and_shows(rig, "\"2\"", kWithA);
  const auto answer =
      rig.ask("one", put(kNetwork), R"({"location":"w","tags":{"team":"x","a":"9"},"properties":{"flowTimeoutInMinutes":4}})");
  EXPECT_NE(answer.body.find("/tags/a has changed since, and not by a write whose answer armgate has seen."), std::string::npos)
      << answer.body;
}

TEST(Merging, SwitchedOffAStaleWriteIsRefused) {
  auto off = StageRig::default_options();
  off.merge = rules::Merging::Off;
  auto for_two = StageRig::default_options();
  for_two.clients["two"].merge = rules::Merging::Off;
  for (const auto& options : {off, for_two}) {
    AfterOnesTag rig(options);
    arm_is_stale_and_shows(rig, "\"2\"", kWithA);
    const auto answer = rig.ask("two", put(kNetwork), kWithB);
    EXPECT_EQ(answer.head.status, 412);
    EXPECT_EQ(answer.body, kStale) << "ARM's own bytes";
  }
}

// The most careful of option, client and rule holds.
TEST(Merging, ARuleSwitchesItOffForItsTypes) {
  using rules::Merging;
  const struct {
    Merging rule, option;
    int tag, member;  // the statuses of a write that changes a tag, and of one that changes a member
  } cases[] = {{Merging::On, Merging::On, 200, 200},
               {Merging::Maps, Merging::On, 200, 412},
               {Merging::On, Merging::Maps, 200, 412},
               {Merging::Off, Merging::On, 412, 412},
               {Merging::Off, Merging::Maps, 412, 412}};
  for (const auto& c : cases) {
    for (const bool changes_tag : {true, false}) {
      auto options = StageRig::default_options();
      options.merge = c.option;
      AfterOnesTag rig(options);
      rig.change_rules([&](rules::Rule& rule) { rule.guard.merging = c.rule; });
      arm_is_stale_and_shows(rig, "\"2\"", kWithA);
      rig.arm_lives([](const arm::Request&) { return Step{"", 200, {}, "{}", {}, {}}; });
      const std::string member = R"({"location":"w","tags":{"team":"x"},"properties":{"flowTimeoutInMinutes":9}})";
      EXPECT_EQ(rig.ask("two", put(kNetwork), changes_tag ? kWithB : member).head.status, changes_tag ? c.tag : c.member)
          << to_text(c.rule) << ", " << to_text(c.option);
    }
  }
}

TEST(Merging, ABodyThatAFieldSpeaksAboutIsNotReplaced) {
  AfterOnesTag rig;
  arm_is_stale_and_shows(rig, "\"2\"", kWithA);
  EXPECT_EQ(rig.ask("two", put(kNetwork), kWithB, {{"Content-MD5", "x"}}).head.status, 412);
}

TEST(Merging, MapsAloneAreMergedIfSaidSo) {
  auto maps = StageRig::default_options();
  maps.merge = rules::Merging::Maps;
  AfterOnesTag rig(maps);
  arm_is_stale_and_shows(rig, "\"2\"", kWithA);
  rig.arm(put(kNetwork), 200, etag("\"3\""), kWithBoth);
  EXPECT_EQ(rig.ask("two", put(kNetwork), kWithB).head.status, 200);

  AfterOnesTag other(maps);
  arm_is_stale_and_shows(other, "\"2\"", kWithA);
  EXPECT_EQ(other.ask("two", put(kNetwork), R"({"location":"w","tags":{"team":"x"},"properties":{"flowTimeoutInMinutes":9}})")
                .head.status,
            412);
}

// ---- what its client goes on from ---------------------------------------------------------------------------------------------

// "two"'s write was merged as well.
struct AfterTwosMerge : AfterOnesTag {
  AfterTwosMerge() {
    arm_is_stale_and_shows(*this, "\"2\"", kWithA);
    arm(put(kNetwork), 200, etag("\"3\""), kWithBoth);
    ask("two", put(kNetwork), kWithB);
  }
};

const std::string kWithBAndNine =
    R"({"location":"w","tags":{"team":"x","b":"1"},"properties":{"provisioningState":"Succeeded","flowTimeoutInMinutes":9}})";

TEST(Merging, WhoGoesOnFromWhatItAskedForDoesNotTakeBackWhatWasMergedIn) {
  AfterTwosMerge rig;
  rig.arm(get(kNetwork), 200, etag("\"3\""), kWithBoth);  // to compare
  EXPECT_EQ(rig.ask("two", put(kNetwork), kWithBAndNine).head.status, 412) << "it may mean to remove a, or not know of it";
  // Whoever reads, and sends it all the same, means it.
  rig.arm(get(kNetwork), 200, etag("\"3\""), kWithBoth);
  rig.arm(get(kNetwork), 200, etag("\"3\""), kWithBoth);
  rig.arm(put(kNetwork), 200, etag("\"4\""), kWithBAndNine);
  rig.ask("two", get(kNetwork));
  EXPECT_EQ(rig.ask("two", put(kNetwork), kWithBAndNine).head.status, 200);
  EXPECT_EQ(rig.seen().back().body, kWithBAndNine);
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Merging, WhoGoesOnFromTheAnswerKnowsOfIt) {
  AfterTwosMerge rig;
  rig.arm(put(kNetwork), 200, etag("\"4\""), kWithBoth);
  const std::string next = R"({"location":"w","tags":{"team":"x","a":"1","b":"2"},"properties":{"flowTimeoutInMinutes":4}})";
  EXPECT_EQ(rig.ask("two", put(kNetwork), next).head.status, 200);
  EXPECT_EQ(rig.sent_field(rig.seen().size() - 1, "If-Match"), "\"3\"") << "nothing had to be compared";
}

TEST(Merging, WhoTookSomethingBackIsNotMergedThereAnyMore) {
  AfterTwosMerge rig;
  rig.arm(get(kNetwork), 200, etag("\"3\""), kWithBoth);
  ASSERT_EQ(rig.ask("two", put(kNetwork), kWithBAndNine).head.status, 412);
  rig.arm(get(kNetwork), 200, etag("\"3\""), kWithBoth);
  rig.arm(get(kNetwork), 200, etag("\"3\""), kWithBoth);
  rig.arm(put(kNetwork), 200, etag("\"4\""), kWithBAndNine);
  rig.ask("two", get(kNetwork));
  ASSERT_EQ(rig.ask("two", put(kNetwork), kWithBAndNine).head.status, 200);
  arm_is_stale_and_shows(rig, "\"5\"",
                         R"({"location":"w","tags":{"team":"x","b":"1","c":"1"},"properties":{"flowTimeoutInMinutes":9}})");
  const std::string next = R"({"location":"w","tags":{"team":"x","b":"1"},"properties":{"flowTimeoutInMinutes":10}})";
  EXPECT_EQ(rig.ask("two", put(kNetwork), next).head.status, 412);
  EXPECT_TRUE(rig.script_is_done());
}

// ---- trouble ------------------------------------------------------------------------------------------------------------------

TEST(Merging, WhatArmDoesNotTakeTogetherIsRefused) {
  AfterOnesTag rig;
  arm_is_stale_and_shows(rig, "\"2\"", kWithA);
  rig.arm(put(kNetwork), 400, {}, R"({"error":{"code":"TooManyTags","message":"m"}})");
  const auto answer = rig.ask("two", put(kNetwork), kWithB);
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_NE(answer.body.find("TooManyTags"), std::string::npos) << answer.body;
  EXPECT_TRUE(rig.script_is_done()) << "its own body is never sent instead";
}

TEST(Merging, ATokenThatMayNotWriteIsItsClientsToRenew) {
  for (const int status : {401, 403}) {
    AfterOnesTag rig;
    arm_is_stale_and_shows(rig, "\"2\"", kWithA);
    rig.arm(put(kNetwork), status, {}, "{}");
    EXPECT_EQ(rig.ask("two", put(kNetwork), kWithB).head.status, status);
  }
}

TEST(Merging, APatchInBetweenDoesNotMakeItForgotten) {
  AfterOnesTag rig;
  arm_is_stale_and_shows(rig, "\"2\"", kWithA);
  rig.arm(put(kNetwork), 200, etag("\"3\""), kWithBoth);
  rig.ask("two", put(kNetwork), kWithB);
  rig.arm(patch(kNetwork), 200, etag("\"4\""), kWithBoth);
  rig.ask("two", patch(kNetwork), R"({"properties":{"flowTimeoutInMinutes":4}})");
  rig.arm(get(kNetwork), 200, etag("\"4\""), kWithBoth);  // to compare
  EXPECT_EQ(rig.ask("two", put(kNetwork), kWithB).head.status, 412) << "it knows nothing of a still";
}

TEST(Merging, AMergedWriteWhoseAnswerIsLostIsRecognisedByWhatWasSent) {
  AfterOnesTag rig;
  arm_is_stale_and_shows(rig, "\"2\"", kWithA);
  rig.arm_fails(put(kNetwork), Sent::Maybe);
  rig.arm(get(kNetwork), 200, etag("\"3\""), kWithBoth);
  const auto answer = rig.ask("two", put(kNetwork), kWithB);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "answer-recovered-by-reading");
  EXPECT_EQ(answer.body, kWithBoth);
}

TEST(Merging, WhoeverSendsItAgainAfterAnAnswerThatTellsNothingGetsItsResult) {
  AfterOnesTag rig;
  arm_is_stale_and_shows(rig, "\"2\"", kWithA);
  rig.arm(put(kNetwork), 503, {}, R"({"error":{"code":"ServerTimeout","message":"m"}})");
  ASSERT_EQ(rig.ask("two", put(kNetwork), kWithB).head.status, 503);
  rig.arm(get(kNetwork), 200, etag("\"3\""), kWithBoth);  // whether it still runs
  arm_is_stale_and_shows(rig, "\"3\"", kWithBoth);
  const auto answer = rig.ask("two", put(kNetwork), kWithB);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "answer-recovered-by-reading");
  EXPECT_EQ(answer.body, kWithBoth);
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Merging, ItIsMergedAnewWithWhateverCameNext) {
  AfterOnesTag rig;
  arm_is_stale_and_shows(rig, "\"2\"", kWithA);
  const std::string with_c =
      R"({"location":"w","tags":{"team":"x","a":"1","c":"1"},"properties":{"provisioningState":"Succeeded","flowTimeoutInMinutes":4}})";
  arm_is_stale_and_shows(rig, "\"3\"", with_c);
  rig.arm(put(kNetwork), 200, etag("\"4\""), kWithBoth);
  const auto answer = rig.ask("two", put(kNetwork), kWithB);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.head.fields.get("x-armgate-merged"), "2");
  EXPECT_NE(rig.seen().back().body.find(R"("c":"1","b":"1")"), std::string::npos) << rig.seen().back().body;
}

TEST(Merging, ItGoesAsItIsIfTheOthersChangeIsTakenBack) {
  AfterOnesTag rig;
  arm_is_stale_and_shows(rig, "\"2\"", kWithA);
  arm_is_stale_and_shows(rig, "\"3\"", kPlain);
  rig.arm(put(kNetwork), 200, etag("\"4\""), kWithB);
  const auto answer = rig.ask("two", put(kNetwork), kWithB);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(rig.seen().back().body, kWithB);
  EXPECT_FALSE(answer.head.fields.has("x-armgate-merged"));
}

// A file that mentions no time-out, and "two", who sees the one that the service has filled in.
struct AfterAFile : StageRig {
  static constexpr std::string_view kFile = R"({"location":"w","tags":{"team":"x"}})";
  explicit AfterAFile(std::string_view theirs) {
    arm(put(kNetwork), 200, etag("\"1\""), kPlain);
    arm(get(kNetwork), 200, etag("\"1\""), kPlain);
    arm(put(kNetwork), 200, etag("\"2\""), std::string(theirs));
    ask("file", put(kNetwork), std::string(kFile));
    ask("two", get(kNetwork));
    ask("two", put(kNetwork), std::string(theirs));
    arm_is_stale_and_shows(*this, "\"2\"", std::string(theirs));
  }
};

TEST(Merging, AFileThatSaysWhatItAlwaysSaidIsNotMergedIntoNothing) {
  AfterAFile rig(
      R"({"location":"w","tags":{"team":"y"},"properties":{"provisioningState":"Succeeded","flowTimeoutInMinutes":4}})");
  const auto answer = rig.ask("file", put(kNetwork), std::string(AfterAFile::kFile));
  EXPECT_EQ(answer.head.status, 412) << "it would be acknowledged, and another team stays";
  EXPECT_TRUE(rig.script_is_done());
}

TEST(Merging, WhatTheServiceFilledInStays) {
  AfterAFile rig(kWithB);
  rig.arm(put(kNetwork), 200, etag("\"3\""), kWithBoth);
  EXPECT_EQ(rig.ask("file", put(kNetwork), R"({"location":"w","tags":{"team":"x","a":"1"}})").head.status, 200);
  const std::string sent = rig.seen().back().body;
  for (const char* part : {R"("flowTimeoutInMinutes":4)", R"("a":"1")", R"("b":"1")"})
    EXPECT_NE(sent.find(part), std::string::npos) << sent;
}

TEST(Merging, WhatAPatchDidNotMentionWasNotFilledIn) {
  StageRig rig;
  rig.arm(patch(kNetwork), 200, etag("\"1\""), kPlain);
  rig.arm(get(kNetwork), 200, etag("\"1\""), kPlain);
  rig.arm(put(kNetwork), 200, etag("\"2\""), kWithB);
  rig.ask("one", patch(kNetwork), R"({"tags":{"team":"x"}})");
  rig.ask("two", get(kNetwork));
  rig.ask("two", put(kNetwork), kWithB);
  arm_is_stale_and_shows(rig, "\"2\"", kWithB);
  rig.arm(put(kNetwork), 200, etag("\"3\""), kWithBoth);
  rig.ask("one", put(kNetwork), R"({"location":"w","tags":{"team":"x","a":"1"},"properties":{}})");
  EXPECT_EQ(rig.seen().back().body.find("flowTimeoutInMinutes"), std::string::npos) << "its client has removed it";
}

}  // namespace
}  // namespace armgate::world::merging_test
