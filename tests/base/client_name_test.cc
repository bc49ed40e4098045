// Goal: a client's name needs no escaping anywhere. Method: a table.
#include "base/client_name.h"

#include <gtest/gtest.h>

#include <string>

namespace armgate {
namespace {

TEST(ClientName, IsWhatNeedsNoEscapingAnywhere) {
  for (const char* good : {"a", "nightly-2.0_x~", "AZ"}) EXPECT_TRUE(is_client_name(good)) << good;
  for (const char* bad : {"", "a b", "a:b", "a@b", "a/b", "a%20", "ü"}) EXPECT_FALSE(is_client_name(bad)) << bad;
  EXPECT_TRUE(is_client_name(std::string(kClientNameBytesMax, 'a')));
  EXPECT_FALSE(is_client_name(std::string(kClientNameBytesMax + 1, 'a')));
}

}  // namespace
}  // namespace armgate
