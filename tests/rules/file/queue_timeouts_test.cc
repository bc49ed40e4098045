// Who can be kept waiting for how long, as rule files say it.
#include "rules/file/queue_timeouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/file/rule_file.h"

namespace armgate::rules {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

TEST(QueueTimeouts, TheFirstEntryThatTheUserAgentContainsDecides) {
  const QueueTimeouts table({{{}, "AZURECLI/", seconds(200)}, {{}, "azsdk-python-", seconds(100)}});
  const auto wait_of = [&table](std::string_view user_agent) {
    const auto* rule = table.find(user_agent);
    return rule != nullptr ? rule->wait_max : Duration{};
  };
  EXPECT_EQ(wait_of("AZURECLI/2.56.0 (MSI) (AAZ) azsdk-python-core/1.28.0"), seconds(200));
  EXPECT_EQ(wait_of("azurecli/2.45.0"), seconds(200));
  EXPECT_EQ(wait_of("azsdk-python-mgmt-compute/29.1.0"), seconds(100));
  EXPECT_EQ(wait_of("curl/7.88.1"), Duration{});
  EXPECT_EQ(wait_of(""), Duration{});
}

TEST(QueueTimeouts, AFileSaysIt) {
  FaultList faults;
  const auto book = read_rule_book("p.json", R"({"queue_timeouts": [
    {"user_agent": "My-Tool", "wait_max": "90s"}]})",
                                   faults);
  for (const Fault& fault : faults) ADD_FAILURE() << to_text(fault);
  ASSERT_EQ(book.queue_timeouts.size(), 1u);
  EXPECT_EQ(book.queue_timeouts[0].user_agent, "My-Tool");
  EXPECT_EQ(book.queue_timeouts[0].wait_max, seconds(90));
  EXPECT_EQ(book.queue_timeouts[0].place.line, 2);
}

TEST(QueueTimeouts, WhatCanHaveNoEffectOrTooMuchIsRefused) {
  const struct {
    const char* entries;
    const char* said;
  } rows[] = {
      {R"([{"user_agent": "x", "wait_max": "1s"}])", "part of a User-Agent"},
      {R"([{"user_agent": "tool"}])", "wait_max"},
      {R"([{"user_agent": "tool", "wait_max": "25h"}])", "24"},
      {R"([{"user_agent": "tool", "wait_max": "1s"}, {"user_agent": "MyTool/2", "wait_max": "2s"}])", "takes it first"},
  };
  for (const auto& row : rows) {
    FaultList faults;
    read_rule_book("p.json", std::string(R"({"queue_timeouts": )") + row.entries + "}", faults);
    ASSERT_EQ(faults.size(), 1u) << row.entries;
    EXPECT_THAT(to_text(faults[0]), HasSubstr(row.said));
  }
}

}  // namespace
}  // namespace armgate::rules
