// Goal: whoever goes on from what it asked for does not take back what was merged into it, and whoever knows of that is left alone.
// Method: histories of one client's merged writes, and what its next write may have been built from.
#include "proxy/policy/merged_base.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/proxy/policy/told.h"

namespace armgate::policy {
namespace {

constexpr std::string_view kBase = R"({"tags":{"t":"0"},"n":1})";
constexpr std::string_view kAsked = R"({"tags":{"t":"0","mine":"1"},"n":1})";
constexpr std::string_view kSent = R"({"tags":{"t":"0","mine":"1","theirs":"1"},"n":1})";

// A has read `base`, asked for `asked`, and `sent` went instead.
struct Merged : Told {
  Merged(std::string_view base, std::string_view asked, std::string_view sent) {
    show('A', "1", whole(std::string(base)));
    merge(base, asked, sent, "2");
  }
  Merged() : Merged(kBase, kAsked, kSent) {}

  void merge(std::string_view base, std::string_view asked, std::string_view sent, std::string etag, std::string id = {},
             std::string_view answered = {}) {
    const Moment at = tick();
    const std::string bytes(asked);
    WriteAccepted accepted{Cause::Written, key('A'), hash(bytes), hash(bytes), whole(std::string(sent)), at};
    accepted.merged = MergedWrite{0, {}, {}, id, "v1", whole(std::string(base)), whole(bytes), whole(std::string(sent))};
    accepted.write_key = {at.order, 2};
    apply(std::move(accepted));
    end(bytes);
    answer('A', bytes, std::move(etag), whole(std::string(answered.empty() ? sent : answered)), std::move(id));
  }
  Bases next(std::string_view wanted, Actors actors = Actors::Single, arm::BodyKind kind = arm::BodyKind::Whole) {
    Bases found = bases('A', actors);
    const WantedBody body{wanted, facts.api_version, kind};
    narrow_down(found, body, *arm::BodyFacts::generic());
    add_merged(found, body, *arm::BodyFacts::generic());
    return found;
  }
};

bool may_be_built_on(const Bases& bases, std::string_view body) {
  return std::ranges::any_of(bases.possible, [&](const BaseState& b) { return b.body && b.body->bytes == body; });
}

TEST(MergedBase, WhatWasAskedForIsPossibleUntilItsClientShowsThatItKnows) {
  struct Row {
    std::string_view what, wanted;
    bool possible, takes_back;
  };
  for (const Row& row : {
           Row{"goes on from what it asked for", R"({"tags":{"t":"0","mine":"1"},"n":2})", true, true},
           Row{"the same file again", kAsked, true, true},
           Row{"goes on from the answer", R"({"tags":{"t":"0","mine":"1","theirs":"1"},"n":2})", false, false},
           Row{"the answer as it is: a whole tag is no accident", kSent, false, false},
           Row{"changed what was merged in", R"({"tags":{"t":"0","mine":"1","theirs":"2"},"n":1})", true, false},
           Row{"no JSON", "{", true, false},
       }) {
    Merged told;
    const Bases bases = told.next(row.wanted);
    EXPECT_EQ(may_be_built_on(bases, kAsked), row.possible) << row.what;
    EXPECT_EQ(bases.takes_back, row.takes_back) << row.what;
    EXPECT_EQ(bases.knows_merges, !row.possible) << row.what;
    EXPECT_EQ(bases.may_merge, !row.takes_back) << row.what;
    EXPECT_TRUE(may_be_built_on(bases, kSent)) << row.what;
  }
}

TEST(MergedBase, AnEqualValueMayBeAnAccident) {
  const std::string base = R"({"n":1,"m":1})", asked = R"({"n":1,"m":2})", sent = R"({"n":5,"m":2})";
  Merged told(base, asked, sent);
  EXPECT_TRUE(may_be_built_on(told.next(sent), asked)) << "it may count from 4 on its own";
  EXPECT_FALSE(may_be_built_on(told.next(R"({"n":5,"m":3})"), asked)) << "beside a change of its own it is none";
}

TEST(MergedBase, WhatBecameOfTheRestSinceIsKnownToWhoHasReadIt) {
  const std::string later = R"({"tags":{"t":"0","mine":"1","theirs":"7"},"n":1})";
  Merged told;
  told.show('A', "3", whole(later));
  EXPECT_FALSE(may_be_built_on(told.next(R"({"tags":{"t":"0","mine":"1","theirs":"7"},"n":2})"), kAsked));
  EXPECT_TRUE(may_be_built_on(told.next(R"({"tags":{"t":"0","mine":"1"},"n":2})"), kAsked));

  Merged listed;
  auto item = std::make_shared<KeptBody>(*partial(later));
  item->target = "/subscriptions/s/x?api-version=v1";
  listed.show('A', "3", item, {ShownAs::ListItem});
  EXPECT_FALSE(may_be_built_on(listed.next(R"({"tags":{"t":"0","mine":"1","theirs":"7"},"n":2})"), kAsked));
}

// A member of which nobody knows that the service moves it with each write.
TEST(MergedBase, WhatTheServiceMovedInTheAnswerIsKnownToWhoGoesOnFromIt) {
  const std::string base = R"({"rev":1,"n":1,"m":1})", asked = R"({"rev":1,"n":1,"m":2})", sent = R"({"rev":2,"n":5,"m":2})";
  Merged told(base, asked, sent);
  told.merge(sent, R"({"rev":2,"n":5,"m":3})", R"({"rev":3,"n":6,"m":3})", "3", {}, R"({"rev":4,"n":6,"m":3})");
  const std::string second = R"({"rev":2,"n":5,"m":3})";
  EXPECT_FALSE(may_be_built_on(told.next(R"({"rev":4,"n":6,"m":4})"), second));
  EXPECT_TRUE(may_be_built_on(told.next(R"({"rev":2,"n":5,"m":4})"), second));
}

TEST(MergedBase, AWriteThatKnowsEndsItAndSoDoesADeletion) {
  Merged told;
  WriteAccepted known{Cause::Written, Told::key('A'), Told::hash("x"), Told::hash("x"), whole("{}"), told.tick()};
  known.knows_merges = true;
  told.apply(std::move(known));
  EXPECT_FALSE(may_be_built_on(told.next(kAsked), kAsked));

  Merged deleted;
  deleted.remove('B');
  deleted.show('A', "9", whole(std::string(kSent)));
  EXPECT_FALSE(may_be_built_on(deleted.next(kAsked), kAsked));
}

TEST(MergedBase, WhoTookSomethingBackIsNotMergedForALongTime) {
  Merged told;
  Refusal refusal;
  refusal.told = told.tick().order;
  told.apply(Refused{Told::key('A'), refusal, told.now()});
  EXPECT_FALSE(told.next(R"({"tags":{"t":"0","mine":"1","theirs":"1"},"n":2})").may_merge);
  told.pass(told.limits.observation_age + seconds(1));
  told.show('A', "3", whole(std::string(kSent)));
  EXPECT_TRUE(told.next(R"({"tags":{"t":"0","mine":"1","theirs":"1"},"n":2})").may_merge);
}

TEST(MergedBase, WhoNeverTakesNoteIsNotMergedForEver) {
  Merged told;
  for (size_t i = 1; i < told.limits.merged_max; ++i) told.merge(kBase, kAsked, kSent, "2");
  EXPECT_FALSE(told.next(kAsked).may_merge);
}

TEST(MergedBase, AnotherCommandOfTheNameKnowsNothingOfIt) {
  Merged told;
  told.show('A', "2", whole(std::string(kSent)), {ShownAs::PointRead, "command"});
  told.facts.request_id = "command";
  const Bases bases = told.next(R"({"tags":{"t":"0","mine":"1"},"n":2})", Actors::Unknown);
  EXPECT_EQ(bases.rule, BaseRule::RequestId);
  EXPECT_FALSE(may_be_built_on(bases, kAsked)) << "it removes a tag that it has read";
}

TEST(MergedBase, APatchSaysNothingOfWhatItLeavesOut) {
  Merged told;
  EXPECT_FALSE(told.next(R"({"n":2})", Actors::Single, arm::BodyKind::Partial).takes_back);
  EXPECT_TRUE(told.next(R"({"tags":{"mine":"2"}})", Actors::Single, arm::BodyKind::Partial).takes_back);
}

TEST(MergedBase, WhatCannotBeReadSaysNothingOfWhatItsClientKnows) {
  Merged told;
  told.show('A', "3", whole("\x1f\x8b compressed"));
  EXPECT_TRUE(may_be_built_on(told.next(R"({"tags":{"t":"0","mine":"2"},"n":1})"), kAsked));
}

TEST(MergedBase, AWriteThatIsNotComparedWithThemEndsNone) {
  Merged told;
  told.facts.body_etag = "2";
  EXPECT_FALSE(told.next(kSent).knows_merges) << "its base was told by an ETag";
  told.facts.body_etag = {};
  EXPECT_FALSE(Bases().knows_merges) << "a write that is not looked at";
}

TEST(MergedBase, OfManyActorsNobodyWaitsLongerThanAThought) {
  Merged told;
  EXPECT_TRUE(may_be_built_on(told.next(kAsked, Actors::Many), kAsked));
  told.pass(told.limits.think_max + seconds(1));
  told.show('A', "2", whole(std::string(kSent)));
  EXPECT_FALSE(may_be_built_on(told.next(kAsked, Actors::Many), kAsked));
}

TEST(MergedBase, OneSendingIsOneMergedWriteHoweverOftenItIsTold) {
  Merged told;
  ASSERT_EQ(told.history.client(Told::key('A'))->merged.size(), 1u);
  WriteAccepted again{Cause::Written, Told::key('A'), Told::hash("x"), {}, whole("{}"), told.tick()};
  again.write_key = told.history.client(Told::key('A'))->merged.front().write_key;
  again.merged = MergedWrite{};
  told.apply(std::move(again));
  EXPECT_EQ(told.history.client(Told::key('A'))->merged.size(), 1u);
}

TEST(MergedBase, AtAnotherApiVersionNothingCanBeTold) {
  Merged told;
  told.facts.api_version = "v2";
  const Bases bases = told.next(kSent);
  EXPECT_TRUE(may_be_built_on(bases, kAsked));
  EXPECT_FALSE(bases.takes_back);
}

}  // namespace
}  // namespace armgate::policy
