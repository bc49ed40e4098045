// Goal: a resource that stands in its parent's body is protected from what is done through the parent, and a client that has read it
// there counts as one that has read it.
#include "proxy/request/read/parents.h"

#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "tests/support/stage_rig.h"

namespace armgate::parents_test {
namespace {

using world::get;
using world::kNetwork;
using world::kSubnet;
using world::put;
using world::StageRig;
using world::Step;

constexpr const char* kSubnetId = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n/subnets/a";

std::string subnet(const std::string& prefix, const std::string& more = {}) {
  return R"({"name":"a","id":")" + std::string(kSubnetId) + R"(","properties":{"addressPrefix":")" + prefix + '"' + more + "}}";
}

std::string network(const std::string& subnets, const std::string& tags = {}) {
  return R"({"location":"w","tags":{)" + tags + R"(},"properties":{"subnets":[)" + subnets + "]}}";
}

// An ARM with one network, in whose body its subnet stands.
class Network {
 public:
  explicit Network(StageRig& rig) {
    rig.arm_lives([this](const arm::Request& request) { return answer(request); });
  }
  std::string subnet_there;  // empty: none
  bool shows_subnet = true;  // false: reads of the subnet lag

 private:
  Step answer(const arm::Request& request) {
    Step step;
    step.expected = request.head.method_token;
    const bool is_put = request.head.method == arm::Method::Put;
    if (equal_ignoring_case(request.head.target, kSubnet)) {
      if (is_put) subnet_there = request.body;
      step.status = !subnet_there.empty() && (is_put || shows_subnet) ? 200 : 404;
      step.body = step.status == 200 ? subnet_there : R"({"error":{"code":"NotFound","message":"m"}})";
      return step;
    }
    if (is_put) {
      const size_t from = request.body.find(R"({"name":"a")");
      subnet_there = from == request.body.npos ? "" : request.body.substr(from, request.body.rfind(']') - from);
    }
    step.body = network(subnet_there);
    return step;
  }
};

TEST(Parents, ACreateIsNotSentOverWhatSomebodyMadeWithTheParent) {
  for (const bool is_made : {true, false}) {
    StageRig rig;
    Network arm(rig);
    EXPECT_EQ(rig.ask("two", get(kSubnet)).head.status, 404);
    rig.ask("one", get(kNetwork));
    const std::string made = is_made ? subnet("10.0.1.0/24") : "";
    EXPECT_EQ(rig.ask("one", put(kNetwork), network(made, R"("by":"one")")).head.status, 200);
    const auto answer = rig.ask("two", put(kSubnet), subnet("10.0.2.0/24"));
    EXPECT_EQ(answer.head.status, is_made ? 412 : 200);
    EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), is_made ? "created-meanwhile" : "");
    EXPECT_EQ(arm.subnet_there, is_made ? made : subnet("10.0.2.0/24"));
  }
}

TEST(Parents, WhatAClientMadeWithTheParentItselfIsItsOwnToReplace) {
  StageRig rig;
  Network arm(rig);
  rig.ask("one", get(kSubnet));
  rig.ask("one", get(kNetwork));
  rig.ask("one", put(kNetwork), network(subnet("10.0.1.0/24")));
  EXPECT_EQ(rig.ask("one", put(kSubnet), subnet("10.0.2.0/24")).head.status, 200);
}

// Samples of the SDKs take a subnet from the network that they have read, change it and write it alone.
TEST(Parents, WhatAClientHasReadInTheParentIsWhatItsWriteWasBuiltFrom) {
  for (const Duration age : {Duration(), Duration(std::chrono::hours(13))}) {
    StageRig rig;
    Network arm(rig);
    rig.pass(age);
    arm.subnet_there = subnet("10.0.1.0/24");
    rig.ask("two", get(kNetwork));
    rig.ask("one", get(kSubnet));
    EXPECT_EQ(rig.ask("one", put(kSubnet), subnet("10.0.3.0/24")).head.status, 200);
    EXPECT_EQ(rig.ask("two", put(kSubnet), subnet("10.0.4.0/24")).head.status, 412);
    EXPECT_EQ(arm.subnet_there, subnet("10.0.3.0/24"));
    rig.ask("two", get(kNetwork));
    EXPECT_EQ(rig.ask("two", put(kSubnet), subnet("10.0.4.0/24")).head.status, 200) << "it has read again";
  }
}

