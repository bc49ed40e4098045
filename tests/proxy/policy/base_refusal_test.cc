// The same bytes after a delivered 412 (DESIGN §3, "Refused").
#include <gtest/gtest.h>

#include "proxy/policy/base.h"
#include "tests/proxy/policy/shown.h"

namespace armgate::policy {
namespace {

TEST(AfterARefusal, TheSameBytesAreJudgedByWhatWasDeliveredSince) {
  struct Case {
    const char* name;
    void (*happens)(Shown&);
    const char* expected;
  };
  const Case cases[] = {
      {"nothing", [](Shown&) {}, "refused"},
      {"a read", [](Shown& s) { s.show("b"); }, "since-refusal b"},
      {"two reads: the newest", [](Shown& s) { s.show("b"), s.show("c"); }, "since-refusal c"},
      {"a list item", [](Shown& s) { s.show("b", as_list_item()); }, "since-refusal b"},
      {"a read that may not have arrived", [](Shown& s) { s.show("b", pending()); }, "refused"},
      {"the same, of a state that was shown", [](Shown& s) { s.show("shown", pending()); }, "refused"},
      {"the same, by the same command",
       [](Shown& s) {
         s.facts.request_id = "mine";
         s.show("b", {DeliveryKind::PointRead, Confirmation::Pending, "mine", {}});
       },
       "since-refusal b"},
      {"a pending read is not the newest", [](Shown& s) { s.show("b"), s.show("c", pending()); }, "since-refusal b"},
      {"the refused state again", [](Shown& s) { s.show("a"); }, "refused"},
      {"a read that was used up", [](Shown& s) { s.use_up(s.show("b")); }, "refused"},
      {"that it is absent", [](Shown& s) { s.show_absent(); }, "create"},
      {"the end of the client's own delete", [](Shown& s) { s.show_absent(as_own_answer()); }, "create"},
      // It is another actor's write: these bytes cannot have been built on its answer.
      {"another write's answer", [](Shown& s) { s.show("b", as_own_answer()); }, "refused"},
      {"another write's answer after a read", [](Shown& s) { s.show("b"), s.show("c", as_own_answer()); }, "since-refusal b"},
  };
  for (const auto& c : cases) {
    Shown shown;
    shown.show("shown");
    shown.view.refuse(shown.show("a"));
    shown.forbid_until_read();
    c.happens(shown);
    EXPECT_EQ(shown.decide_text(), c.expected) << c.name;
  }
}

TEST(AfterARefusal, OneActorKnowsItsOwnWritesAnswer) {
  Shown shown;
  shown.facts.actor = Actor::Single;
  shown.view.refuse(shown.show("a"));
  shown.forbid_until_read();
  shown.show("b", as_own_answer());
  EXPECT_EQ(shown.decide_text(), "since-refusal b");
}

TEST(AfterARefusal, WithoutAReadTheBytesAreSentUnguardedWhenTheyHaveInsistedLongEnough) {
  Shown shown;
  shown.forbid_until_read();
  shown.pass(shown.limits.insist_after - seconds(1));
  EXPECT_EQ(shown.decide_text(), "refused");
  shown.forbid_until_read();  // each refusal is another one; the first counts
  shown.pass(seconds(1));
  const Base base = shown.decide();
  EXPECT_EQ(base.rule, BaseRule::Insisted);
  EXPECT_TRUE(base.goes_unguarded());
}

TEST(AfterARefusal, AReadSinceKeepsInsistenceGuarded) {
  Shown shown;
  shown.forbid_until_read();
  shown.show("b");
  shown.pass(minutes(60));
  EXPECT_EQ(shown.decide_text(), "since-refusal b");
}

TEST(AfterARefusal, OtherBytesAreJudgedAsEver) {
  Shown shown;
  shown.show("a");
  shown.view.refuse(shown.show("b"));
  EXPECT_EQ(shown.decide_text(), "only-live a");
}

TEST(AfterRefusal, ACommandThatReadSinceBuildsOnWhatItReadItself) {
  Shown shown;
  shown.show("a");
  shown.forbid_until_read();
  shown.show("b", with_id("mine"));
  shown.show("c", with_id("another session's"));
  shown.facts.request_id = "mine";
  EXPECT_EQ(shown.decide_text(), "since-refusal b");
  shown.facts.request_id = "one that has read nothing";
  EXPECT_EQ(shown.decide_text(), "since-refusal c");
}

TEST(AfterRefusal, ACommandThatSendsTheSameAgainWithoutReadingKnowsNothingOfWhatOthersRead) {
  Shown shown;
  shown.show("a", with_id("mine"));
  shown.facts.request_id = "mine";
  shown.facts.refused_id = "mine";
  shown.forbid_until_read();
  shown.show("b", with_id("another session's"));
  EXPECT_EQ(shown.decide_text(), "refused");
  shown.pass(shown.limits.insist_after);
  EXPECT_EQ(shown.decide_text(), "since-refusal b") << "it does not starve";
}

}  // namespace
}  // namespace armgate::policy
