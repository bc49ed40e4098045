// Goal: an address is told as it was bound, and taken apart as it was meant. Method: a table.
#include "proxy/gateway/listeners.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

TEST(Listeners, AnAddressIsAHostWithoutBracketsAndAPort) {
  const struct {
    const char* text;
    const char* host;
    uint16_t port;
    const char* bound;  // to port 4711
  } rows[] = {
      {"127.0.0.1:9477", "127.0.0.1", 9477, "127.0.0.1:4711"},
      {"localhost:0", "localhost", 0, "localhost:4711"},
      {"[::1]:9477", "::1", 9477, "[::1]:4711"},
      {"[::]:65535", "::", 65535, "[::]:4711"},
      {":9477", "", 9477, ":4711"},
  };
  for (const auto& row : rows) {
    const auto [host, port] = split_address(row.text);
    EXPECT_EQ(host, row.host) << row.text;
    EXPECT_EQ(port, row.port) << row.text;
    EXPECT_EQ(listener_text(row.text, 4711), row.bound) << row.text;
  }
}

}  // namespace
}  // namespace armgate
