// A PATCH sets values, whatever they were; but maps and arrays in it are copies, and so is one that repeats what others have changed
// beside a change of its own (docs/design.md, "Guards").
#include "proxy/request/guard/patch_copy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/stage_rig.h"

namespace armgate::world::patch_copy_test {
namespace {

std::string scale_set(int capacity, std::string_view tags, std::string_view nics) {
  return R"({"sku":{"name":"S","capacity":)" + std::to_string(capacity) + R"(},"tags":{)" + std::string(tags) +
         R"(},"properties":{"provisioningState":"Succeeded","nics":[)" + std::string(nics) + "]}}";
}

// "one" has read it; then it became something else, around armgate.
struct Moved : StageRig {
  Moved(std::string before, std::string after, PipelineOptions options = default_options()) : StageRig(std::move(options)) {
    arm(get(kScaleSet), 200, etag("\"1\""), std::move(before));
    arm(get(kScaleSet), 200, etag("\"2\""), std::move(after));
    ask("one", get(kScaleSet));
  }
  arm::Response patches(std::string body) { return ask("one", patch(kScaleSet), std::move(body)); }
};

const std::string kBefore = scale_set(1, R"("team":"x")", R"("n1")");

TEST(PatchCopy, WhatOnlySetsValuesPassesAndNothingIsRead) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kBefore);
  rig.arm(patch(kScaleSet), 200, etag("\"3\""), scale_set(5, "", ""));
  rig.ask("one", get(kScaleSet));
  EXPECT_EQ(rig.ask("one", patch(kScaleSet), R"({"sku":{"capacity":5}})").head.status, 200);
  EXPECT_TRUE(rig.sent_field(1, "If-Match").empty()) << "it is an intention";
}

TEST(PatchCopy, TagsKeepWhatOthersAdded) {
  Moved rig(kBefore, scale_set(1, R"("team":"x","theirs":"1")", R"("n1")"));
  rig.arm(patch(kScaleSet), 200, etag("\"3\""), kBefore);
  const auto answer = rig.patches(R"({"tags":{"team":"x","mine":"1"}})");
  EXPECT_EQ(answer.head.status, 200) << answer.body;
  EXPECT_EQ(rig.seen().back().body, R"({"tags":{"team":"x","theirs":"1","mine":"1"}})");
  EXPECT_EQ(answer.head.fields.get("x-armgate-merged"), "1");
  EXPECT_EQ(rig.sent_field(rig.seen().size() - 1, "If-Match"), "\"2\"") << "it has others' values";
}

// Bodies of two api-versions are not merged, but whether anything moved can be seen at the one that was read.
TEST(PatchCopy, TagsThatWereReadAtAnotherApiVersionAreACopyToo) {
  const std::string older =
      "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v?api-version=2024-03-01";
  for (const bool moved : {false, true}) {
    StageRig rig;
    rig.arm(get(older), 200, etag("\"1\""), kBefore);
    rig.arm(get(older), 200, etag("\"2\""), scale_set(9, moved ? R"("team":"x","theirs":"1")" : R"("team":"x")", R"("n1")"));
    if (!moved) rig.arm(patch(kScaleSet), 200, etag("\"3\""), kBefore);
    rig.ask("one", get(older));
    const auto answer = rig.ask("one", patch(kScaleSet), R"({"tags":{"team":"x","mine":"1"}})");
    EXPECT_EQ(answer.head.status, moved ? 412 : 200) << answer.body;
    EXPECT_TRUE(rig.script_is_done());
  }
}

// Too large to be kept: only its ETag is known.
TEST(PatchCopy, TagsOfAStateThatWasNotKeptGoIfNothingMoved) {
  auto options = StageRig::default_options();
  options.body_keep_max = 16;
  for (const bool moved : {false, true}) {
    StageRig rig(options);
    rig.arm(get(kScaleSet), 200, etag("\"1\""), kBefore);
    rig.arm(get(kScaleSet), 200, etag(moved ? "\"2\"" : "\"1\""), kBefore);
    if (!moved) rig.arm(patch(kScaleSet), 200, etag("\"3\""), kBefore);
    rig.ask("one", get(kScaleSet));
    EXPECT_EQ(rig.ask("one", patch(kScaleSet), R"({"tags":{"mine":"1"}})").head.status, moved ? 412 : 200);
    EXPECT_TRUE(rig.script_is_done());
  }
}