TEST(Parents, WhatItWasShownBeforeItReplacedTheParentItselfIsNoBase) {
  StageRig rig;
  Network arm(rig);
  arm.subnet_there = subnet("10.0.1.0/24");
  rig.ask("one", get(kNetwork));
  EXPECT_EQ(rig.ask("one", put(kNetwork), network(subnet("10.0.2.0/24"))).head.status, 200);
  EXPECT_EQ(rig.ask("one", put(kSubnet), subnet("10.0.3.0/24")).head.status, 200);
}

// A read that lags is no deletion because somebody has tagged the network.
TEST(Parents, AReadLagsWhereTheWriteOfTheParentHasKeptTheChild) {
  for (const bool keeps : {true, false}) {
    StageRig rig;
    Network arm(rig);
    rig.ask("one", put(kSubnet), subnet("10.0.1.0/24"));
    rig.ask("two", get(kNetwork));
    rig.ask("two", put(kNetwork), network(keeps ? subnet("10.0.1.0/24") : "", R"("by":"two")"));
    arm.shows_subnet = false;
    EXPECT_EQ(rig.ask("three", get(kSubnet)).head.status, 404);
    const auto key =
        rig.shared().locks.key_of("/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/n/subnets/a");
    const uint64_t deleted = rig.shared().resources.ask(key, [](const policy::History& history) { return history.deleted(); });
    EXPECT_EQ(deleted == 0, keeps);
  }
}

// An ARM with one network whose tags are a resource of their own, too.
class Tagged {
 public:
  explicit Tagged(StageRig& rig) {
    rig.arm_lives([this](const arm::Request& request) { return answer(request); });
  }
  std::string tags = R"("base":"1")";

 private:
  Step answer(const arm::Request& request) {
    Step step;
    step.expected = request.head.method_token;
    if (request.head.method != arm::Method::Get) {
      const size_t from = request.body.find(R"("tags":{)") + 8;
      tags = request.body.substr(from, request.body.find('}', from) - from);
    }
    const bool alone = lower_text(request.head.target).find("microsoft.resources/tags") != std::string::npos;
    step.body = alone ? R"({"properties":{"tags":{)" + tags + "}}}" : network("", tags);
    return step;
  }
};

const std::string kTags =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n/providers/Microsoft.Resources/tags/"
    "default?api-version=2021-04-01";

TEST(Parents, TagsThatWereReadWithTheirResourceCountForAWriteOfTheTags) {
  for (const bool by_patch : {false, true}) {
    StageRig rig;
    Tagged arm(rig);
    for (const char* client : {"one", "two"}) rig.ask(client, get(kNetwork));
    EXPECT_EQ(rig.ask("two", put(kNetwork), network("", R"("base":"1","two":"1")")).head.status, 200);
    const std::string all = R"("properties":{"tags":{"base":"1","one":"1"}}})";
    const auto answer = by_patch ? rig.ask("one", world::patch(kTags), R"({"operation":"Replace",)" + all)
                                 : rig.ask("one", put(kTags), "{" + all);
    EXPECT_EQ(answer.head.status, 200) << answer.body;
    EXPECT_EQ(arm.tags, R"("base":"1","two":"1","one":"1")") << by_patch;
  }
}

// It knows what it has asked for since.
TEST(Parents, TagsThatWereReadBeforeAPatchOfItsOwnAreNoBase) {
  StageRig rig;
  Tagged arm(rig);
  rig.ask("one", get(kNetwork));
  EXPECT_EQ(rig.ask("one", world::patch(kNetwork), R"({"tags":{"base":"1","one":"1"}})").head.status, 200);
  EXPECT_EQ(rig.ask("one", put(kTags), R"({"properties":{"tags":{"base":"1","one":"2"}}})").head.status, 200);
  EXPECT_EQ(arm.tags, R"("base":"1","one":"2")");
}

// One after the other, each having read what is there.
TEST(Parents, TwoThatTagInTurnsAreNotRefused) {
  StageRig rig;
  Tagged arm(rig);
  for (int turn = 0; turn < 3; ++turn) {
    for (const std::string client : {"one", "two"}) {
      rig.ask(client, get(kNetwork));
      const std::string tags = arm.tags + ",\"" + client + std::to_string(turn) + "\":\"1\"";
      EXPECT_EQ(rig.ask(client, put(kTags), R"({"properties":{"tags":{)" + tags + "}}}").head.status, 200) << client << turn;
      EXPECT_EQ(arm.tags, tags);
    }
  }
}

}  // namespace
}  // namespace armgate::parents_test
