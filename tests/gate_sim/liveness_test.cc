// Goal: the checkers of getting through speak where a law is broken, and only there. Method: short stories, told to them as clients,
// armgate and ARM would, against a state log of their own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/tree.h"
#include "tests/gate_sim/workloads/scenario.h"
#include "tests/support/checkers/checkers_liveness.h"

namespace armgate::world {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using Json = nlohmann::json;

const std::string kSet = "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/v";
const std::string kTarget = kSet + "?api-version=2025-04-01";

Json capacity(int count) { return Json{{"sku", {{"capacity", count}}}}; }

class Story {
 public:
  explicit Story(std::map<std::string, ClientKind> kinds = {})
      : checker_({std::move(kinds)}, {[this](const std::string& path) { return log_.of(path); },
                                      [this](Law law, const std::string&) { ++broken[law]; }}) {
    change("somebody-before", capacity(1));
    pass(minutes(60));
  }

  void pass(Duration time) { now_ += time; }
  // Around armgate, or by a client whose write is told of elsewhere.
  void change(const std::string& by, const Json& content) {
    pass(milliseconds(10));
    serial_ = log_.add(kSet, now_, std::make_shared<const Json>(content), by);
  }

  void read(const std::string& client) {
    const uint64_t exchange = ask(client, arm::Method::Get, {});
    checker_.handled(exchange, {{kSet, serial_}}, false, false);
    answer(exchange, 200);
    in_hand_[client] = {log_.of(kSet).back(), now_};
  }
  // Another change through armgate, told 2xx.
  void write(const std::string& client, const Json& content, int status = 200) {
    const uint64_t exchange = ask(client, arm::Method::Put, content.dump());
    change(client, content);
    checker_.handled(exchange, {{kSet, serial_}}, true, false);
    answer(exchange, status);
  }
  void refuse(const std::string& client, const Json& content) { answer(ask(client, arm::Method::Put, content.dump()), 412); }
  void die() { checker_.life_ended(); }
  // What its operation had done is taken back, or its answer was lost: it reads again.
  std::map<Law, int> end() {
    checker_.settled();
    return broken;
  }
  uint64_t count(const std::string& what) const {
    const auto found = checker_.counts().find(what);
    return found == checker_.counts().end() ? 0 : found->second;
  }

  std::map<Law, int> broken;

 private:
  struct InHand {
    sim::State state;
    TimePoint at{};
  };
  uint64_t ask(const std::string& client, arm::Method method, std::string body) {
    pass(milliseconds(20));
    LivenessChecker::Asked asked;
    asked.exchange = ++exchanges_;
    asked.client = client;
    asked.name = client.substr(0, client.find('/'));  // "name/actor"
    asked.method = method;
    asked.target = kTarget;
    asked.body = std::move(body);
    asked.write_id = fmt::format("write-{}", exchanges_);
    asked.at = now_;
    if (method == arm::Method::Put && in_hand_.contains(client)) {
      asked.base_version = in_hand_[client].state.version;
      asked.base_read = in_hand_[client].at;
    }
    checker_.asked(std::move(asked));
    pass(milliseconds(20));
    return exchanges_;
  }
  void answer(uint64_t exchange, int status) { checker_.answered({exchange, status, true, now_, now_}); }

