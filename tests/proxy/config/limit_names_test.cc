// Whoever reads that a limit was reached looks for that name in the configuration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/config/option_table.h"
#include "proxy/http/head_parser.h"

namespace armgate {
namespace {

using testing::HasSubstr;

// "limits.NAME" in the text; nothing without one.
std::string named_limit(const std::string& text) {
  const std::string section = "limits.";
  const size_t begin = text.find(section);
  if (begin == text.npos) return {};
  const size_t name = begin + section.size();
  return text.substr(name, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", name) - name);
}

TEST(LimitNames, AMessageAboutALimitNamesItsOption) {
  http::Limits limits;
  limits.fields_max = 2;
  limits.target_bytes_max = 20;
  limits.head_bytes_max = 300;
  limits.request_body_bytes_max = 10;
  const std::string host = " HTTP/1.1\r\nHost: management.azure.com\r\n";
  for (const std::string& head :
       {"GET /" + host + "A: 1\r\nB: 2\r\n\r\n", "GET /" + std::string(30, 'a') + host + "\r\n",
        "GET /" + host + "A: " + std::string(400, 'a') + "\r\n\r\n", "PUT /" + host + "Content-Length: 11\r\n\r\n"}) {
    const auto parsed = http::parse_request_head(head, limits);
    ASSERT_FALSE(parsed.ok()) << head;
    const std::string name = named_limit(parsed.error().context);
    ASSERT_FALSE(name.empty()) << parsed.error().context;
    EXPECT_THAT(print_defaults(), HasSubstr("\"" + name + "\": ")) << parsed.error().context;
  }
}

}  // namespace
}  // namespace armgate
