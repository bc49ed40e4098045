// What follows from a write's plan for what is held of it.
#include "proxy/request/operation/leased_write.h"

#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world {
namespace {

const std::string kSubnetId = "/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/n/subnets/a";
const std::string kNetworkId = "/subscriptions/s/resourcegroups/g/providers/microsoft.network/virtualnetworks/n";
const std::string kStatusUrl = "https://management.azure.com/subscriptions/s/operations/1?t=SECRET";
const std::string kOutside = "https://elsewhere.example/x?t=SECRET";

class HeldWrites : public testing::Test {
 protected:
  static PipelineOptions intercepted() {
    PipelineOptions options = StageRig::default_options();
    options.is_arm_host = [](std::string_view host) { return host == "management.azure.com"; };
    return options;
  }
  Planned plan(arm::Method method, std::string_view target) {
    auto planned = rig.shared().rules.make_plan(method, target);
    EXPECT_TRUE(planned.ok()) << target;
    return *std::move(planned);
  }
  LeasedWrite leased(arm::Method method, std::string_view target, arm::Tracking tracking) {
    LeasedWrite write;
    write.planned = plan(method, target);
    write.method = method;
    write.host = "management.azure.com";
    write.tracking = std::move(tracking);
    complete_from_plan(rig.parts(), target, write);
    return write;
  }
  StageRig rig{intercepted()};
};

TEST_F(HeldWrites, OnlyWhatMovesAGoalMayRunBesideItsOwn) {
  rig.change_rules([](rules::Rule& rule) { rule.reentrant = rules::Reentrant::Holder; });
  EXPECT_TRUE(may_run_beside_its_own(*plan(arm::Method::Put, kScaleSet).plan));
  EXPECT_TRUE(may_run_beside_its_own(*plan(arm::Method::Patch, kScaleSet).plan));
  EXPECT_FALSE(may_run_beside_its_own(*plan(arm::Method::Delete, kScaleSet).plan));
  rig.change_rules([](rules::Rule& rule) { rule.reentrant = rules::Reentrant::Nobody; });
  EXPECT_FALSE(may_run_beside_its_own(*plan(arm::Method::Put, kScaleSet).plan));
}

TEST_F(HeldWrites, ANeighbourIsReadAtTheWritesVersionOnlyIfItsProviderIsTheSame) {
  const auto subnet = plan(arm::Method::Put, kSubnet);
  const auto target = [&](const std::string& id) {
    return target_of_neighbour(*subnet.plan, *arm::parse_resource_id(id)).value_or("none");
  };
  EXPECT_EQ(target(kNetworkId), kNetworkId + "?api-version=2023-09-01");
  EXPECT_EQ(target(kSubnetId), "none") << "its own";
  EXPECT_EQ(target("/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachines/m"), "none");
  EXPECT_EQ(target("/subscriptions/s/resourcegroups/g"), "none");
}

TEST_F(HeldWrites, WithoutAnAnswerTheResourceTellsTheEnd) {
  EXPECT_EQ(tracked_by_resource(*plan(arm::Method::Put, kSubnet).plan).by, arm::TrackedBy::ResourceState);
  EXPECT_EQ(tracked_by_resource(*plan(arm::Method::Delete, kSubnet).plan).by, arm::TrackedBy::ResourceGone);
}

TEST_F(HeldWrites, AnUrlForPeopleHasNoQuery) {
  EXPECT_EQ(url_for_people({arm::TrackedBy::StatusUrl, kStatusUrl, kOutside}),
            "management.azure.com/subscriptions/s/operations/1");
  EXPECT_EQ(url_for_people({arm::TrackedBy::LocationUrl, "", kOutside}), "elsewhere.example/x");
  EXPECT_EQ(url_for_people({arm::TrackedBy::ResourceState, "", ""}), "");
  EXPECT_EQ(url_for_people({arm::TrackedBy::StatusUrl, "no url", ""}), "");
}

// Where the end is looked for, if operation URLs may be where no token is sent, or name the resource itself.
TEST_F(HeldWrites, TheEndIsLookedForWhereATokenMayBeSent) {
  using By = arm::TrackedBy;
  const std::string own = "https://management.azure.com" + std::string(kScaleSet);
  const struct {
    arm::Tracking told;
    By by;
    size_t loud;
  } rows[] = {
      {{By::StatusUrl, kStatusUrl, ""}, By::StatusUrl, 0},         {{By::StatusUrl, kOutside, kStatusUrl}, By::LocationUrl, 1},
      {{By::StatusUrl, kOutside, kOutside}, By::ResourceState, 1}, {{By::StatusUrl, kOutside, own}, By::ResourceState, 1},
      {{By::LocationUrl, "", kStatusUrl}, By::LocationUrl, 0},     {{By::LocationUrl, "", kOutside}, By::ResourceState, 1},
      {{By::ResourceState, "", ""}, By::ResourceState, 0},
  };
  size_t loud = 0;
  for (const auto& row : rows) {
    const LeasedWrite write = leased(arm::Method::Put, kScaleSet, row.told);
    EXPECT_EQ(write.tracking.by, row.by) << row.told.status_url << " " << row.told.location_url;
    EXPECT_EQ(rig.loud().size(), loud += row.loud) << row.told.status_url << " " << row.told.location_url;
  }
  for (const auto& line : rig.loud()) EXPECT_EQ(line.find("SECRET"), std::string::npos) << line;
  for (const auto& [status, location] : {std::pair{kOutside, kStatusUrl}, std::pair{kStatusUrl, kOutside}}) {
    const LeasedWrite write = leased(arm::Method::Put, kScaleSet, {By::StatusUrl, status, location});
    EXPECT_EQ(write.tracking.status_url + write.tracking.location_url, kStatusUrl) << "nobody is to ask outside, ever";
  }
  EXPECT_EQ(leased(arm::Method::Put, kScaleSet, {By::StatusUrl, kStatusUrl, own}).tracking.location_url, "")
      << "its own URL shows no more than its state";
}

TEST_F(HeldWrites, WhatMustRestIsTheResourceAndTheParentsThatItLocks) {
  const arm::Tracking runs{arm::TrackedBy::StatusUrl, kStatusUrl, ""};
  rig.change_rules([](rules::Rule& rule) { rule.lease.until = rules::LeaseUntil::Provisioned; });
  using Targets = std::vector<std::string>;
  EXPECT_EQ(leased(arm::Method::Put, kSubnet, runs).must_be_provisioned,
            (Targets{std::string(kSubnet), kNetworkId + "?api-version=2023-09-01"}));
  EXPECT_EQ(leased(arm::Method::Delete, kSubnet, runs).must_be_provisioned, (Targets{kNetworkId + "?api-version=2023-09-01"}));
  EXPECT_EQ(leased(arm::Method::Put, kSubnet, {}).must_be_provisioned, Targets{}) << "done with its answer";
  rig.change_rules([](rules::Rule& rule) { rule.lease.until = rules::LeaseUntil::Operation; });
  EXPECT_EQ(leased(arm::Method::Put, kSubnet, runs).must_be_provisioned, Targets{});
}

}  // namespace
}  // namespace armgate::world
