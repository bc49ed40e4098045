// Who built the write: one declared actor (rule 7), or a client that is known by its token only.
#include <gtest/gtest.h>

#include <functional>

#include "proxy/policy/base.h"
#include "tests/proxy/policy/shown.h"

namespace armgate::policy {
namespace {

TEST(DecideBase, OneActorBuildsOnTheNewestItWasShown) {
  struct Case {
    const char* name;
    void (*happens)(Shown&);
    const char* expected;
  };
  const Case cases[] = {
      {"a read", [](Shown& s) { s.show("a"), s.show("b"); }, "single b"},
      {"its own write's answer", [](Shown& s) { s.show("a"), s.show("b", as_own_answer()); }, "single b"},
      {"an earlier state read again", [](Shown& s) { s.show("a"), s.show("b"), s.show("a"); }, "single a"},
      {"not a list item", [](Shown& s) { s.show("a"), s.show("b", as_list_item()); }, "single a"},
      {"not one that is pending", [](Shown& s) { s.show("a"), s.show("b", pending()); }, "single a"},
      {"the oldest if all are pending", [](Shown& s) { s.show("a", pending()), s.show("b", pending()); }, "single a"},
      {"an absence", [](Shown& s) { s.show("a"), s.show_absent(); }, "create"},
      {"a state after an absence", [](Shown& s) { s.show_absent(), s.show("a"); }, "single a"},
      {"list items alone: the oldest", [](Shown& s) { s.show("a", as_list_item()), s.show("b", as_list_item()); },
       "oldest-live a"},
      {"refused: never an older one instead", [](Shown& s) { s.show("a"), s.view.refuse(s.show("b")); }, "refused"},
      {"while two writes overlap: the oldest",
       [](Shown& s) { s.show("a"), s.show("b"), s.view.overlap_until = s.now() + seconds(1); }, "oldest-live a"},
      {"after the overlap again the newest", [](Shown& s) { s.show("a"), s.show("b"), s.view.overlap_until = s.now(); },
       "single b"},
  };
  for (const auto& c : cases) {
    Shown shown;
    shown.facts.actor = Actor::Single;
    c.happens(shown);
    EXPECT_EQ(shown.decide_text(), c.expected) << c.name;
  }
}

// ---- clients that are known by their token only

TEST(DecideBase, WhatWasDeliveredToTheWritesOwnAddressCountsFirst) {
  struct Case {
    const char* name;
    bool prefer;
    uint64_t peer;
    const char* expected;
  };
  const Case cases[] = {
      {"by token: its own address", true, 2, "only-live b"},
      {"by token: nothing was delivered there", true, 3, "oldest-live a"},
      {"by name: all addresses", false, 2, "oldest-live a"},
  };
  for (const auto& c : cases) {
    Shown shown;
    shown.show("a", from(1));
    shown.show("b", from(2));
    shown.facts.prefer_peer = c.prefer;
    shown.facts.peer = Hash128{c.peer, c.peer};
    EXPECT_EQ(shown.decide_text(), c.expected) << c.name;
  }
}

TEST(DecideBase, DeadStatesOfTheWritesOwnAddressStillHideThoseOfOthers) {
  Shown shown;
  shown.view.refuse(shown.show("a", from(1)));
  shown.show("b", from(2));
  shown.facts.prefer_peer = true;
  shown.facts.peer = Hash128{1, 1};
  EXPECT_EQ(shown.decide_text(), "refused") << "b was built on elsewhere";
}

// The end of its own delete is told to the client as a whole, at no address.
TEST(DecideBase, AfterItsOwnDeleteAClientKnownByItsTokenCreates) {
  Shown shown;
  shown.show("a", from(1));
  shown.deleted_order = shown.tick().order;
  shown.show_absent(as_own_answer());
  shown.facts.prefer_peer = true;
  shown.facts.peer = Hash128{1, 1};
  EXPECT_EQ(shown.decide_text(), "create");
}

// A group that the client deleted took everything below it along: what it makes there next is a create.
TEST(DecideBase, AfterItsOwnDeleteOfWhatContainedTheResourceAClientCreates) {
  for (const Actor actor : {Actor::Single, Actor::Many}) {
    Shown shown;
    shown.facts.actor = actor;
    shown.show("a");
    const Moment deleted = shown.tick();
    shown.deleted_order = deleted.order;
    EXPECT_EQ(shown.decide_text(), "refused") << "somebody else's delete";
    shown.facts.own_delete = deleted;
    EXPECT_EQ(shown.decide_text(), "create");
    shown.show("b");
    EXPECT_NE(shown.decide_text(), "create") << "it has been shown something since";
  }
}

TEST(BaseShapes, WhatWasReadAtAnotherApiVersionLaterIsNoBase) {
  struct {
    const char* name;
    std::function<void(Shown&)> happens;
    const char* expected;
  } cases[] = {
      {"both were shown, the own one first", [](Shown& s) { s.show("a", at("own")), s.show("b", at("other")); }, "only-live a"},
      {"the own one was refused: another actor may still hold it",
       [](Shown& s) { s.view.refuse(s.show("a", at("own"))), s.show("b", at("other")); }, "refused"},
      {"the own one was used up", [](Shown& s) { s.use_up(s.show("a", at("own"))), s.show("b", at("other")); }, "only-live b"},
      {"the own one came last: in doubt the older", [](Shown& s) { s.show("a", at("other")), s.show("b", at("own")); },
       "oldest-live a"},
      {"nothing was shown at the own one", [](Shown& s) { s.show("a", at("other")); }, "only-live a"},
      {"nobody holds the own one that long",
       [](Shown& s) { s.show("a", at("own")), s.show("b", at("other")), s.pass(minutes(6)); }, "only-live b"},
      {"absence has no shape", [](Shown& s) { s.show("a", at("own")), s.view.refuse(1), s.show_absent(); }, "create"},
      {"a single actor knows the last thing it was shown",
       [](Shown& s) { s.facts.actor = Actor::Single, s.show("a", at("own")), s.show("b", at("other")); }, "single b"},
  };
  for (const auto& c : cases) {
    Shown shown;
    shown.facts.api_version = "own";
    c.happens(shown);
    EXPECT_EQ(shown.decide_text(), c.expected) << c.name;
  }
}

TEST(BaseShapes, AReadAtAnotherApiVersionThatWasAskedForEarlierMayStillBeNewer) {
  Shown shown;
  shown.facts.api_version = "own";
  Observation slow;
  slow.etag = "old";
  slow.api_version = "own";
  const uint64_t asked = shown.tick().order;
  shown.show("new", at("other"));
  slow.delivery = shown.delivery({});
  slow.delivery.asked = asked;
  shown.view.record(std::move(slow), std::nullopt);
  EXPECT_EQ(shown.decide_text(), "only-live old");
}

TEST(BaseShapes, AfterARefusalOnlyAReadAtTheWritesOwnApiVersionMakesANewIntention) {
  Shown shown;
  shown.facts.api_version = "own";
  shown.view.refuse(shown.show("a", at("own")));
  shown.forbid_until_read();
  shown.show("b", at("other"));
  EXPECT_EQ(shown.decide_text(), "refused");
  shown.show("b", at("own"));
  EXPECT_EQ(shown.decide_text(), "since-refusal b");
}

}  // namespace
}  // namespace armgate::policy
