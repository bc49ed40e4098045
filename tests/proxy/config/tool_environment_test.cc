// The variables that lead tools through armgate: what is set, what of the user's stays, and what lands on disk.
#include "proxy/config/tool_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/client_name.h"
#include "tests/support/temporary_directory.h"

namespace armgate {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kTheirs = "-----BEGIN CERTIFICATE-----\ntheirs\n-----END CERTIFICATE-----";
constexpr const char* kOurs = "-----BEGIN CERTIFICATE-----\nours\n-----END CERTIFICATE-----\n";

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class ToolVariables : public testing::Test {
 protected:
  ToolVariables() {
    settings = {.proxy = "127.0.0.1:4321",
                .name = "nightly",
                .ca = directory.write("ca.pem", kOurs),
                .bundles = directory.path(),
                .intercepted = {"management.azure.com", "*.management.azure.com"}};
  }
  Environment variables(const Environment& present = {}) {
    auto made = tool_variables(settings, present);
    EXPECT_TRUE(made) << made.error().context;
    return *std::move(made);
  }
  std::string path(const std::string& name) const { return (directory.path() / name).string(); }

  const TemporaryDirectory directory;
  ToolSettings settings;
};

TEST_F(ToolVariables, EveryRuntimeIsToldTheProxyAndTheCertificates) {
  auto set = variables();
  EXPECT_EQ(set["HTTPS_PROXY"], "http://nightly:x@127.0.0.1:4321");
  EXPECT_EQ(set["https_proxy"], set["HTTPS_PROXY"]);
  EXPECT_EQ(set.count("HTTP_PROXY") + set.count("http_proxy") + set.count("ALL_PROXY"), 0u) << "plain HTTP is not relayed";
  EXPECT_EQ(set["NODE_USE_ENV_PROXY"], "1");
  EXPECT_EQ(set["ARMGATE_ACTIVE"], "127.0.0.1:4321");
  for (const char* name : {"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}) {
    EXPECT_EQ(set[name], path("bundle.pem")) << name;
  }
  for (const char* name : {"NODE_EXTRA_CA_CERTS", "DENO_CERT"}) EXPECT_EQ(set[name], path("ca.pem")) << name;
  const std::string bundle = text_of(path("bundle.pem"));
  EXPECT_TRUE(bundle.ends_with(kOurs));
  EXPECT_GT(bundle.size(), 10 * std::string(kOurs).size()) << "without the system's certificates no tool could log in";
}

TEST_F(ToolVariables, WhatTheUserTrustsStaysTrusted) {
  const auto theirs = directory.write("corporate.pem", kTheirs);  // without a line's end
  auto set = variables({{"SSL_CERT_FILE", theirs.string()}, {"NODE_EXTRA_CA_CERTS", theirs.string()}});
  EXPECT_EQ(text_of(set["SSL_CERT_FILE"]), kTheirs + std::string("\n") + kOurs);
  EXPECT_EQ(text_of(set["NODE_EXTRA_CA_CERTS"]), kTheirs + std::string("\n") + kOurs);
  EXPECT_EQ(set["REQUESTS_CA_BUNDLE"], path("bundle.pem"));
  EXPECT_EQ(text_of(theirs.string()), kTheirs);
}

// requests takes a directory for REQUESTS_CA_BUNDLE, with the links of `openssl rehash` in it.
TEST_F(ToolVariables, ADirectoryOfCertificatesIsTakenFileByFile) {
  directory.write("trusted/a.pem", kTheirs);
  directory.write("trusted/b.pem", std::string(kTheirs) + "\n# b");
  directory.write("trusted/client.key", "-----BEGIN PRIVATE KEY-----");
  for (const char* link : {"0123abcd.0", "0123abcd.1"})
    std::filesystem::create_symlink("a.pem", directory.path() / "trusted" / link);
  std::filesystem::create_symlink("b.pem", directory.path() / "trusted" / "89abcdef.0");
  std::filesystem::create_directory(directory.path() / "trusted" / "deeper");
  auto set = variables({{"REQUESTS_CA_BUNDLE", path("trusted")}});
  EXPECT_EQ(text_of(set["REQUESTS_CA_BUNDLE"]), kTheirs + std::string("\n") + kTheirs + "\n# b\n" + kOurs);
  directory.write("empty/readme", "none here");
  const auto none = tool_variables(settings, {{"REQUESTS_CA_BUNDLE", path("empty")}});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().context, HasSubstr("holds no PEM certificate; name certificates (PEM) or unset it"));
}

TEST_F(ToolVariables, SetAgainTheyAreTheSame) {
  const auto theirs = directory.write("corporate.pem", std::string(kTheirs) + "\n");
  const auto once = variables({{"SSL_CERT_FILE", theirs.string()}});
  const std::string before = text_of(once.at("SSL_CERT_FILE")) + text_of(path("bundle.pem"));
  const auto twice = variables(once);
  EXPECT_EQ(twice, once);
  EXPECT_EQ(text_of(once.at("SSL_CERT_FILE")) + text_of(path("bundle.pem")), before);
}

TEST_F(ToolVariables, ShellsThatTrustDifferentFilesHaveDifferentBundles) {
  const auto one = directory.write("one.pem", kTheirs);
  const auto other = directory.write("other.pem", std::string(kTheirs) + "\n# other");
  const std::string first = variables({{"SSL_CERT_FILE", one.string()}}).at("SSL_CERT_FILE");
  const std::string before = text_of(first);
  EXPECT_NE(variables({{"SSL_CERT_FILE", other.string()}}).at("SSL_CERT_FILE"), first);
  EXPECT_EQ(text_of(first), before);
}

TEST_F(ToolVariables, AFileWithoutCertificatesIsRefused) {
  const auto json = directory.write("a.json", "{}");
  const auto made = tool_variables(settings, {{"SSL_CERT_FILE", json.string()}});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().context, HasSubstr("SSL_CERT_FILE: " + json.string() + " holds no PEM certificate"));
}