const std::string kTagsOnly =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v/providers/Microsoft.Resources/tags/"
    "default?api-version=2021-04-01";

// {"operation": "Delete"} of what another added would remove that.
TEST(PatchCopy, AnOrderAboutTagsIsNoCopyOfThem) {
  const std::string& tags = kTagsOnly;
  for (const char* order : {R"({"operation":"Delete","properties":{"tags":{"b":"2"}}})",
                            R"({"operation":"Merge","properties":{"tags":{"a":"1"}}})"}) {
    StageRig rig;
    rig.arm(get(tags), 200, {}, R"({"properties":{"tags":{"b":"2"}}})");
    rig.arm(patch(tags), 200, {}, "{}");
    rig.ask("one", get(tags));
    EXPECT_EQ(rig.ask("one", patch(tags), order).head.status, 200);
    EXPECT_EQ(rig.seen().back().body, order);
  }
}

TEST(PatchCopy, ReplacingAllTagsIsACopyOfThem) {
  StageRig rig;
  rig.arm(get(kTagsOnly), 200, {}, R"({"properties":{"tags":{"a":"1"}}})");
  rig.arm(get(kTagsOnly), 200, {}, R"({"properties":{"tags":{"a":"1","theirs":"1"}}})");
  rig.arm(patch(kTagsOnly), 200, {}, "{}");
  rig.ask("one", get(kTagsOnly));
  const auto answer = rig.ask("one", patch(kTagsOnly), R"({"operation":"Replace","properties":{"tags":{"a":"1","mine":"1"}}})");
  EXPECT_EQ(answer.head.status, 200) << answer.body;
  EXPECT_EQ(rig.seen().back().body, R"({"properties":{"tags":{"a":"1","theirs":"1","mine":"1"}},"operation":"Replace"})");
}

TEST(PatchCopy, WithoutMergingItIsRefused) {
  Moved rig(kBefore, scale_set(1, R"("team":"x","theirs":"1")", R"("n1")"), unmerged());
  const auto answer = rig.patches(R"({"tags":{"team":"x","mine":"1"}})");
  EXPECT_EQ(answer.head.status, 412);
  EXPECT_NE(answer.body.find("/tags/theirs"), std::string::npos) << answer.body;
  EXPECT_TRUE(rig.script_is_done()) << "nothing was sent";
}

TEST(PatchCopy, WhatChangedElsewhereIsInNobodysWay) {
  Moved rig(kBefore, scale_set(9, R"("team":"x")", R"("n1","n2")"), unmerged());
  rig.arm(patch(kScaleSet), 200, etag("\"3\""), kBefore);
  EXPECT_EQ(rig.patches(R"({"tags":{"team":"y"}})").head.status, 200);
  EXPECT_EQ(rig.seen().back().body, R"({"tags":{"team":"y"}})");
}

