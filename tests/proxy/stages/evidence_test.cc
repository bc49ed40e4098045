// Content evidence from the wire's point of view: several actors behind one client that is not declared single.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/support/stage_rig.h"

namespace armgate::world {
namespace {

// A state with these tags, as ARM answers it and as a client writes it back.
std::string state(int version, std::string_view tags) {
  return fmt::format(R"({{"etag":"\"{}\"","tags":{{{}}},"properties":{{"provisioningState":"Succeeded"}}}})", version, tags);
}
std::string wanted(std::string_view tags) { return fmt::format(R"({{"tags":{{{}}},"properties":{{}}}})", tags); }
arm::Headers etag(int version) { return {{"ETag", fmt::format("\"{}\"", version)}}; }

void let_read(StageRig& rig, int version, std::string_view tags) {
  rig.arm(get(kScaleSet), 200, etag(version), state(version, tags));
  rig.ask("jvm", get(kScaleSet));
}

TEST(ContentEvidence, AStateThatWasShownTwiceIsNotTakenForTheBaseOfTheNextWrites) {
  auto rig = many_actors();
  let_read(rig, 1, "");
  rig.arm(put(kScaleSet), 200, etag(2), state(2, R"("a":"1")"));
  rig.ask("jvm", put(kScaleSet), wanted(R"("a":"1")"));
  let_read(rig, 2, R"("a":"1")");  // the second delivery of what its own write made
  rig.arm(put(kScaleSet), 200, etag(3), state(3, R"("a":"1","b":"1")"));
  rig.ask("jvm", put(kScaleSet), wanted(R"("a":"1","b":"1")"));
  rig.arm(put(kScaleSet), 200, etag(4), state(4, R"("a":"1","b":"1","c":"1")"));
  const auto answer = rig.ask("jvm", put(kScaleSet), wanted(R"("a":"1","b":"1","c":"1")"));
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.head.fields.get("x-armgate-guard"), "content");
  EXPECT_EQ(rig.sent_field(4, "If-Match"), "\"3\"");
}

TEST(ContentEvidence, EachOfTwoActorsIsHeldToWhatItRead) {
  auto rig = many_actors();
  let_read(rig, 1, "");
  let_read(rig, 2, R"("other":"1")");
  rig.arm(put(kScaleSet), 200, etag(3), state(3, R"("other":"1","b":"1")"));
  rig.ask("jvm", put(kScaleSet), wanted(R"("other":"1","b":"1")"));
  EXPECT_EQ(rig.sent_field(2, "If-Match"), "\"2\"");
  rig.arm(put(kScaleSet), 412, {}, "{}");
  rig.arm(get(kScaleSet), 200, etag(3), state(3, R"("other":"1","b":"1")"));
  EXPECT_EQ(rig.ask("jvm", put(kScaleSet), wanted(R"("a":"1")")).head.status, 412);
  EXPECT_EQ(rig.sent_field(3, "If-Match"), "\"1\"");
}

TEST(ContentEvidence, ARefusedWriteThatComesAgainAfterAnotherActorsReadStaysRefused) {
  auto rig = many_actors();
  const std::string stale = wanted(R"("a":"1")");
  let_read(rig, 1, "");
  rig.arm(put(kScaleSet), 412, {}, "{}");
  rig.arm(get(kScaleSet), 200, etag(2), state(2, R"("other":"1")"));
  EXPECT_EQ(rig.ask("jvm", put(kScaleSet), stale).head.status, 412);
  let_read(rig, 2, R"("other":"1")");
  EXPECT_EQ(rig.ask("jvm", put(kScaleSet), stale).head.status, 412);
  EXPECT_EQ(rig.seen().size(), 4u) << "answered here: it would wipe out the other's tag";
  rig.arm(put(kScaleSet), 200, etag(3), state(3, R"("other":"1","a":"1")"));
  EXPECT_EQ(rig.ask("jvm", put(kScaleSet), wanted(R"("other":"1","a":"1")")).head.status, 200);
  EXPECT_EQ(rig.sent_field(4, "If-Match"), "\"2\"");
}

const std::string kOtherVersion =
    "GET /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v?api-version=2024-11-01";

TEST(ContentEvidence, WhatWasReadInAnotherShapeIsNoBaseForWhoeverHasReadInHisOwn) {
  auto rig = many_actors();
  let_read(rig, 1, "");
  let_read(rig, 1, "");
  rig.arm(kOtherVersion, 200, etag(2), state(2, R"("other":"1")"));
  rig.ask("jvm", kOtherVersion);
  rig.arm(put(kScaleSet), 412, {}, "{}");
  rig.arm(get(kScaleSet), 200, etag(2), state(2, R"("other":"1")"));
  const auto first = rig.ask("jvm", put(kScaleSet), wanted(R"("other":"2","a":"1")"));
  EXPECT_EQ(first.head.fields.get("x-armgate-guard"), "only-live");
  EXPECT_EQ(rig.sent_field(3, "If-Match"), "\"1\"");
  const auto second = rig.ask("jvm", put(kScaleSet), wanted(R"("b":"1")"));
  EXPECT_EQ(second.head.status, 412) << "another actor may still hold what was refused to the first";
  EXPECT_EQ(second.head.fields.get("x-armgate-guard"), "refused");
  EXPECT_TRUE(rig.script_is_done());
}

TEST(ContentEvidence, AStateIsComparedAsItLooksAtTheWritesOwnApiVersion) {
  auto rig = many_actors();
  let_read(rig, 1, "");
  rig.arm(kOtherVersion, 200, etag(1), R"({"etag":"\"1\"","labels":{}})");
  rig.ask("jvm", kOtherVersion);
  let_read(rig, 2, R"("other":"1")");
  rig.arm(put(kScaleSet), 412, {}, "{}");
  rig.arm(get(kScaleSet), 200, etag(2), state(2, R"("other":"1")"));
  EXPECT_EQ(rig.ask("jvm", put(kScaleSet), wanted(R"("a":"1")")).head.fields.get("x-armgate-guard"), "content");
  EXPECT_EQ(rig.sent_field(3, "If-Match"), "\"1\"");
}

}  // namespace
}  // namespace armgate::world
