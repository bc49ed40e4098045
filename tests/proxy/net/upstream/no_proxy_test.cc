// Goal: NO_PROXY means here what it means to curl and Go. Method: tables.
#include "proxy/net/upstream/no_proxy.h"

#include <gtest/gtest.h>

namespace armgate::net {
namespace {

TEST(NoProxy, CoversWhatItsEntriesName) {
  const struct {
    const char* entry;
    const char* host;
    bool covered;
  } rows[] = {
      {"*", "anything.example", true},
      {"corp.example", "corp.example", true},
      {"corp.example", "arm.corp.example", true},
      {"corp.example", "notcorp.example", false},
      {".corp.example", "arm.corp.example", true},
      {"*.corp.example", "arm.corp.example", true},
      {"*.corp.example", "example", false},
      {"CORP.example", "arm.corp.example", true},
      {"arm.corp.example:443", "arm.corp.example", true},
      {"arm.corp.example:8443", "arm.corp.example", false},
      {"10.1.2.3", "10.1.2.3", true},
      {"10.1.2.3", "10.1.2.30", false},
      {"10.0.0.0/8", "10.200.3.4", true},
      {"10.0.0.0/8", "11.0.0.1", false},
      {"10.0.0.0/9", "10.128.0.1", false},
      {"0.0.0.0/0", "8.8.8.8", true},
      {"10.0.0.0/8", "10.example", false},
      {"10.0.0.0/8", "::ffff:10.1.1.1", true},
      {"::1", "::1", true},
      {"[::1]:443", "::1", true},
      {"fd00::/8", "fd12::1", true},
      {"fd00::/8", "fe80::1", false},
      {"localhost", "x.localhost", true},
  };
  for (const auto& row : rows) {
    EXPECT_TRUE(NoProxy::is_entry(row.entry)) << row.entry;
    EXPECT_EQ(NoProxy({row.entry}).covers(row.host, 443), row.covered) << row.entry << " and " << row.host;
  }
  EXPECT_FALSE(NoProxy().covers("corp.example", 443));
  EXPECT_TRUE(NoProxy({"a.example", "10.0.0.0/8"}).covers("10.1.1.1", 80));
}

TEST(NoProxy, KnowsWhatIsNoEntry) {
  for (const char* text : {"", ".", "a b", "10.0.0.0/33", "10.0.0.0/", "fd00::/129", "corp.example:", "corp.example:99999",
                           "http://x", "corp.example/8", "*corp.example"}) {
    EXPECT_FALSE(NoProxy::is_entry(text)) << text;
  }
  EXPECT_FALSE(NoProxy({"a b"}).covers("a b", 443)) << "passed over";
}

}  // namespace
}  // namespace armgate::net
