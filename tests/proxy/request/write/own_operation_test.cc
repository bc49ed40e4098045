// Goal: a write gets an operation URL of armgate's own only where something could tell later whether it may go again. Method: a table of
// writes under a rule that asks for it.
#include "proxy/request/write/own_operation.h"

#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::own_operation_test {
namespace {

const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kWanted = R"({"sku":{"capacity":2}})";
const std::string kStatus = "https://management.azure.com/subscriptions/s/operations/1?t=signed";

TEST(OwnOperation, IsOfWhatMayGoAgain) {
  const struct {
    const char* why;
    bool has_read;
    std::string request;
    arm::Headers own;
    arm::Headers given;  // ARM's
    bool is_owned;
  } rows[] = {
      {"built on one state", true, put(kScaleSet), {}, {{"Azure-AsyncOperation", kStatus}}, true},
      {"by its location", true, put(kScaleSet), {}, {{"Location", kStatus}}, true},
      {"a PATCH", true, patch(kScaleSet), {}, {{"Azure-AsyncOperation", kStatus}}, true},
      {"built on nothing known", false, put(kScaleSet), {}, {{"Azure-AsyncOperation", kStatus}}, false},
      {"its client's precondition", true, put(kScaleSet), {{"If-Match", "\"1\""}}, {{"Azure-AsyncOperation", kStatus}}, false},
      {"an action", true, "POST " + std::string(kRestart), {}, {{"Azure-AsyncOperation", kStatus}}, false},
      {"without a URL", true, put(kScaleSet), {}, {}, false},
  };
  for (const auto& row : rows) {
    StageRig rig;
    rig.change_rules([](rules::Rule& rule) { rule.late.backoff.attempts = 3; });
    if (row.has_read) {
      rig.arm(get(kScaleSet), 200, {{"ETag", "\"1\""}}, kState);
      rig.ask("one", get(kScaleSet));
    }
    rig.arm(row.request, 202, row.given);
    const auto answer = rig.ask("one", row.request, kWanted, row.own);
    ASSERT_EQ(answer.head.status, 202) << row.why;
    for (const char* field : {"Azure-AsyncOperation", "Location"}) {
      const bool is_own = answer.head.fields.get(field).find("/armgate-operations/") != std::string_view::npos;
      EXPECT_EQ(is_own, row.is_owned && row.given.has(field)) << row.why << " " << field;
    }
    EXPECT_EQ(rig.shared().owned.empty(), !row.is_owned) << row.why;
  }
}

TEST(OwnOperation, IsOfNothingWhereNoRuleAsksForIt) {
  StageRig rig;
  rig.arm(get(kScaleSet), 200, {{"ETag", "\"1\""}}, kState);
  rig.arm(put(kScaleSet), 202, {{"Azure-AsyncOperation", kStatus}});
  rig.ask("one", get(kScaleSet));
  EXPECT_EQ(rig.ask("one", put(kScaleSet), kWanted).head.fields.get("Azure-AsyncOperation"), kStatus);
}

}  // namespace
}  // namespace armgate::world::own_operation_test
