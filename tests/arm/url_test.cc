// Goal: an operation URL is taken apart without changing a byte of its target; what could fool a host check is refused.
#include "arm/url.h"

#include <vector>

#include <gtest/gtest.h>

namespace armgate::arm {
namespace {

TEST(UrlTest, AbsoluteUrlsKeepTheirTargetByteForByte) {
  const struct {
    std::string_view text, host;
    uint16_t port;
    std::string_view target;
  } cases[] = {
      {"https://management.azure.com/a/B?t=1&c=%2f%2F+", "management.azure.com", 443, "/a/B?t=1&c=%2f%2F+"},
      {"HTTPS://Management.Azure.COM:443/x//y/../z", "management.azure.com", 443, "/x//y/../z"},
      {"https://westus.management.azure.com:8443", "westus.management.azure.com", 8443, "/"},
      {"https://a?q=/", "a", 443, "/?q=/"},
      {"https://a/?", "a", 443, "/?"},
      {"https://a/@b:c", "a", 443, "/@b:c"},
      {"https://127.0.0.1:1/", "127.0.0.1", 1, "/"},
      {"https://a:65535/", "a", 65535, "/"},
  };
  for (const auto& c : cases) {
    const auto url = parse_url(c.text);
    ASSERT_TRUE(url) << c.text;
    EXPECT_EQ(url->host, c.host) << c.text;
    EXPECT_EQ(url->port, c.port) << c.text;
    EXPECT_EQ(url->target, c.target) << c.text;
  }
}

TEST(UrlTest, EverythingElseIsRefused) {
  const std::string long_host = "https://" + std::string(254, 'a') + "/";
  const std::vector<std::string_view> refused{"",
                                              "https://",
                                              "https:///x",
                                              "https:/a/b",
                                              "http://a/",
                                              "ftp://a/",
                                              "//a/b",
                                              "/subscriptions/s",
                                              "a/b",
                                              "https://user@a/",
                                              "https://user:pass@a/",
                                              "https://a@b",
                                              "https://evil\\@a/",
                                              "https://a:0/",
                                              "https://a:/",
                                              "https://a:65536/",
                                              "https://a:99999999999/",
                                              "https://a:44x/",
                                              "https://a:-1/",
                                              "https://a:+1/",
                                              "https://a: 1/",
                                              "https://a:1:2/",
                                              "https://[::1]/",
                                              "https://a b/",
                                              "https://a/#f",
                                              "https://a#f",
                                              "https://a/b c",
                                              "https://a/\r\nX: y",
                                              "https://a/\x7f",
                                              "https://a/\xc3\xa9",
                                              "https://\xc3\xa9/",
                                              "https://?q",
                                              "https://a_b/",
                                              " https://a/",
                                              std::string_view("https://a/\0b", 12),
                                              long_host};
  for (const std::string_view text : refused) EXPECT_FALSE(parse_url(text)) << text;
}

}  // namespace
}  // namespace armgate::arm
