#include "proxy/state/operation/remote_operations.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

using arm::TrackedBy;

arm::Tracking tracking(std::string status, std::string location = {}) {
  arm::Tracking tracking;
  tracking.by = status.empty() ? TrackedBy::LocationUrl : TrackedBy::StatusUrl;
  tracking.status_url = std::move(status);
  tracking.location_url = std::move(location);
  return tracking;
}

TEST(RemoteOperations, AreFoundByEitherUrl) {
  RemoteOperations table(Hasher(HashKey{1, 2}));
  EXPECT_EQ(table.find("h", "/s?a=1"), TrackedBy::Nothing);
  table.add(1, tracking("https://h/s?a=1", "https://h/l"));
  table.add(2, tracking("", "https://h/2"));
  EXPECT_EQ(table.find("h", "/s?a=1"), TrackedBy::StatusUrl);
  EXPECT_EQ(table.find("h", "/l"), TrackedBy::LocationUrl);
  EXPECT_EQ(table.find("h", "/2"), TrackedBy::LocationUrl);
  EXPECT_EQ(table.find("other", "/l"), TrackedBy::Nothing);
  table.remove(1);
  EXPECT_EQ(table.find("h", "/s?a=1"), TrackedBy::Nothing);
  EXPECT_EQ(table.find("h", "/l"), TrackedBy::Nothing);
  EXPECT_EQ(table.find("h", "/2"), TrackedBy::LocationUrl);
  table.remove(1);
  table.remove(2);
  EXPECT_EQ(table.find("h", "/2"), TrackedBy::Nothing);
}

TEST(RemoteOperations, AUrlIsTheNewestOnes) {
  RemoteOperations table(Hasher(HashKey{1, 2}));
  table.add(1, tracking("https://h/s"));
  table.add(1, tracking("https://h/s"));
  table.add(2, tracking("https://h/s", "https://h/s"));
  table.remove(1);
  EXPECT_EQ(table.find("h", "/s"), TrackedBy::StatusUrl);
  table.remove(2);
  EXPECT_EQ(table.find("h", "/s"), TrackedBy::Nothing);
}

TEST(RemoteOperations, WhatHasNoUrlIsNone) {
  RemoteOperations table(Hasher(HashKey{1, 2}));
  table.add(1, {});
  table.add(2, tracking("no url"));
  table.remove(1);
  table.remove(2);
  EXPECT_EQ(table.find("", ""), TrackedBy::Nothing);
}

}  // namespace
}  // namespace armgate
