// Goal: what a poll of an operation URL of armgate's own is told when ARM tells nothing any more. Method: an operation that ends, and
// that ARM has then forgotten.
#include "proxy/request/operation/owned_poll.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arm/url.h"
#include "tests/support/stage_rig.h"

namespace armgate::world::owned_poll_test {
namespace {

using testing::HasSubstr;

const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kOperation = "https://management.azure.com/subscriptions/s/operations/1?t=signed";
const std::string kPoll = "GET /subscriptions/s/operations/1?t=signed";

TEST(OwnedPoll, TellsTheLastWordOnWhatArmHasForgotten) {
  const struct {
    const char* field;  // in which ARM gave its URL
    int status;         // of ARM's last answer to a poll
    const char* body;
    int told;  // once it is forgotten
    const char* text;
  } rows[] = {
      {"Azure-AsyncOperation", 200, R"({"status":"Succeeded"})", 200, R"("status":"Succeeded"})"},
      {"Azure-AsyncOperation", 200, R"({"status":"Failed","error":{"code":"QuotaExceeded","message":"m"}})", 200,
       R"("status":"Failed","error":{"code":"QuotaExceeded")"},
      {"Azure-AsyncOperation", 200, R"({"status":"Canceled"})", 200,
       R"("status":"Canceled","error":{"code":"OperationFailed")"},
      {"Location", 200, "{}", 204, ""},
      {"Location", 400, R"({"error":{"code":"QuotaExceeded","message":"m"}})", 409, R"({"error":{"code":"QuotaExceeded")"},
  };
  for (const auto& row : rows) {
    StageRig rig;
    rig.change_rules([](rules::Rule& rule) { rule.late.backoff.attempts = 3; });
    rig.arm(get(kScaleSet), 200, {{"ETag", "\"1\""}}, kState);
    rig.ask("one", get(kScaleSet));
    rig.arm(put(kScaleSet), 202, {{row.field, kOperation}});
    const auto given = rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":2}})");
    const auto own = arm::parse_url(given.head.fields.get(row.field));
    ASSERT_TRUE(own.has_value()) << row.text;
    rig.arm(kPoll, row.status, {}, row.body);
    EXPECT_EQ(rig.ask("one", "GET " + own->target).body, row.body);
    for (const int gone : {404, 410}) {
      rig.arm(kPoll, gone, {}, "{}");
      const auto told = rig.ask("one", "GET " + own->target);
      EXPECT_EQ(told.head.status, row.told) << row.field << row.body;
      EXPECT_EQ(told.head.fields.get("x-armgate-reason"), "last-word") << row.field << row.body;
      EXPECT_THAT(told.body, HasSubstr(row.text));
    }
  }
}

TEST(OwnedPoll, IsNoneOfWhatArmgateDoesNotKnow) {
  StageRig rig;
  const std::string unknown =
      "GET /subscriptions/s/providers/Microsoft.Compute/armgate-operations/"
      "0123456789abcdef0123456789abcdef?api-version=2024-07-01";
  rig.arm(unknown, 404, {}, "{}");
  EXPECT_EQ(rig.ask("one", unknown).head.status, 404);
  EXPECT_TRUE(rig.script_is_done()) << "it is ARM's to say so";
}

}  // namespace
}  // namespace armgate::world::owned_poll_test
