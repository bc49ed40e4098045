#include "proxy/journal/journal_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/proxy/journal/journal_rig.h"

namespace armgate::journal {
namespace {

TEST_F(JournalFileTest, AWriteComesBackAsItWasRecorded) {
  {
    JournalFile file = open();
    ASSERT_TRUE(file.begin().ok());
    ASSERT_TRUE(file.add(a_write(7)).ok());
    ASSERT_TRUE(file.commit().ok());
  }
  JournalFile file = open();
  EXPECT_EQ(*file.last_id(), 7u);
  const auto former = file.previous_process(kRecent, kNow);
  ASSERT_TRUE(former.ok());
  ASSERT_EQ(former->open.size(), 1u);
  EXPECT_TRUE(former->recent.empty());
  const JournaledWrite& write = former->open[0];
  const JournaledWrite expected = a_write(7);
  EXPECT_EQ(write.id, expected.id);
  EXPECT_EQ(write.client, expected.client);
  EXPECT_EQ(write.request_hash, expected.request_hash);
  EXPECT_EQ(write.resend, expected.resend);
  EXPECT_EQ(write.client_label, expected.client_label);
  EXPECT_EQ(write.request_id, expected.request_id);
  EXPECT_EQ(write.method, expected.method);
  EXPECT_EQ(write.host, expected.host);
  EXPECT_EQ(write.path, expected.path);
  EXPECT_EQ(write.api_version, expected.api_version);
  EXPECT_EQ(write.resource, expected.resource);
  EXPECT_EQ(write.if_match, expected.if_match);
  EXPECT_EQ(write.also_locked, expected.also_locked);
  EXPECT_EQ(write.owned, expected.owned);
  EXPECT_EQ(write.begun, expected.begun);
  EXPECT_FALSE(write.outcome.has_value());
  EXPECT_TRUE(write.is_open());
}

TEST_F(JournalFileTest, AnOperationOfArmgatesOwnIsKnownOfEachOfItsSendings) {
  JournalFile file = open();
  const Hash128 own{1, 2};
  ASSERT_TRUE(file.add(a_write(1)).ok());
  EXPECT_TRUE(file.newest(1)->at(0).owned.is_zero());
  WriteOutcome taken = running("https://management.azure.com/op/1?t=signed");
  taken.owned = own;
  ASSERT_TRUE(file.set_outcome(1, taken).ok());
  EXPECT_EQ(file.newest(1)->at(0).owned, own);
  JournaledWrite second = a_write(2);
  second.owned = own;
  ASSERT_TRUE(file.add(second).ok());
  ASSERT_TRUE(file.set_outcome(2, running("https://management.azure.com/op/2?t=signed")).ok());
  EXPECT_EQ(file.newest(1)->at(0).owned, own) << "what an outcome does not tell stays";
}

TEST_F(JournalFileTest, AnOperationIsOpenUntilItsEndAndItsSignatureGoesWithIt) {
  JournalFile file = open();
  ASSERT_TRUE(file.add(a_write(1)).ok());
  ASSERT_TRUE(file.set_outcome(1, running("https://management.azure.com/op/1?t=signed")).ok());
  auto former = file.previous_process(kRecent, kNow);
  ASSERT_EQ(former->open.size(), 1u);
  ASSERT_TRUE(former->open[0].outcome.has_value());
  EXPECT_EQ(former->open[0].outcome->status, 202);
  EXPECT_EQ(former->open[0].outcome->tracking.by, arm::TrackedBy::StatusUrl);
  EXPECT_EQ(former->open[0].outcome->tracking.status_url, "https://management.azure.com/op/1?t=signed");
  ASSERT_TRUE(file.set_end(1, at(200), EndSeen::Yes).ok());
  EXPECT_TRUE(file.previous_process(kRecent, kNow)->open.empty());
  const auto known = file.newest(10);
  ASSERT_EQ(known->size(), 1u);
  EXPECT_EQ(known->at(0).ended, at(200));
  EXPECT_EQ(known->at(0).outcome->tracking.status_url, "https://management.azure.com/op/1");
  EXPECT_EQ(known->at(0).outcome->tracking.location_url, "https://management.azure.com/location");
}

TEST_F(JournalFileTest, WhatIsGivenAgainComesBackByItsName) {
  {
    JournalFile file = open();
    JournaledWrite write = a_write(1);
    write.named = {7, 9};
    write.first_sent = at(50);
    ASSERT_TRUE(file.add(write).ok());
    ASSERT_TRUE(file.add(a_write(2)).ok());
    WriteOutcome made = done(201, 100);
    made.etag = "\"4\"";
    ASSERT_TRUE(file.set_outcome(1, made).ok());
    ASSERT_TRUE(file.count_replay(1).ok());
    ASSERT_TRUE(file.count_replay(1).ok());
  }
  JournalFile file = open();
  const auto known = file.newest(10);
  EXPECT_TRUE(known->at(0).named.is_zero());
  EXPECT_EQ(known->at(0).replays, 0u);
  EXPECT_EQ(known->at(1).named, (Hash128{7, 9}));
  EXPECT_EQ(known->at(1).first_sent, at(50));
  EXPECT_EQ(known->at(1).outcome->etag, "\"4\"");
  EXPECT_EQ(known->at(1).replays, 2u);
}

TEST_F(JournalFileTest, HowFarItReachesBackIsSaid) {
  JournalFile file = open();
  EXPECT_FALSE(file.previous_process(kRecent, kNow)->since) << "nothing is known of what was before it";
  ASSERT_TRUE(file.add(a_write(10)).ok());
  ASSERT_TRUE(file.add(a_write(30)).ok());
  EXPECT_EQ(file.previous_process(std::chrono::hours(1), kNow)->since, at(10));
  EXPECT_EQ(file.previous_process(std::chrono::seconds(5), kNow)->since, at(25));
}

TEST_F(JournalFileTest, HowAWriteEndedComesBack) {
  {
    JournalFile file = open();
    JournaledWrite write = a_write(1);
    write.tool = "azsdk-go-armcompute/v5";
    ASSERT_TRUE(file.add(write).ok());
    ASSERT_TRUE(file.add(a_write(2)).ok());
    ASSERT_TRUE(file.set_outcome(1, running("https://management.azure.com/op/1")).ok());
    ASSERT_TRUE(file.set_touched(1, "/tags/a\n/sku").ok());
    ASSERT_TRUE(file.set_end(1, at(200), EndSeen::Yes, {arm::Progress::Failed, {"Bad", "Worse"}}).ok());
    WriteOutcome refused = done(409, 100);
    refused.result.error.code = "Conflict";
    ASSERT_TRUE(file.set_outcome(2, refused).ok());
  }
  const auto known = open().newest(10);
  EXPECT_EQ(known->at(0).result.how, arm::Progress::Unknown);
  EXPECT_EQ(known->at(0).result.error.code, "Conflict");
  EXPECT_EQ(known->at(1).tool, "azsdk-go-armcompute/v5");
  EXPECT_EQ(known->at(1).touched, "/tags/a\n/sku");
  EXPECT_EQ(known->at(1).result.how, arm::Progress::Failed);
  EXPECT_EQ(known->at(1).result.error, (arm::ErrorCodes{"Bad", "Worse"}));
}

TEST_F(JournalFileTest, AResultThatIsKnownBeforeTheOutcomeStands) {
  JournalFile file = open();
  ASSERT_TRUE(file.add(a_write(1)).ok());
  ASSERT_TRUE(file.set_end(1, at(50), EndSeen::Yes, {arm::Progress::Canceled, {}}).ok());
  ASSERT_TRUE(file.set_outcome(1, running("https://management.azure.com/op/1")).ok());
  EXPECT_EQ(file.newest(1)->at(0).result.how, arm::Progress::Canceled);
}

TEST_F(JournalFileTest, AResourcesStateIsKnownWithSinceWhen) {
  JournalFile file = open();
  ASSERT_TRUE(file.set_state({"/a", "Updating", at(10)}).ok());
  ASSERT_TRUE(file.set_state({"/a", "Updating", at(20)}).ok());
  EXPECT_EQ((*file.state_of("/a"))->since, at(10));
  ASSERT_TRUE(file.set_state({"/a", "Failed", at(30)}).ok());
  EXPECT_EQ((*file.state_of("/a"))->state, "Failed");
  EXPECT_EQ((*file.state_of("/a"))->since, at(30));
  EXPECT_FALSE((*file.state_of("/b")).has_value());
  ASSERT_TRUE(file.set_state({"/c", "Updating", at(10)}).ok());
  ASSERT_TRUE(file.set_state({"/c", "", at(20)}).ok());
  EXPECT_FALSE((*file.state_of("/c")).has_value());
  ASSERT_TRUE(file.set_state({"/b", "Succeeded", at(40)}).ok());
  const auto states = file.previous_process(kRecent, kNow)->states;
  ASSERT_EQ(states.size(), 1u) << "of what is well, or not known, nothing is to be told";
  EXPECT_EQ(states[0].resource, "/a");
  EXPECT_EQ(states[0].state, "Failed");
  EXPECT_EQ(states[0].since, at(30));
  for (const IntentId id : {1, 2}) {
    ASSERT_TRUE(file.add(a_write(id)).ok());
    ASSERT_TRUE(file.set_outcome(id, done(200, 50)).ok());
  }
  ASSERT_TRUE(file.keep_at_most(1).ok());
  EXPECT_FALSE((*file.state_of("/a")).has_value()) << "of states no more are kept than of writes";
  EXPECT_TRUE((*file.state_of("/b")).has_value());
}

TEST_F(JournalFileTest, AnEndThatNobodySawIsKnownAsSuch) {
  JournalFile file = open();
  for (const IntentId id : {1, 2, 3}) ASSERT_TRUE(file.add(a_write(id)).ok());
  ASSERT_TRUE(file.set_end(1, at(200), EndSeen::No).ok());
  ASSERT_TRUE(file.set_end(2, at(200), EndSeen::Yes).ok());
  ASSERT_TRUE(file.set_end(2, at(300), EndSeen::No).ok());
  const auto known = file.newest(10);
  EXPECT_FALSE(known->at(0).given_up);
  EXPECT_FALSE(known->at(1).given_up) << "it had ended before";
  EXPECT_EQ(known->at(1).ended, at(200));
  EXPECT_TRUE(known->at(2).given_up);
}

TEST_F(JournalFileTest, AnEndThatIsRecordedBeforeTheOutcomeStands) {
  JournalFile file = open();
  ASSERT_TRUE(file.add(a_write(1)).ok());
  ASSERT_TRUE(file.set_end(1, at(50), EndSeen::Yes).ok());
  ASSERT_TRUE(file.set_outcome(1, running("https://management.azure.com/op/1?t=signed")).ok());
  EXPECT_TRUE(file.previous_process(kRecent, kNow)->open.empty());
  EXPECT_EQ(file.newest(1)->at(0).outcome->tracking.status_url, "https://management.azure.com/op/1");
}

TEST_F(JournalFileTest, RecentIsWhatMayHaveChangedSomethingShortlyBeforeTheNewest) {
  JournalFile file = open();
  for (const IntentId id : {1, 2, 3, 4, 5, 6, 7, 500}) ASSERT_TRUE(file.add(a_write(id)).ok());
  WriteOutcome not_sent = done(0, 400);
  not_sent.kind = OutcomeKind::NotSent;
  WriteOutcome in_doubt = done(0, 400);
  in_doubt.kind = OutcomeKind::InDoubt;
  WriteOutcome failed = done(503, 400);  // and might have taken effect
  failed.tracking.by = arm::TrackedBy::ResourceState;
  ASSERT_TRUE(file.set_outcome(1, done(200, 10)).ok());  // long ago
  ASSERT_TRUE(file.set_outcome(2, done(412, 400)).ok());
  ASSERT_TRUE(file.set_outcome(3, done(201, 390)).ok());
  ASSERT_TRUE(file.set_outcome(4, in_doubt).ok());
  ASSERT_TRUE(file.set_outcome(5, failed).ok());
  ASSERT_TRUE(file.set_end(6, at(400), EndSeen::Yes).ok());  // cut off, and nothing of it runs any more
  ASSERT_TRUE(file.set_outcome(7, not_sent).ok());
  ASSERT_TRUE(file.set_outcome(500, not_sent).ok());
  const auto former = file.previous_process(kRecent, kNow);
  EXPECT_TRUE(former->open.empty());
  std::vector<IntentId> recent;
  for (const auto& write : former->recent) recent.push_back(write.id);
  EXPECT_EQ(recent, (std::vector<IntentId>{3, 4, 5, 6}));
}

std::vector<IntentId> recent_ids(JournalFile& file, WallTime now) {
  std::vector<IntentId> ids;
  const auto former = file.previous_process(kRecent, now);
  for (const auto& write : former->recent) ids.push_back(write.id);
  return ids;
}

// The clock was a day ahead, and was put right before the next process began.
TEST_F(JournalFileTest, ARecordOfAClockThatWasAheadHidesNone) {
  constexpr int kAhead = 86'400;
  JournalFile file = open();
  for (const IntentId id : {1, 2, 3, 4}) {
    JournaledWrite write = a_write(id);
    const int begun = id == 1 ? 100 : 900 + static_cast<int>(id);
    write.begun = at(id == 4 ? begun + kAhead : begun);
    ASSERT_TRUE(file.add(write).ok());
    ASSERT_TRUE(file.set_outcome(id, done(200, id == 4 ? begun + kAhead : begun)).ok());
  }
  EXPECT_EQ(recent_ids(file, kNow), (std::vector<IntentId>{2, 3, 4}));
  EXPECT_EQ(file.previous_process(kRecent, kNow)->since, kNow - kRecent);
}

// The clock was behind for a moment, as before a machine without a battery has asked for the time.
TEST_F(JournalFileTest, ARecordOfAClockThatWasBehindIsAsRecentAsThoseBeforeIt) {
  JournalFile file = open();
  for (const IntentId id : {1, 2, 3, 4}) {
    JournaledWrite write = a_write(id);
    const int time = id == 1 || id == 3 ? 0 : 900;
    write.begun = at(time);
    ASSERT_TRUE(file.add(write).ok());
    ASSERT_TRUE(file.set_outcome(id, done(200, time)).ok());
  }
  EXPECT_EQ(recent_ids(file, kNow), (std::vector<IntentId>{2, 3, 4}));
}

TEST_F(JournalFileTest, TheOldestThatHaveEndedGo) {
  JournalFile file = open();
  for (IntentId id = 1; id <= 6; ++id) {
    ASSERT_TRUE(file.add(a_write(id)).ok());
    if (id == 2) continue;
    ASSERT_TRUE(file.set_outcome(id, done(200, 10)).ok());
  }
  ASSERT_TRUE(file.keep_at_most(3).ok());
  std::vector<IntentId> left;
  const auto kept = file.newest(10);
  for (const auto& write : *kept) left.push_back(write.id);
  EXPECT_EQ(left, (std::vector<IntentId>{6, 5, 2})) << "what is open stays";
  ASSERT_TRUE(file.keep_at_most(3).ok());
  EXPECT_EQ(file.newest(10)->size(), 3u);
}

TEST_F(JournalFileTest, TheHistoryOfAResourceHasWhatIsBelowIt) {
  JournalFile file = open();
  ASSERT_TRUE(file.add(a_write(1, "/s/g")).ok());
  ASSERT_TRUE(file.add(a_write(2, "/s/g/vm")).ok());
  ASSERT_TRUE(file.add(a_write(3, "/s/gg")).ok());
  ASSERT_TRUE(file.add(a_write(4, "/s/g%")).ok());
  ASSERT_TRUE(file.add(a_write(5,
                               "/s/gr\xc3\xb6\xc3\x9f"
                               "e/vm"))
                  .ok());
  std::vector<IntentId> found;
  const auto known = file.newest(10, "/s/g");
  for (const auto& write : *known) found.push_back(write.id);
  EXPECT_EQ(found, (std::vector<IntentId>{2, 1}));
  const auto odd = file.newest(10,
                               "/s/gr\xc3\xb6\xc3\x9f"
                               "e");
  ASSERT_EQ(odd->size(), 1u) << "names need not be ASCII";
  EXPECT_EQ(odd->at(0).id, 5u);
  EXPECT_EQ(file.newest(1)->size(), 1u);
}

TEST_F(JournalFileTest, WhatIsRolledBackNeverWas) {
  JournalFile file = open();
  ASSERT_TRUE(file.begin().ok());
  ASSERT_TRUE(file.add(a_write(1)).ok());
  file.roll_back();
  EXPECT_TRUE(file.newest(10)->empty());
  ASSERT_TRUE(file.begin().ok()) << "and the next begins anew";
}

}  // namespace
}  // namespace armgate::journal
