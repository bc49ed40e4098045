// Goal: what a write leaves behind decides what the same request gets that comes again. Method: a table of answers that got lost.
#include "proxy/request/write/close_write.h"

#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::close_write_test {
namespace {

const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";
const std::string kRun = "POST " + std::string(kRestart);

TEST(CloseWrite, WhatGotLostIsAnsweredAgainIfItTookEffectAndElseDecidedAgain) {
  const struct {
    int status;
    Arrived arrived;
    size_t sendings;  // of two requests with the same name
  } rows[] = {
      {202, Arrived::Unknown, 1},    // it runs: once
      {202, Arrived::Confirmed, 2},  // its client knows: what comes now is another
      {400, Arrived::Unknown, 2},    // no effect
      {400, Arrived::Confirmed, 2},
  };
  for (const auto& row : rows) {
    StageRig rig;
    const arm::Headers id{{"x-ms-client-request-id", "r1"}};
    for (size_t i = 0; i < row.sendings; ++i) rig.arm(kRun, row.status, {}, "{}");
    rig.ask("one", kRun, "", id, row.arrived);
    const auto again = rig.ask("one", kRun, "", id);
    EXPECT_EQ(again.head.status, row.status);
    EXPECT_EQ(rig.seen().size(), row.sendings) << row.status << (row.arrived == Arrived::Unknown ? " lost" : " arrived");
    EXPECT_EQ(again.head.fields.get("x-armgate-replayed"), row.sendings == 1 ? "true" : "");
  }
}

TEST(CloseWrite, AnAnswerShowsItsClientWhatItsNextWriteIsBuiltOn) {
  StageRig rig;
  rig.arm(put(kScaleSet), 200, {{"ETag", "\"7\""}}, kState);
  rig.arm(put(kScaleSet), 200, {{"ETag", "\"8\""}}, kState);
  rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":1}})");
  rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":2}})");
  EXPECT_EQ(rig.sent_field(1, "if-match"), "\"7\"");
}

}  // namespace
}  // namespace armgate::world::close_write_test
