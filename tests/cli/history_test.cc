#include "cli/view/history.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "json/tree.h"
#include "proxy/journal/journal_file.h"
#include "tests/support/temporary_directory.h"

namespace armgate {
namespace {

WallTime at(int64_t milliseconds) { return WallTime(std::chrono::milliseconds(1'763'841'600'000 + milliseconds)); }

class History : public testing::Test {
 protected:
  History() {
    config_.journal.file = (directory_.path() / "journal.db").string();
    auto file = journal::JournalFile::open(config_.journal.file, journal::Durability::Process, HashKey{1, 2});
    add(*file, 1, "PUT", "g");
    add(*file, 2, "PATCH", "g/vm");
    add(*file, 3, "POST", "g/vm/restart");
    add(*file, 4, "DELETE", "h");
    add(*file, 5, "PUT", "h");
    set(*file, 1, {OutcomeKind::Answered, 201, false, {}, at(3'500)});
    set(*file, 2,
        {OutcomeKind::Answered,
         202,
         true,
         {arm::TrackedBy::StatusUrl, "https://management.azure.com/op/1?t=s", ""},
         at(4'000)});
    set(*file, 4, {OutcomeKind::NotSent, 0, false, {}, at(4'100)});
    set(*file, 5, {OutcomeKind::InDoubt, 0, true, {}, at(4'200)});
  }
  static void add(journal::JournalFile& file, IntentId id, std::string method, const std::string& below) {
    JournaledWrite write;
    write.id = id;
    write.method = std::move(method);
    write.host = "management.azure.com";
    write.path = "/subscriptions/S/resourceGroups/" + below;
    write.resource = "/subscriptions/s/resourcegroups/" + below;
    write.client_label = "nightly";
    write.begun = at(static_cast<int64_t>(id));
    ASSERT_TRUE(file.add(write).ok());
  }
  static void set(journal::JournalFile& file, IntentId id, const WriteOutcome& outcome) {
    ASSERT_TRUE(file.set_outcome(id, outcome).ok());
  }

  const TemporaryDirectory directory_;
  Config config_;
};

TEST_F(History, WhatWasLetGoUnseenIsNotSaidToBeDone) {
  auto file = journal::JournalFile::open(config_.journal.file, journal::Durability::Process, HashKey{1, 2});
  ASSERT_TRUE(file->set_end(2, at(9'000), EndSeen::No).ok());
  const auto text = history_text(config_, 20, "", HistoryAs::Text);
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("PATCH   202  given-up               9.0 s  nightly"), std::string::npos) << *text;
}

// The journal's own thread, as it were.
void end(journal::JournalFile& file, IntentId id, arm::Progress how, arm::ErrorCodes error) {
  ASSERT_TRUE(file.set_end(id, at(9'000), EndSeen::Yes, {how, std::move(error)}).ok());
}

TEST_F(History, WhatFailedIsNotSaidToBeDone) {
  auto file = journal::JournalFile::open(config_.journal.file, journal::Durability::Process, HashKey{1, 2});
  end(*file, 2, arm::Progress::Failed, {"Bad", "Worse"});
  const auto text = history_text(config_, 20, "", HistoryAs::Text);
  EXPECT_NE(
      text->find("PATCH   202  failed                 9.0 s  nightly  /subscriptions/S/resourceGroups/g/vm  Bad (Worse)\n"),
      std::string::npos)
      << *text;
  const auto json = nlohmann::json::parse(*history_text(config_, 20, "", HistoryAs::Json));
  EXPECT_EQ(json[0]["result"], "unknown") << "as of a journal of before";
  EXPECT_EQ(json[1]["result"], "Failed");
  EXPECT_EQ(json[1]["error_code"], "Bad");
  EXPECT_EQ(json[1]["message_code"], "Worse");
  EXPECT_EQ(json[1]["operation_id"], "1");
  EXPECT_EQ(json[1]["took_ms"], 8'998);
}

TEST_F(History, EachEndHasAWord) {
  auto file = journal::JournalFile::open(config_.journal.file, journal::Durability::Process, HashKey{1, 2});
  WriteOutcome good{OutcomeKind::Answered, 200, false, {}, at(3'500)};
  good.result.how = arm::Progress::Succeeded;
  WriteOutcome refused{OutcomeKind::Answered, 409, false, {}, at(3'500)};
  refused.result.error.code = "Conflict";
  for (const IntentId id : {6, 7, 8}) add(*file, id, "PUT", "x");
  set(*file, 6, good);
  set(*file, 7, refused);
  set(*file, 8, {OutcomeKind::Answered, 202, true, {}, at(4'000)});
  end(*file, 8, arm::Progress::Canceled, {});
  const auto json = nlohmann::json::parse(*history_text(config_, 3, "", HistoryAs::Json));
  EXPECT_EQ(json[0]["state"], "done");
  EXPECT_EQ(json[1]["state"], "refused");
  EXPECT_EQ(json[1]["error_code"], "Conflict");
  EXPECT_EQ(json[2]["state"], "canceled");
}

TEST_F(History, BlameSaysWhoWroteWhatWithWhichToolAndHowItEnded) {
  {
    auto file = journal::JournalFile::open(config_.journal.file, journal::Durability::Process, HashKey{1, 2});
    JournaledWrite write;
    write.id = 6;
    write.method = "PUT";
    write.resource = "/subscriptions/s/resourcegroups/g/vm";
    write.client_label = "nightly";
    write.tool = "Terraform/1.9";
    write.begun = at(6);
    ASSERT_TRUE(file->add(write).ok());
    WriteOutcome good{OutcomeKind::Answered, 200, false, {}, at(3'500)};
    good.result.how = arm::Progress::Succeeded;
    set(*file, 6, good);
    ASSERT_TRUE(file->set_touched(6, "/sku/capacity\n/tags/env").ok());
    add(*file, 7, "PUT", "g/vm");
    set(*file, 7, {OutcomeKind::Answered, 412, false, {}, at(4'000)});
    add(*file, 8, "DELETE", "g/vm");
    end(*file, 2, arm::Progress::Failed, {"Bad", ""});
    ASSERT_TRUE(file->set_state({"/subscriptions/s/resourcegroups/g/vm", "Failed", at(9'000)}).ok());
  }
  const auto text = blame_text(config_, 20, "/subscriptions/S/resourceGroups/G/vm", HistoryAs::Text);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text,
            "provisioningState Failed since 2025-11-22T20:00:09.000Z\n"
            "2025-11-22T20:00:00.002Z  PATCH   failed Bad  nightly  members not known\n"
            "2025-11-22T20:00:00.006Z  PUT     done  nightly (Terraform/1.9)  /sku/capacity, /tags/env\n"
            "2025-11-22T20:00:00.008Z  DELETE  no-answer  nightly  all of it (deleted)\n")
      << "neither what is below it nor what ARM refused";
  const auto json = nlohmann::json::parse(*blame_text(config_, 20, "/subscriptions/S/resourceGroups/G/vm", HistoryAs::Json));
  EXPECT_EQ(json["state"]["provisioning_state"], "Failed");
  EXPECT_EQ(json["writes"][1]["changed"], (nlohmann::json{"/sku/capacity", "/tags/env"}));
  EXPECT_EQ(*blame_text(config_, 20, "/subscriptions/x", HistoryAs::Text), "no write to it is known\n");
}

TEST_F(History, BlameFindsTheWriteBehindManyRefusedOnes) {
  {
    auto file = journal::JournalFile::open(config_.journal.file, journal::Durability::Process, HashKey{1, 2});
    for (IntentId id = 10; id < 40; ++id) {
      add(*file, id, "PUT", id % 3 == 0 ? "g/vm/below" : "g/vm");
      if (id % 3 == 1) set(*file, id, {OutcomeKind::Answered, 412, false, {}, at(4'000)});
      if (id % 3 == 2) set(*file, id, {OutcomeKind::NotSent, 0, false, {}, at(4'000)});
    }
  }
  EXPECT_EQ(*blame_text(config_, 20, "/subscriptions/s/resourceGroups/g/vm", HistoryAs::Text),
            "2025-11-22T20:00:00.002Z  PATCH   running  nightly  members not known\n");
}

TEST_F(History, BlameSaysThatNobodyHasReadWhatAFailureLeft) {
  auto file = journal::JournalFile::open(config_.journal.file, journal::Durability::Process, HashKey{1, 2});
  end(*file, 2, arm::Progress::Failed, {"Bad", ""});
  const auto text = blame_text(config_, 20, "/subscriptions/s/resourceGroups/g/vm", HistoryAs::Text);
  EXPECT_EQ(*text,
            "provisioningState not known: not read since the failure\n"
            "2025-11-22T20:00:00.002Z  PATCH   failed Bad  nightly  members not known\n");
}

TEST_F(History, AMergedWriteSaysSo) {
  auto file = journal::JournalFile::open(config_.journal.file, journal::Durability::Process, HashKey{1, 2});
  WriteOutcome outcome{OutcomeKind::Answered, 200, false, {}, at(3'500)};
  outcome.merged = 2;
  ASSERT_TRUE(file->set_outcome(1, outcome).ok());
  const auto text = history_text(config_, 20, "", HistoryAs::Text);
  EXPECT_NE(text->find("resourceGroups/g  merged with 2 of others' changes\n"), std::string::npos) << *text;
  const auto json = nlohmann::json::parse(*history_text(config_, 20, "", HistoryAs::Json));
  EXPECT_EQ(std::ranges::count_if(json, [](const auto& write) { return write.contains("merged"); }), 1);
}

TEST_F(History, EachWriteHasALineTheNewestLast) {
  const auto text = history_text(config_, 20, "", HistoryAs::Text);
  ASSERT_TRUE(text.ok()) << text.error().context;
  EXPECT_EQ(
      *text,
      "2025-11-22T20:00:00.001Z  PUT     201  ended                  3.5 s  nightly  /subscriptions/S/resourceGroups/g\n"
      "2025-11-22T20:00:00.002Z  PATCH   202  running                    -  nightly  /subscriptions/S/resourceGroups/g/vm\n"
      "2025-11-22T20:00:00.003Z  POST    -    no-answer                  -  nightly  /subscriptions/S/resourceGroups/g/vm/restart\n"
      "2025-11-22T20:00:00.004Z  DELETE  -    not-sent               4.1 s  nightly  /subscriptions/S/resourceGroups/h\n"
      "2025-11-22T20:00:00.005Z  PUT     -    in-doubt                   -  nightly  /subscriptions/S/resourceGroups/h\n");
}

TEST_F(History, AResourceIsNamedInAnySpelling) {
  const auto json = history_text(config_, 20, "/subscriptions/S/resourceGroups/G/VM/", HistoryAs::Json);
  ASSERT_TRUE(json.ok());
  const auto all = nlohmann::json::parse(*json);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["method"], "PATCH");
  EXPECT_EQ(all[0]["operation"], "management.azure.com/op/1") << "without the signature";
  EXPECT_EQ(all[0]["status"], 202);
  EXPECT_FALSE(all[0].contains("ended"));
  EXPECT_EQ(nlohmann::json::parse(*history_text(config_, 20, "/subscriptions/S/resourceGroups/%48", HistoryAs::Json)).size(),
            2u);
  EXPECT_EQ(all[1]["state"], "no-answer");
  EXPECT_FALSE(all[1].contains("status"));
}

TEST_F(History, WhatArmFailedWithAndMayHaveTakenIsInDoubt) {
  {
    auto file = journal::JournalFile::open(config_.journal.file, journal::Durability::Process, HashKey{1, 2});
    set(*file, 3, {OutcomeKind::Answered, 503, true, {arm::TrackedBy::ResourceState, "", ""}, at(5'000)});
  }
  const auto json = history_text(config_, 20, "/subscriptions/S/resourceGroups/g/vm/restart", HistoryAs::Json);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(nlohmann::json::parse(*json)[0]["state"], "in-doubt");
  EXPECT_EQ(nlohmann::json::parse(*json)[0]["status"], 503);
}

TEST_F(History, TheLastOnesAreAsManyAsWereAskedFor) {
  EXPECT_EQ(nlohmann::json::parse(*history_text(config_, 1, "", HistoryAs::Json))[0]["id"], 5);
  EXPECT_EQ(*history_text(config_, 5, "/subscriptions/other", HistoryAs::Text), "no write is recorded\n");
}

TEST_F(History, WithoutAJournalItSaysWhatToSet) {
  config_.journal.file.clear();
  const auto none = history_text(config_, 1, "", HistoryAs::Text);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().context.find("journal.file is not set in the built-in defaults"), std::string::npos);
  EXPECT_NE(none.error().context.find("--config FILE"), std::string::npos);
}

}  // namespace
}  // namespace armgate