TEST_F(ToolVariables, CertificatesThatCannotBeReadAreNamed) {
  const auto made = tool_variables(settings, {{"REQUESTS_CA_BUNDLE", "/nonexistent/a.pem"}});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().context, StartsWith("REQUESTS_CA_BUNDLE: "));
  EXPECT_THAT(made.error().context, HasSubstr("/nonexistent/a.pem"));
  EXPECT_EQ(tool_variables(settings, {{"REQUESTS_CA_BUNDLE", "/dev/null"}}).error().context,
            "REQUESTS_CA_BUNDLE: /dev/null is a pipe or a device; name certificates (PEM) or unset it");
}

TEST_F(ToolVariables, DirectHostsAreKeptAndNoneOfThemLeadsAroundArmgate) {
  const std::string always = "localhost,127.0.0.1,::1,169.254.169.254,168.63.129.16";
  const struct {
    std::string present, expected;
  } cases[] = {
      {"", always},
      {"corp.example, .lan,,LOCALHOST", "corp.example,.lan,localhost,127.0.0.1,::1,169.254.169.254,168.63.129.16"},
      {"*", always},
      {"azure.com,a.example", "a.example," + always},
      {".azure.com", always},
      {"*.azure.com", always},
      {"management.azure.com", always},
      {"westeurope.management.azure.com", always},
      {"management.azure.com:443", always},
      {"azure.com:443,.azure.com:443,*.azure.com:8443", always},
      {"*:443", always},
      {"management.azure.com.,azure.com.,.azure.com.:443", always},
      {"*zure.com", always},
      {"a.example\tmanagement.azure.com", "a.example," + always},
      {"fe80::1,a.example:443,.b.example.", "fe80::1,a.example:443,.b.example.," + always},
      {"vault.azure.net,notmanagement.azure.com", "vault.azure.net,notmanagement.azure.com," + always},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.present);
    EXPECT_EQ(variables({{"NO_PROXY", c.present}}).at("NO_PROXY"), c.expected);
    EXPECT_EQ(variables({{"no_proxy", c.present}}).at("NO_PROXY"), c.expected);
    EXPECT_EQ(variables({{"NO_PROXY", c.present}}).at("no_proxy"), c.expected);
  }
}

