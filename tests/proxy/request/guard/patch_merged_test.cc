// What clients that send PATCH after PATCH go on from, and what becomes of a PATCH that was merged and whose answer was no good.
// ARM is a small one: tags are replaced as a whole, all else is merged.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "json/tree.h"
#include "tests/support/stage_rig.h"

namespace armgate::world::patch_merged_test {
namespace {

using Json = nlohmann::json;

struct LivePatches {
  static PipelineOptions declared() {
    auto options = StageRig::default_options();
    options.clients["one-actor"].actors = policy::Actors::Single;
    return options;
  }

  LivePatches() {
    rig.arm_lives([this](const arm::Request& request) { return serve(request); });
  }

  Step serve(const arm::Request& request) {
    Step step;
    step.expected = request.head.method_token;
    if (request.head.method != arm::Method::Get) {
      sent = request.body;
      const Json change = Json::parse(request.body);
      Json patched = state;
      patched.merge_patch(change);
      if (change.contains("tags")) patched["tags"] = change["tags"];
      state = request.head.method == arm::Method::Patch ? patched : change;
      ++version;
      if (std::exchange(fails_after_effect, false)) {
        step.status = 500;
        return step;
      }
    }
    step.status = 200;
    step.fields = etag(fmt::format("\"{}\"", version));
    step.body = state.dump();
    return step;
  }

  void read(const std::string& client) { rig.ask(client, get(kScaleSet)); }
  arm::Response patches(const std::string& client, std::string body) {
    return rig.ask(client, patch(kScaleSet), std::move(body));
  }

  StageRig rig{declared()};
  Json state{{"location", "w"}, {"tags", {{"t", "1"}}}, {"identity", {{"userAssignedIdentities", {{"/a", Json::object()}}}}}};
  int version = 1;
  bool fails_after_effect = false;
  std::string sent;
};

TEST(PatchMerged, AClientThatHasReadIsComparedHoweverLongItOnlyWrites) {
  for (const std::string client : {"ben", "one-actor"}) {
    LivePatches arm;
    arm.read(client);
    EXPECT_EQ(arm.patches(client, R"({"tags":{"t":"1","b":"1"}})").head.status, 200);
    arm.rig.pass(std::chrono::minutes(20));
    arm.read("ann");
    EXPECT_EQ(arm.patches("ann", R"({"tags":{"t":"1","b":"1","a":"1"}})").head.status, 200);
    const auto answer = arm.patches(client, R"({"tags":{"t":"1","b":"1","c":"1"}})");
    EXPECT_EQ(answer.head.status, 200) << answer.body;
    EXPECT_EQ(arm.state["tags"].size(), 4u) << client << arm.state.dump();
  }
}

TEST(PatchMerged, WhatWasMergedIsNotTakenOutByItsClientsNextWrite) {
  for (const bool whole : {false, true}) {
    LivePatches arm;
    for (const char* client : {"ann", "one-actor"}) arm.read(client);
    EXPECT_EQ(arm.patches("ann", R"({"tags":{"t":"1","a":"1"}})").head.status, 200);
    const auto merged = arm.patches("one-actor", R"({"tags":{"t":"1","b":"1"}})");
    EXPECT_EQ(merged.head.fields.get("x-armgate-merged"), "1") << merged.body;
    // From the object that it has in hand.
    Json in_hand = arm.state;
    in_hand["tags"] = {{"t", "1"}, {"b", "1"}, {"c", "1"}};
    const auto next = whole ? arm.rig.ask("one-actor", put(kScaleSet), in_hand.dump())
                            : arm.patches("one-actor", R"({"tags":{"t":"1","b":"1","c":"1"}})");
    EXPECT_EQ(next.head.status, 412) << whole << next.body;
    EXPECT_TRUE(arm.state["tags"].contains("a")) << whole << arm.state.dump();
    // One refusal: then it has read.
    arm.read("one-actor");
    EXPECT_EQ(arm.patches("one-actor", R"({"tags":{"t":"1","a":"1","b":"1","c":"1"}})").head.status, 200);
    EXPECT_EQ(arm.state["tags"].size(), 4u);
  }
}

TEST(PatchMerged, TwoThatReadAtTheSameTimeAreMergedHoweverOften) {
  LivePatches arm;
  for (int round = 0; round < 12; ++round) {
    for (const char* client : {"ann", "ben"}) arm.read(client);
    const Json before = arm.state["tags"];
    for (const std::string client : {"ann", "ben"}) {
      Json change{{"tags", before}};
      change["tags"][client + std::to_string(round)] = "1";
      const auto answer = arm.patches(client, change.dump());
      EXPECT_EQ(answer.head.status, 200) << client << round << answer.body;
    }
    EXPECT_EQ(arm.state["tags"].size(), 3u + 2 * static_cast<size_t>(round));
  }
}

TEST(PatchMerged, AMergedOneThatFailedAfterItsEffectIsKnownWhenItComesAgain) {
  for (const char* change : {R"({"tags":{"t":"2"}})", R"({"tags":{"t":"1","b":"1"}})"}) {
    LivePatches arm;
    for (const char* client : {"ann", "ben"}) arm.read(client);
    EXPECT_EQ(arm.patches("ann", R"({"tags":{"t":"1","a":"1"}})").head.status, 200);
    arm.fails_after_effect = true;
    EXPECT_EQ(arm.patches("ben", change).head.status, 500);
    const int applied = arm.version;
    const auto again = arm.patches("ben", change);
    EXPECT_EQ(again.head.status, 200) << again.body;
    EXPECT_EQ(arm.version, applied) << "it was done";
    EXPECT_TRUE(arm.state["tags"].contains("a"));
  }
}

// A PATCH adds identities, and leaves those that it does not name.
TEST(PatchMerged, IdentitiesAreAddedOneByOneByWhoIsAlone) {
  LivePatches arm;
  arm.read("ben");
  const auto adding = [](std::string_view id) {
    return fmt::format(R"({{"identity":{{"userAssignedIdentities":{{"{}":{{}}}}}}}})", id);
  };
  EXPECT_EQ(arm.patches("ben", adding("/b")).head.status, 200);
  const auto second = arm.patches("ben", adding("/c"));
  EXPECT_EQ(second.head.status, 200) << second.body;
  EXPECT_EQ(arm.state["identity"]["userAssignedIdentities"].size(), 3u);
  arm.fails_after_effect = true;
  EXPECT_EQ(arm.patches("ben", adding("/d")).head.status, 500);
  const auto again = arm.patches("ben", adding("/d"));
  EXPECT_EQ(again.head.status, 200) << again.body;
}

TEST(PatchMerged, WhoTakesAllIdentitiesAwayIsToldOfOnesItHasNotSeen) {
  LivePatches arm;
  for (const char* client : {"ann", "one-actor"}) arm.read(client);
  EXPECT_EQ(arm.patches("ann", R"({"identity":{"userAssignedIdentities":{"/b":{}}}})").head.status, 200);
  const std::string none = R"({"identity":{"type":"None","userAssignedIdentities":null}})";
  EXPECT_EQ(arm.patches("one-actor", none).head.status, 412) << arm.sent;
  arm.read("one-actor");
  EXPECT_EQ(arm.patches("one-actor", none).head.status, 200);
  EXPECT_EQ(arm.sent, none);
}

}  // namespace
}  // namespace armgate::world::patch_merged_test
