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

class LivePatches : public testing::Test {
 protected:
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

 private:
  static PipelineOptions declared() {
    auto options = StageRig::default_options();
    options.clients["one-actor"].actors = policy::Actors::Single;
    return options;
  }
};

TEST_F(LivePatches, AClientThatHasReadIsComparedHoweverLongItOnlyWrites) {
  for (const std::string client : {"ben", "one-actor"}) {
    state["tags"] = {{"t", "1"}};
    ++version;
    read(client);
    EXPECT_EQ(patches(client, R"({"tags":{"t":"1","b":"1"}})").head.status, 200);
    rig.pass(std::chrono::minutes(20));
    read("ann");
    EXPECT_EQ(patches("ann", R"({"tags":{"t":"1","b":"1","a":"1"}})").head.status, 200);
    const auto answer = patches(client, R"({"tags":{"t":"1","b":"1","c":"1"}})");
    EXPECT_EQ(answer.head.status, 200) << answer.body;
    EXPECT_EQ(state["tags"].size(), 4u) << client << state.dump();
  }
}

TEST_F(LivePatches, WhatWasMergedIsNotTakenOutByItsClientsNextWrite) {
  for (const bool whole : {false, true}) {
    state["tags"] = {{"t", "1"}};
    ++version;
    for (const char* client : {"ann", "one-actor"}) read(client);
    EXPECT_EQ(patches("ann", R"({"tags":{"t":"1","a":"1"}})").head.status, 200);
    const auto merged = patches("one-actor", R"({"tags":{"t":"1","b":"1"}})");
    EXPECT_EQ(merged.head.fields.get("x-armgate-merged"), "1") << merged.body;
    // From the object that it has in hand.
    Json in_hand = state;
    in_hand["tags"] = {{"t", "1"}, {"b", "1"}, {"c", "1"}};
    const auto next = whole ? rig.ask("one-actor", put(kScaleSet), in_hand.dump())
                            : patches("one-actor", R"({"tags":{"t":"1","b":"1","c":"1"}})");
    EXPECT_EQ(next.head.status, 412) << whole << next.body;
    EXPECT_TRUE(state["tags"].contains("a")) << whole << state.dump();
    // One refusal: then it has read.
    read("one-actor");
    EXPECT_EQ(patches("one-actor", R"({"tags":{"t":"1","a":"1","b":"1","c":"1"}})").head.status, 200);
    EXPECT_EQ(state["tags"].size(), 4u);
  }
}

TEST_F(LivePatches, AMergedOneThatFailedAfterItsEffectIsKnownWhenItComesAgain) {
  for (const char* change : {R"({"tags":{"t":"2"}})", R"({"tags":{"t":"1","b":"1"}})"}) {
    state["tags"] = {{"t", "1"}};
    ++version;
    for (const char* client : {"ann", "ben"}) read(client);
    EXPECT_EQ(patches("ann", R"({"tags":{"t":"1","a":"1"}})").head.status, 200);
    fails_after_effect = true;
    EXPECT_EQ(patches("ben", change).head.status, 500);
    const int applied = version;
    const auto again = patches("ben", change);
    EXPECT_EQ(again.head.status, 200) << again.body;
    EXPECT_EQ(version, applied) << "it was done";
    EXPECT_TRUE(state["tags"].contains("a"));
  }
}

// A PATCH adds identities, and leaves those that it does not name.
TEST_F(LivePatches, IdentitiesAreAddedOneByOneByWhoIsAlone) {
  read("ben");
  const auto adding = [](std::string_view id) {
    return fmt::format(R"({{"identity":{{"userAssignedIdentities":{{"{}":{{}}}}}}}})", id);
  };
  EXPECT_EQ(patches("ben", adding("/b")).head.status, 200);
  const auto second = patches("ben", adding("/c"));
  EXPECT_EQ(second.head.status, 200) << second.body;
  EXPECT_EQ(state["identity"]["userAssignedIdentities"].size(), 3u);
  fails_after_effect = true;
  EXPECT_EQ(patches("ben", adding("/d")).head.status, 500);
  const auto again = patches("ben", adding("/d"));
  EXPECT_EQ(again.head.status, 200) << again.body;
}

TEST_F(LivePatches, WhoTakesAllIdentitiesAwayIsToldOfOnesItHasNotSeen) {
  for (const char* client : {"ann", "ben"}) read(client);
  EXPECT_EQ(patches("ann", R"({"identity":{"userAssignedIdentities":{"/b":{}}}})").head.status, 200);
  const std::string none = R"({"identity":{"type":"None","userAssignedIdentities":null}})";
  EXPECT_EQ(patches("ben", none).head.status, 412) << sent;
  read("ben");
  EXPECT_EQ(patches("ben", none).head.status, 200);
  EXPECT_EQ(sent, none);
}

}  // namespace
}  // namespace armgate::world::patch_merged_test
