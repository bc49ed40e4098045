#include "proxy/cli_history.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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

TEST_F(History, EachWriteHasALineTheNewestLast) {
  const auto text = history_text(config_, 20, "", HistoryAs::Text);
  ASSERT_TRUE(text.ok()) << text.error().context;
  EXPECT_EQ(
      *text,
      "2025-11-22T20:00:00.001Z  PUT     201  done                   3.5 s  nightly  /subscriptions/S/resourceGroups/g\n"
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