  sim::StateLog log_;
  LivenessChecker checker_;
  TimePoint now_{std::chrono::hours(1000)};
  uint64_t serial_ = 0;
  uint64_t exchanges_ = 0;
  std::map<std::string, InHand> in_hand_;
};

using Broken = std::map<Law, int>;

TEST(LivenessChecker, AnIncrementOfALoneClientIsNeverRefused) {
  for (const ClientKind kind : {ClientKind::Single, ClientKind::Unknown, ClientKind::Many}) {
    Story story({{"a", kind}});
    story.read("a");
    story.write("a", capacity(2));
    story.read("a");
    story.refuse("a", capacity(3));
    EXPECT_EQ(story.broken.contains(Law::L1), kind != ClientKind::Many);
    EXPECT_EQ(story.count("U1"), 1u);
  }
}

TEST(LivenessChecker, TakingBackAloneMayCostAnUnknownClientTwoRefusalsButNotThree) {
  for (const ClientKind kind : {ClientKind::Single, ClientKind::Unknown}) {
    Story story({{"a", kind}});
    story.read("a");
    story.write("a", capacity(2));
    for (int refusals = 1; refusals <= 3; ++refusals) {
      story.read("a");
      story.refuse("a", capacity(1));
      EXPECT_EQ(story.broken[Law::L1], kind == ClientKind::Single ? refusals : refusals == 3 ? 1 : 0) << refusals;
    }
    EXPECT_EQ(story.count("U1, but the write looks stale"), 3u);
  }
}

TEST(LivenessChecker, WhatWasSupersededLongAgoDoesNotLookStale) {
  Story story;
  story.read("a");
  story.write("a", capacity(2));
  story.read("a");
  story.pass(minutes(7));
  story.read("a");
  story.refuse("a", capacity(1));
  EXPECT_EQ(story.broken, (Broken{{Law::L1, 1}}));
}

TEST(LivenessChecker, ARefusalOfWhatSomebodyElseHasChangedBreaksNothing) {
  Story story({{"a", ClientKind::Single}});
  story.read("a");
  story.change("outsider", capacity(7));
  story.refuse("a", capacity(2));
  story.read("a");
  story.write("a", capacity(8));
  EXPECT_EQ(story.end(), Broken{});
  EXPECT_EQ(story.count("U1"), 0u);
}

TEST(LivenessChecker, AStateThatMovedWhileTheWriteWaitedIsNotHeldAgainstAnybody) {
  Story story;
  story.read("a");
  story.change("outsider", capacity(7));
  story.change("outsider", capacity(1));  // what "a" has read, but not all the time
  story.refuse("a", capacity(2));
  story.read("a");
  story.write("a", capacity(2));
  EXPECT_EQ(story.end(), Broken{});
}

TEST(LivenessChecker, WhoReadsAgainAfterARefusalIsSent) {
  for (const ClientKind kind : {ClientKind::Single, ClientKind::Unknown, ClientKind::Many}) {
    Story story({{"a", kind}});
    story.read("a");
    story.change("outsider", capacity(7));
    story.refuse("a", capacity(2));
    story.read("a");
    story.refuse("a", capacity(8));
    EXPECT_EQ(story.broken.contains(Law::L3), kind != ClientKind::Many);
  }
}

TEST(LivenessChecker, AnUnknownClientsStaleLookAllowsOneRefusalMoreForEachChange) {
  Story story;
  story.read("a");
  story.change("outsider", capacity(7));
  story.refuse("a", capacity(2));
  story.read("a");
  story.refuse("a", capacity(1));  // the value that it had read before
  EXPECT_EQ(story.broken, Broken{});
  story.read("a");
  story.refuse("a", capacity(1));
  EXPECT_EQ(story.broken[Law::L3], 1);
}

TEST(LivenessChecker, ARereadOfAnOlderStateGivesNoRight) {
  Story story;
  story.read("a");
  story.change("outsider", capacity(7));
  story.refuse("a", capacity(2));
  story.read("a");
  story.change("outsider", capacity(9));
  story.refuse("a", capacity(8));
  EXPECT_FALSE(story.broken.contains(Law::L3));
}

TEST(LivenessChecker, TheRightOfARefusalEndsWithTheProcess) {
  Story story;
  story.read("a");
  story.change("outsider", capacity(7));
  story.refuse("a", capacity(2));
  story.die();
  story.read("a");
  story.refuse("a", capacity(8));
  EXPECT_FALSE(story.broken.contains(Law::L3));
}

TEST(LivenessChecker, AStateOnWhichOneIsRefusedForTheThirdTimeIsUnusable) {
  for (const ClientKind kind : {ClientKind::Unknown, ClientKind::Many}) {
    Story story({{"a", kind}});
    story.read("a");
    story.change("outsider", capacity(7));
    for (int refusals = 1; refusals <= 3; ++refusals) {
      story.read("a");
      story.refuse("a", capacity(8));
      EXPECT_EQ(story.broken.contains(Law::L2), refusals == 3 && kind == ClientKind::Unknown) << refusals;
    }
    story.pass(minutes(6));
    story.read("a");
    story.refuse("a", capacity(8));
    EXPECT_TRUE(story.broken.contains(Law::L2));
  }
}

TEST(LivenessChecker, NobodyIsRefusedForEverBecauseOthersAreQuicker) {
  for (const char* client : {"a", "a/0"}) {
    Story story;
    if (client != std::string("a")) story.read("a/1");
    story.read("b");
    story.write("b", capacity(100));
    for (int refusals = 1; refusals <= kHiddenInARowMax + 1; ++refusals) {
      story.read(client);
      story.write("b", capacity(100 + refusals));
      story.refuse(client, capacity(2));
      const int most = client == std::string("a") ? kRefusedInARowMax : kHiddenInARowMax;
      EXPECT_EQ(story.broken[Law::L4], refusals > most ? 1 : 0) << client << " " << refusals;
    }
    EXPECT_FALSE(story.end().contains(Law::L4Total));
  }
}

TEST(LivenessChecker, WhoThinksTooLongOrMeetsAnOutsiderHasNoTurn) {
  Story story;
  for (int refusals = 1; refusals <= 20; ++refusals) {
    story.read("a");
    if (refusals % 2 == 0) story.pass(seconds(3));
    story.change("outsider", capacity(100 + refusals));
    story.refuse("a", capacity(2));
  }
  EXPECT_EQ(story.end(), Broken{});
}

TEST(LivenessChecker, MoreRefusalsThanChangesByOthersAreTooMany) {
  Story story;
  story.read("b");
  story.read("a");
  story.write("b", capacity(5));
  story.refuse("a", capacity(2));
  story.read("a");
  story.refuse("a", capacity(6));  // nobody has changed anything since
  story.broken.clear();
  EXPECT_EQ(story.end(), (Broken{{Law::L4Total, 1}}));
}

TEST(LivenessChecker, AFaultOfItsOwnMayCostOneRefusal) {
  for (const int status : {200, 500}) {
    Story story({{"a", ClientKind::Single}});
    story.read("a");
    story.write("a", capacity(2), status);
    story.read("a");
    story.refuse("a", capacity(3));
    EXPECT_EQ(story.broken.contains(Law::L1), status == 200);
    EXPECT_EQ(story.end().contains(Law::L4Total), status == 200);
  }
}

TEST(LivenessChecker, KeyedElementsAreComparedOneByOne) {
  const auto rules = [](std::initializer_list<const char*> names) {
    Json content{{"properties", {{"rules", Json::array()}}}};
    for (const char* name : names) content["properties"]["rules"].push_back({{"name", name}, {"priority", 1}});
    return sim::leaves_of(content);
  };
  EXPECT_FALSE(sim::looks_stale(rules({"a", "b"}), rules({"a"}), {rules({})}));
  EXPECT_TRUE(sim::looks_stale(rules({"b"}), rules({"a"}), {rules({})})) << "\"a\" is taken back";
  EXPECT_FALSE(sim::looks_stale(rules({"a"}), rules({"a"}), {rules({})})) << "no value moved";
  EXPECT_FALSE(sim::looks_stale(rules({"b", "c"}), rules({"a", "b"}), {rules({})})) << "it has \"b\", which is newer";
  EXPECT_FALSE(sim::looks_stale(rules({"c"}), rules({"b"}), {rules({"a"})})) << "nor has it \"a\" any more";
  EXPECT_TRUE(sim::looks_stale(sim::leaves_of(capacity(2)), sim::leaves_of(capacity(2)), {sim::leaves_of(capacity(1))}));
}

// The table of docs/simulation.md: which laws the present core breaks, in worlds that show it.
TEST(Liveness, WhatTheCoreIsKnownToBreakIsCountedAndNothingElseFails) {
  for (const auto& workload : liveness_workloads()) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      Scenario scenario;
      scenario.seed = seed;
      scenario.workload = workload.name;
      scenario.disturbances = {"none"};
      for (const Violation& violation : run_scenario(scenario).violations)
        ADD_FAILURE() << workload.name << " " << seed << ": " << violation.promise << ": " << violation.what;
    }
  }
}

}  // namespace
}  // namespace armgate::world
