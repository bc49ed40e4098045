// What a body refers to must stand still until ARM's answer, and no longer.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::references_test {
namespace {

constexpr std::string_view kAnyNetwork = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network";
const std::string kNic = fmt::format("{}/networkInterfaces/nic?api-version=2023-09-01", kAnyNetwork);
const std::string kOtherNic = fmt::format("{}/networkInterfaces/other?api-version=2023-09-01", kAnyNetwork);
const std::string kSecurityGroup = fmt::format("{}/networkSecurityGroups/sg?api-version=2023-09-01", kAnyNetwork);
const std::string kUrl =
    "https://management.azure.com/subscriptions/s/providers/Microsoft.Network/locations/w/operations/1?t=1";

std::string nic_in_subnet(std::string_view more = "") {
  return fmt::format(
      R"({{"properties":{{"ipConfigurations":[{{"properties":{{"subnet":{{"id":"{}/virtualNetworks/N/subnets/a"}}}}}}]{}}}}})",
      kAnyNetwork, more);
}

std::string with_security_group() {
  return nic_in_subnet(fmt::format(R"(,"networkSecurityGroup":{{"id":"{}/networkSecurityGroups/sg"}})", kAnyNetwork));
}

arm::Headers runs() { return {{"Azure-AsyncOperation", kUrl}}; }

class References : public testing::Test {
 protected:
  bool passes(const std::shared_ptr<StageRig::Running>& running) {
    rig.run_until([&] { return running->done; });
    return running->link->answer().head.status == 200;
  }
  StageRig rig;
};

TEST_F(References, AreWaitedForAsLongAsTheyAreBeingChanged) {
  rig.arm(put(kSubnet), 201, runs(), "{}");
  EXPECT_EQ(rig.ask("one", put(kSubnet), "{}").head.status, 201);
  const auto nic = rig.start("two", put(kNic), nic_in_subnet());
  // After 1, 2, 4 and 8 seconds.
  for (int i = 0; i < 4; ++i) rig.arm("GET " + kUrl.substr(kUrl.find("/subscriptions")), 200, {}, R"({"status":"InProgress"})");
  rig.pass(std::chrono::seconds(11));
  EXPECT_FALSE(nic->done);
  rig.arm("GET " + kUrl.substr(kUrl.find("/subscriptions")), 200, {}, R"({"status":"Succeeded"})");
  rig.arm(get(kSubnet), 200, {}, "{}");  // both are in a final state
  rig.arm("GET /subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/n?", 200, {}, "{}");
  rig.arm(put(kNic), 200, {}, "{}");
  EXPECT_TRUE(passes(nic));
  const std::string locks(nic->link->answer().head.fields.get("x-armgate-locks"));
  EXPECT_NE(locks.find("virtualnetworks/n (shared)"), locks.npos) << locks;
  EXPECT_NE(locks.find("virtualnetworks/n/subnets/a (shared)"), locks.npos) << locks;
}

TEST_F(References, DoNotMakeThoseWhoReferWaitForEachOther) {
  rig.arm_takes(std::chrono::seconds(5), put(kNic), 200, {}, "{}");
  rig.arm_takes(std::chrono::seconds(5), put(kOtherNic), 200, {}, "{}");
  const auto one = rig.start("one", put(kNic), nic_in_subnet());
  const auto two = rig.start("two", put(kOtherNic), nic_in_subnet());
  rig.pass(std::chrono::seconds(1));
  EXPECT_EQ(rig.seen().size(), 2u) << "both are on their way";
  EXPECT_TRUE(passes(one) && passes(two));
}

TEST_F(References, MakeTheChangeOfWhatTheyNameWaitForTheAnswerNotForTheOperation) {
  rig.arm_takes(std::chrono::seconds(5), put(kNic), 200, runs(), "{}");
  rig.arm(put(kSubnet), 200, {}, "{}");
  const auto nic = rig.start("one", put(kNic), nic_in_subnet());
  rig.pass(std::chrono::seconds(1));
  const auto subnet = rig.start("two", put(kSubnet), "{}");
  rig.pass(std::chrono::seconds(1));
  EXPECT_EQ(rig.seen().size(), 1u) << "the interface is not answered yet";
  EXPECT_TRUE(passes(subnet));
  EXPECT_TRUE(nic->done);
  EXPECT_EQ(rig.shared().op_leases.size(), 1u) << "the interface's operation still runs";
}

TEST_F(References, OfTheBaseCountEvenIfTheWriteDropsThem) {
  rig.arm(get(kNic), 200, {{"ETag", "W/\"1\""}}, with_security_group());
  rig.ask("one", get(kNic));
  rig.arm_takes(std::chrono::seconds(5), put(kSecurityGroup), 200, {}, "{}");
  rig.arm(put(kNic), 200, {}, "{}");
  const auto group = rig.start("two", put(kSecurityGroup), "{}");
  rig.pass(std::chrono::seconds(1));
  const auto nic = rig.start("one", put(kNic), nic_in_subnet());
  rig.pass(std::chrono::seconds(1));
  EXPECT_EQ(rig.seen().size(), 2u) << "the group that is dropped is being changed";
  EXPECT_TRUE(passes(group) && passes(nic));
}

TEST_F(References, ThatCannotBeReadAreNoReasonToRefuse) {
  rig.arm(put(kNic), 400, {}, "{}");
  EXPECT_EQ(rig.ask("one", put(kNic), "{not json").head.status, 400);
  EXPECT_EQ(rig.shared().locks.counts().keys, 0u);
}

TEST_F(References, AreBounded) {
  std::string list;
  for (int i = 0; i < 1000; ++i) {
    list += fmt::format(R"({}{{"properties":{{"subnet":{{"id":"{}/virtualNetworks/n{}/subnets/a"}}}}}})", i ? "," : "",
                        kAnyNetwork, i);
  }
  rig.arm_takes(std::chrono::seconds(5), put(kNic), 200, {}, "{}");
  const auto nic = rig.start("one", put(kNic), R"({"properties":{"ipConfigurations":[)" + list + "]}}");
  rig.pass(std::chrono::seconds(1));
  EXPECT_EQ(rig.shared().locks.counts().keys, 257u);
  EXPECT_EQ(rig.shared().counters.references_cut.load(), 1u);
  EXPECT_TRUE(passes(nic));
  EXPECT_LT(nic->link->answer().head.fields.get("x-armgate-locks").size(), 4000u);
}

}  // namespace
}  // namespace armgate::world::references_test
