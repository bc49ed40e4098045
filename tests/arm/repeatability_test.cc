#include "arm/repeatability.h"

#include <gtest/gtest.h>

namespace armgate::arm {
namespace {

constexpr const char* kDate = "Sun, 06 Nov 1994 08:49:37 GMT";

TEST(Repeatability, WhoDoesNotAskForItGetsNone) {
  const auto none = repeatability_of({{"x-ms-client-request-id", "a"}, {"Repeatability-Client-ID", "b"}});
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());
}

TEST(Repeatability, IdClientAndDateAreRead) {
  const auto read = repeatability_of(
      {{"repeatability-request-id", "a-1"}, {"Repeatability-First-Sent", kDate}, {"Repeatability-Client-ID", "shop"}});
  ASSERT_TRUE(read.ok() && read->has_value());
  EXPECT_EQ((*read)->request_id, "a-1");
  EXPECT_EQ((*read)->client_id, "shop");
  EXPECT_EQ((*read)->first_sent.time_since_epoch().count(), 784111777'000);
}

TEST(Repeatability, WhatIsWrongIsNamed) {
  struct Case {
    const char* names;
    Headers fields;
  };
  const Case cases[] = {
      {"without Repeatability-First-Sent", {{"Repeatability-Request-ID", "a"}}},
      {"without Repeatability-Request-ID", {{"Repeatability-First-Sent", kDate}}},
      {"Repeatability-First-Sent is no HTTP date", {{"Repeatability-Request-ID", "a"}, {"Repeatability-First-Sent", "now"}}},
      {"Repeatability-Request-ID is empty", {{"Repeatability-Request-ID", ""}, {"Repeatability-First-Sent", kDate}}},
      {"Repeatability-Request-ID is there more than once",
       {{"Repeatability-Request-ID", "a"}, {"Repeatability-First-Sent", kDate}, {"Repeatability-Request-ID", "b"}}},
  };
  for (const auto& c : cases) {
    const auto read = repeatability_of(c.fields);
    ASSERT_FALSE(read.ok()) << c.names;
    EXPECT_NE(read.error().context.find(c.names), std::string::npos) << read.error().context;
  }
}

TEST(Repeatability, AnIdOfAnyLengthIsNotTaken) {
  EXPECT_TRUE(
      repeatability_of({{"Repeatability-Request-ID", std::string(128, 'a')}, {"Repeatability-First-Sent", kDate}}).ok());
  EXPECT_FALSE(
      repeatability_of({{"Repeatability-Request-ID", std::string(129, 'a')}, {"Repeatability-First-Sent", kDate}}).ok());
}

}  // namespace
}  // namespace armgate::arm