// clouddriver sends the sku, the tags and the interfaces that it has read, with its change among them: observed at an api-version
// without ETags, and at one with them.
TEST(PatchCopy, ACopyDoesNotTakeTheCapacityBack) {
  const std::string copy =
      R"({"sku":{"name":"S","capacity":1},"tags":{"team":"x","version":"2"},"properties":{"nics":["n1"]}})";
  const std::string merged =
      R"({"sku":{"name":"S","capacity":7},"tags":{"team":"x","version":"2"},"properties":{"nics":["n1"]}})";
  for (const bool has_etags : {false, true}) {
    const std::string target =
        fmt::format("{}?api-version={}", arm::path_of(kScaleSet), has_etags ? "2024-07-01" : "2022-08-01");
    for (const bool merges : {false, true}) {
      StageRig rig(merges ? StageRig::default_options() : unmerged());
      rig.arm(get(target), 200, has_etags ? etag("\"1\"") : arm::Headers{}, kBefore);
      rig.arm(get(target), 200, has_etags ? etag("\"2\"") : arm::Headers{}, scale_set(7, R"("team":"x")", R"("n1")"));
      if (merges) rig.arm(patch(target), 200, {}, kBefore);
      rig.ask("one", get(target));
      const auto answer = rig.ask("one", patch(target), copy);
      EXPECT_EQ(answer.head.status, merges ? 200 : 412) << target << " " << answer.body;
      EXPECT_TRUE(rig.script_is_done());
      if (!merges) continue;
      EXPECT_EQ(rig.seen().back().body, merged);
      EXPECT_EQ(rig.sent_field(rig.seen().size() - 1, "If-Match"), has_etags ? "\"2\"" : "");
    }
  }
}

TEST(PatchCopy, WhoHasReadWhatIsThereIsNotRefused) {
  Moved rig(kBefore, kBefore);
  rig.arm(patch(kScaleSet), 200, etag("\"3\""), kBefore);
  EXPECT_EQ(rig.patches(R"({"sku":{"name":"S","capacity":2},"tags":{"team":"y"}})").head.status, 200);
}

// Azure SDKs go on with the object in hand, changed as the PATCH changed it; ARM's 202 shows nothing.
TEST(PatchCopy, AnAnswerWithoutABodyShowsThePatchAppliedToItsBase) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kBefore);
  rig.arm(patch(kScaleSet), 202);
  // Whether it has ended; then whether it is what the PUT was built from.
  for (int i = 0; i < 2; ++i) rig.arm(get(kScaleSet), 200, etag("\"2\""), scale_set(5, R"("team":"x")", R"("n1")"));
  rig.arm(put(kScaleSet), 200, etag("\"3\""), kBefore);
  rig.ask("one", get(kScaleSet));
  EXPECT_EQ(rig.ask("one", patch(kScaleSet), R"({"sku":{"capacity":5}})").head.status, 202);
  const auto answer = rig.ask("one", put(kScaleSet), scale_set(5, R"("team":"y")", R"("n1")"));
  EXPECT_EQ(answer.head.status, 200) << answer.body;
  EXPECT_EQ(rig.sent_field(rig.seen().size() - 1, "If-Match"), "\"2\"");
}

TEST(PatchCopy, WhoHasReadNothingSaysWhatItWantsHoweverOften) {
  StageRig rig;
  for (const std::string_view tags : {R"("a":"1")", R"("b":"1")", R"("c":"1")"}) {
    rig.arm(patch(kScaleSet), 200, etag("\"1\""), scale_set(1, tags, ""));
    EXPECT_EQ(rig.ask("one", patch(kScaleSet), R"({"tags":{)" + std::string(tags) + "}}").head.status, 200);
  }
  EXPECT_TRUE(rig.script_is_done()) << "nothing was read";
}

TEST(PatchCopy, WhatCannotBeReadIsArmsToRefuse) {
  for (const char* patch_body : {"", "{", R"([{"op":"add","path":"/tags/a","value":"1"}])"}) {
    StageRig rig;
    rig.arm(get(kScaleSet), 200, etag("\"1\""), kBefore);
    rig.arm(patch(kScaleSet), 400, {}, "{}");
    rig.ask("one", get(kScaleSet));
    EXPECT_EQ(rig.ask("one", patch(kScaleSet), patch_body).head.status, 400) << patch_body;
  }
}

TEST(PatchCopy, OfWhatIsGoneArmsOwnAnswerIsGiven) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, etag("\"1\""), kBefore);
  rig.arm(get(kScaleSet), 404, {}, "{}");
  rig.arm(patch(kScaleSet), 404, {}, "{}");
  rig.ask("one", get(kScaleSet));
  EXPECT_EQ(rig.ask("one", patch(kScaleSet), R"({"tags":{"team":"y"}})").head.status, 404);
}

}  // namespace
}  // namespace armgate::world::patch_copy_test
