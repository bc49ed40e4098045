#include "proxy/gateway/journal_options.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

// What is forgotten sooner than its answers count would let a repetition through, or a write of somebody who read before.
TEST(JournalOptions, RecordsAreTakenUpForAsLongAsAnybodyAsksForThem) {
  Config config;
  config.history.observation_age = std::chrono::hours(1);
  config.history.repeat_keep = std::chrono::hours(24);
  EXPECT_EQ(journal_options(config).recent, std::chrono::hours(24));
  config.history.observation_age = std::chrono::hours(48);
  EXPECT_EQ(journal_options(config).recent, std::chrono::hours(48));
}

TEST(JournalOptions, AreTheConfigurations) {
  Config config;
  config.journal.file = "/var/lib/armgate/journal.db";
  config.journal.write_max = std::chrono::seconds(7);
  config.journal.records_max = 77;
  const auto options = journal_options(config);
  EXPECT_EQ(options.file, "/var/lib/armgate/journal.db");
  EXPECT_EQ(options.write_max, std::chrono::seconds(7));
  EXPECT_EQ(options.records_max, 77u);
  EXPECT_EQ(options.durability, config.journal.durability);
}

}  // namespace
}  // namespace armgate
