// journal_rig.h – a journal's file in a folder of its own, and records to put into it.
#pragma once

#include <gtest/gtest.h>

#include "proxy/journal/journal_file.h"
#include "tests/support/temporary_directory.h"

namespace armgate::journal {

inline constexpr HashKey kKey{1, 2};
inline constexpr Duration kRecent = std::chrono::minutes(5);

inline WallTime at(int seconds) { return WallTime(std::chrono::seconds(1'000'000 + seconds)); }

inline const WallTime kNow = at(1'000);  // when the next process begins

inline JournaledWrite a_write(IntentId id, std::string resource = "/subscriptions/s/resourcegroups/g") {
  JournaledWrite write;
  write.id = id;
  write.client = {1, 2};
  write.request_hash = {3, 4};
  write.resend = {5, ~0ULL};
  write.client_label = "spinnaker";
  write.request_id = "r";
  write.method = "PUT";
  write.host = "management.azure.com";
  write.path = "/subscriptions/s/resourceGroups/G";
  write.api_version = "2021-04-01";
  write.resource = std::move(resource);
  write.if_match = "W/\"1\"";
  write.also_locked = "shared answer /subscriptions/s/a b\n";
  write.begun = at(static_cast<int>(id));
  return write;
}

inline WriteOutcome running(std::string url) {
  WriteOutcome outcome;
  outcome.status = 202;
  outcome.is_running = true;
  outcome.tracking = {arm::TrackedBy::StatusUrl, std::move(url), "https://management.azure.com/location?secret"};
  outcome.known = at(100);
  return outcome;
}

inline WriteOutcome done(int status, int seconds) {
  WriteOutcome outcome;
  outcome.status = status;
  outcome.known = at(seconds);
  return outcome;
}

class JournalFileTest : public testing::Test {
 protected:
  JournalFile open() {
    auto file = JournalFile::open(path_, Durability::Process, kKey);
    EXPECT_TRUE(file.ok()) << file.error().context;
    return *std::move(file);
  }
  std::string error_of_opening() {
    const auto file = JournalFile::open(path_, Durability::Process, kKey);
    return file.ok() ? "" : file.error().context;
  }

  const TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_.path() / "journal.db";
};

}  // namespace armgate::journal