TEST(EntryAround, IsWhatTakesAnInterceptedHostItself) {
  const struct {
    const char* no_proxy;
    const char* entry;  // empty: none
    const char* host;
  } cases[] = {
      {"", "", ""},
      {"localhost,.lan, 10.0.0.0/8,vault.azure.net,::1", "", ""},
      {"private.management.azure.com,.scm.management.azure.com", "", ""},
      {"management.azure.com:8443", "", ""},
      {"localhost, Management.Azure.com.", "management.azure.com.", "management.azure.com"},
      {"management.azure.com:443", "management.azure.com:443", "management.azure.com"},
      {"*:443", "*:443", "management.azure.com"},
      {"x.chinacloudapi.cn,.chinacloudapi.cn", ".chinacloudapi.cn", "*.management.chinacloudapi.cn"},
  };
  const std::vector<std::string> hosts = {"management.azure.com", "*.management.azure.com", "*.management.chinacloudapi.cn"};
  for (const auto& c : cases) {
    const auto around = entry_around(c.no_proxy, hosts);
    EXPECT_EQ(around ? around->entry : "", c.entry) << c.no_proxy;
    EXPECT_EQ(around ? around->host : "", c.host) << c.no_proxy;
  }
}

TEST(OtherProxy, IsOneThatIsNotArmgate) {
  EXPECT_EQ(other_proxy_notice({}), "");
  EXPECT_EQ(other_proxy_notice({{"HTTPS_PROXY", ""}}), "");
  EXPECT_THAT(other_proxy_notice({{"HTTPS_PROXY", "http://corp:3128"}}), StartsWith("armgate: HTTPS_PROXY was set, "));
  EXPECT_EQ(other_proxy_notice({{"https_proxy", "http://me:x@127.0.0.1:8080"}, {"ARMGATE_ACTIVE", "127.0.0.1:8080"}}), "");
  EXPECT_THAT(other_proxy_notice({{"https_proxy", "http://corp:3128"}, {"ARMGATE_ACTIVE", "127.0.0.1:8080"}}),
              StartsWith("armgate: https_proxy was set, "));
}

TEST(ClientName, OfAProgramIsOneThatIsAllowed) {
  for (const char* program : {"az", "/usr/bin/az", "./my tool", "", "/", "x/ü"}) {
    EXPECT_TRUE(is_client_name(name_of_program(program))) << program;
  }
  EXPECT_EQ(name_of_program("/usr/bin/terraform"), "terraform");
}

TEST(Reachable, AListenerOnEveryAddressIsReachedOnLoopback) {
  EXPECT_EQ(reachable("0.0.0.0:80"), "127.0.0.1:80");
  EXPECT_EQ(reachable("[::]:80"), "[::1]:80");
  EXPECT_EQ(reachable("10.0.0.1:80"), "10.0.0.1:80");
}

TEST(Commands, QuoteForTheirShell) {
  const Environment variables{{"A", "it's \\ $x"}};
  EXPECT_EQ(to_commands(variables, Shell::Sh), "export A='it'\\''s \\ $x'\n");
  EXPECT_EQ(to_commands(variables, Shell::Fish), "set -gx A 'it\\'s \\\\ $x';\n");
  EXPECT_EQ(to_commands(variables, Shell::PowerShell), "$env:A = 'it''s \\ $x'\n");
  EXPECT_EQ(to_commands(variables, Shell::Json), "{\n  \"A\": \"it's \\\\ $x\"\n}\n");
}

TEST(UsageHint, NamesAnAddressThatCanBeUsed) {
  EXPECT_EQ(usage_hint("0.0.0.0:8080", "/ca.pem"), "use it with  HTTPS_PROXY=http://NAME:x@127.0.0.1:8080  and trust  /ca.pem");
  EXPECT_EQ(usage_hint("[::]:8080", "/ca.pem"), "use it with  HTTPS_PROXY=http://NAME:x@[::1]:8080  and trust  /ca.pem");
  EXPECT_EQ(usage_hint("10.0.0.4:8080", "c"), "use it with  HTTPS_PROXY=http://NAME:x@10.0.0.4:8080  and trust  c");
}

}  // namespace
}  // namespace armgate
