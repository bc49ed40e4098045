// Goal: a read that may have shown either side of somebody's write keeps nobody away from what it turns out to have shown.
// Method: what was shown before, that read, what is there, and the verdict in words.
#include <gtest/gtest.h>

#include "tests/proxy/policy/judged.h"

namespace armgate::policy {
namespace {

constexpr std::string_view kTaggedTwo = R"({"properties":{"n":2},"tags":{"a":"1","b":"1"}})";
constexpr std::string_view kRenewed = R"({"properties":{"n":1},"tags":{"a":"2"}})";

// The client had read kPlain; then it was shown that, while others wrote.
Judged after(std::string_view last_read, std::string_view there, bool is_item = false) {
  BaseState last = base_of(last_read, "", is_item);
  last.is_last_read = true;
  Judged judged = on({base_of(kPlain), last}, there);
  judged.rule = BaseRule::Newest;
  judged.others_wrote = true;
  return judged;
}

TEST(OutcomeOfLastRead, WhatItHasShownIsBuiltOnIfItIsWhatIsThere) {
  EXPECT_EQ(after(kTagged, kTagged)(kTaggedTwo), "sent");
  EXPECT_EQ(after(kTagged, kTagged, true)(kTaggedTwo), "sent") << "an item of a list that leaves nothing out";
}

TEST(OutcomeOfLastRead, WithoutTheMarkAReadThatMayLagSupersedesNothing) {
  Judged judged = after(kTagged, kTagged);
  judged.bases.back().is_last_read = false;
  EXPECT_NE(judged(kTaggedTwo), "sent");
}

TEST(OutcomeOfLastRead, AWriteThatLacksWhatItShowedIsBuiltOnWhatWasBefore) {
  EXPECT_NE(after(kTagged, kTagged)(kTwo), "sent") << "the tag of others would be lost";
  EXPECT_NE(after(kRenewed, kRenewed)(kTwo), "sent") << "the value of before would come back";
}

TEST(OutcomeOfLastRead, WhatHasMovedSinceIsNoneOfIt) { EXPECT_NE(after(kTagged, kBoth)(kTaggedTwo), "sent"); }

TEST(OutcomeOfLastRead, AnItemThatLeavesOutWhatIsThereTellsNotEnough) {
  constexpr std::string_view kItem = R"({"tags":{"a":"1","b":"1"}})";
  EXPECT_NE(after(kItem, kTagged, true)(kTaggedTwo), "sent");
}

}  // namespace
}  // namespace armgate::policy
