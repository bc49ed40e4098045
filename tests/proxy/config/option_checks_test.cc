// Goal: what the text of an option may be, what it becomes, and that a complaint says what is wrong. Method: a table for each check.
#include "proxy/config/option_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace armgate {
namespace {

using Check = std::optional<std::string> (*)(std::string&);

struct Row {
  const char* text;
  const char* becomes;  // null: it is refused
};

template <size_t N>
void try_all(Check check, const Row (&rows)[N]) {
  for (const Row& row : rows) {
    std::string text = row.text;
    const auto complaint = check(text);
    EXPECT_EQ(complaint.has_value(), row.becomes == nullptr) << row.text << ": " << complaint.value_or("taken");
    if (row.becomes != nullptr) {
      EXPECT_EQ(text, row.becomes);
    }
  }
}

TEST(OptionChecks, OneListensOnAnAddressOfThisMachine) {
  const Row rows[] = {
      {"127.0.0.1:8080", "127.0.0.1:8080"},
      {"0.0.0.0:0", "0.0.0.0:0"},
      {"[::1]:65535", "[::1]:65535"},
      {"[FE80::1]:1", "[fe80::1]:1"},
      {"localhost:8080", nullptr},
      {"::1:8080", nullptr},
      {"[127.0.0.1]:8080", nullptr},
      {"127.0.0.1", nullptr},
      {"127.0.0.1:", nullptr},
      {"127.0.0.1:65536", nullptr},
      {"127.0.0.1:80 ", nullptr},
      {"127.0.0.256:80", nullptr},
      {"", nullptr},
  };
  try_all(check_listen, rows);
  std::string none;
  EXPECT_FALSE(check_optional_listen(none));
  std::string name = "arm.example:8080";
  EXPECT_THAT(check_optional_listen(name).value_or(""), testing::HasSubstr("names a host"));
}

TEST(OptionChecks, ATargetIsReachable) {
  const Row rows[] = {
      {"ARM.Example.com:443", "arm.example.com:443"},
      {"10.0.0.1:1", "10.0.0.1:1"},
      {"arm.example.com:0", nullptr},
      {"arm_.example/x:443", nullptr},
      {":443", nullptr},
  };
  try_all(check_target, rows);
}

TEST(OptionChecks, HostsAndPatternsOfHosts) {
  const Row hosts[] = {
      {"Management.Azure.com", "management.azure.com"}, {"10.0.0.1", nullptr}, {"*.azure.com", nullptr}, {"", nullptr}};
  try_all(check_host, hosts);
  const Row patterns[] = {
      {"*.Management.Azure.com", "*.management.azure.com"},
      {"management.azure.com", "management.azure.com"},
      {"AzureUSGovernment", "azureusgovernment"},
      {"AzureMoon", nullptr},
      {"*.*.azure.com", nullptr},
      {"*", nullptr},
      {"*.10.0.0.1", nullptr},
  };
  try_all(check_host_pattern, patterns);
  std::string cloud = "AzureMoon";
  EXPECT_THAT(check_host_pattern(cloud).value_or(""), testing::HasSubstr("AzureChinaCloud"));
}

TEST(OptionChecks, WhereTunnelsMayLeadAndByWhichProxy) {
  const Row destinations[] = {{"LocalHost", "localhost"}, {"::1", "::1"}, {"[::1]", nullptr}, {"a b", nullptr}};
  try_all(check_destination, destinations);
  const Row proxies[] = {
      {"", ""},
      {"direct", "direct"},
      {"Direct", "direct"},
      {"nonsense", nullptr},
      {"squid:3128", "squid:3128"},
      {"proxy.corp.example", "proxy.corp.example"},
      {"http://proxy.corp.example:3128", "http://proxy.corp.example:3128"},
      {"http://user@proxy.corp.example:3128", "http://user@proxy.corp.example:3128"},
      {"http://user:secret@proxy.corp.example:3128", nullptr},
      {"socks5://proxy.corp.example:1080", nullptr},
  };
  try_all(check_proxy, proxies);
  std::string with_password = "http://user:secret@proxy.corp.example:3128";
  EXPECT_THAT(check_proxy(with_password).value_or(""), testing::Not(testing::HasSubstr("secret@")));
  const Row exceptions[] = {{"10.0.0.0/8", "10.0.0.0/8"}, {"Corp.Example", "corp.example"}, {"10.0.0.0/33", nullptr}};
  try_all(check_no_proxy, exceptions);
  const Row texts[] = {{"x", "x"}, {"", nullptr}};
  try_all(check_not_empty, texts);
}

}  // namespace
}  // namespace armgate
