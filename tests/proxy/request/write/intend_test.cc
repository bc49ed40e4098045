// Goal: the record of a write says who, what and where, before its first byte leaves, and nothing secret. Method: a journal that is
// read back.
#include "proxy/request/write/intend.h"

#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::intend_test {
namespace {

const std::string kState = R"({"etag":"\"1\"","sku":{"capacity":1},"properties":{"provisioningState":"Succeeded"}})";

TEST(Intend, RecordsWhoAndWhatAndTheETagThatGoesAlong) {
  SimJournal journal;
  StageRig rig(journal);
  rig.arm(get(kScaleSet), 200, {{"ETag", "\"1\""}}, kState);
  rig.arm(put(kScaleSet), 200, {}, kState);
  rig.ask("one", get(kScaleSet));
  rig.ask("one", put(kScaleSet), R"({"sku":{"capacity":2}})",
          {{"User-Agent", std::string(300, 'u')}, {"x-ms-client-request-id", "r1"}});
  ASSERT_EQ(journal.writes().size(), 1u);
  const JournaledWrite& write = journal.writes().begin()->second;
  EXPECT_EQ(write.client_label, "one");
  EXPECT_EQ(write.tool, std::string(200, 'u'));
  EXPECT_EQ(write.request_id, "r1");
  EXPECT_EQ(write.method, "PUT");
  EXPECT_EQ(write.host, "management.azure.com");
  EXPECT_EQ(write.path, "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v");
  EXPECT_EQ(write.api_version, "2024-07-01");
  EXPECT_EQ(write.resource, "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/v");
  EXPECT_EQ(write.if_match, "\"1\"");
}

TEST(Intend, AMethodInSmallLettersIsRecordedInCapitalsAndForwardedAsItCame) {
  SimJournal journal;
  StageRig rig(journal);
  const std::string target = put(kScaleSet).substr(4);
  rig.arm("patch " + target, 200, {}, kState);
  rig.ask("one", "patch " + target, R"({"tags":{}})");
  ASSERT_EQ(journal.writes().size(), 1u);
  EXPECT_EQ(journal.writes().begin()->second.method, "PATCH");
}

TEST(Intend, WhatWasSentTwiceIsToldApartByWhoSentIt) {
  SimJournal journal;
  StageRig rig(journal);
  for (const char* client : {"one", "two"}) {
    rig.arm(put(kScaleSet), 200, {}, kState);
    rig.ask(client, put(kScaleSet), "{}");
  }
  ASSERT_EQ(journal.writes().size(), 2u);
  const JournaledWrite& first = journal.writes().begin()->second;
  const JournaledWrite& second = journal.writes().rbegin()->second;
  EXPECT_EQ(first.request_hash, second.request_hash);
  EXPECT_NE(first.resend, second.resend) << "another's credential is no repetition";
  EXPECT_NE(first.client, second.client);
}

}  // namespace
}  // namespace armgate::world::intend_test
