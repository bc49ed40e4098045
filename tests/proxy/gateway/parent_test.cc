// Which proxy stands between armgate and the world, and that its password gets nowhere else.
#include "proxy/gateway/parent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/fixture.h"
#include "tests/support/temporary_directory.h"

namespace armgate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class EnvironmentProxies : public testing::Test {
 protected:
  // What is said about it.
  std::string adopt(const Environment& environment) {
    config.environment_proxy = {};
    return adopt_environment_proxy(config, environment);
  }
  Config config;
};

TEST_F(EnvironmentProxies, TheOneThatIsNamedIsUsedAndSaidWithoutItsPassword) {
  EXPECT_EQ(adopt({{"HTTPS_PROXY", "http://me:SECRET@corp:3128"}, {"NO_PROXY", "Corp.example, 10.0.0.0/8,,nonsense/"}}),
            "armgate: HTTPS_PROXY was set; armgate connects through that proxy, corp:3128\n");
  const auto parent = parent_proxy(config);
  ASSERT_TRUE(parent.ok() && parent->has_value());
  EXPECT_EQ((*parent)->text(), "the proxy corp:3128 (HTTPS_PROXY)");
  EXPECT_EQ((*parent)->credentials, "me:SECRET");
  EXPECT_TRUE((*parent)->exceptions.covers("arm.corp.example", 443));
  EXPECT_TRUE((*parent)->exceptions.covers("10.1.2.3", 443));
  EXPECT_TRUE((*parent)->exceptions.covers("127.0.0.1", 443)) << "besides what no proxy can reach";
  EXPECT_FALSE((*parent)->exceptions.covers("management.azure.com", 443));
}

TEST_F(EnvironmentProxies, TheFirstOneCountsAsForCurl) {
  adopt({{"HTTPS_PROXY", "http://second:1"}, {"https_proxy", "http://first:1"}, {"ALL_PROXY", "http://third:1"}});
  EXPECT_EQ(config.environment_proxy.variable, "https_proxy");
  adopt({{"HTTPS_PROXY", ""}, {"ALL_PROXY", "http://third:1"}});
  EXPECT_EQ(config.environment_proxy.variable, "ALL_PROXY");
  EXPECT_EQ(adopt({{"HTTP_PROXY", "http://other:1"}}), "");
  EXPECT_EQ(config.environment_proxy.variable, "");
}

TEST_F(EnvironmentProxies, ArmgateItselfIsNone) {
  for (const char* own : {"http://me:x@127.0.0.1:8080", "http://me:x@localhost:8080"}) {
    EXPECT_EQ(adopt({{"https_proxy", own}}),
              "armgate: https_proxy was set; that is where armgate itself listens, so it connects directly\n");
    EXPECT_EQ(config.environment_proxy.variable, "");
  }
  EXPECT_EQ(adopt({{"https_proxy", "http://me:x@127.0.0.1:9999"}, {"ARMGATE_ACTIVE", "127.0.0.1:9999"}}), "");
  EXPECT_EQ(config.environment_proxy.variable, "");
}

TEST_F(EnvironmentProxies, WhatTheConfigurationSaysComesFirst) {
  config.upstream.proxy = "direct";
  EXPECT_THAT(adopt({{"HTTPS_PROXY", "http://corp:3128"}}), HasSubstr("HTTPS_PROXY was set; armgate connects directly"));
  EXPECT_FALSE(parent_proxy(config)->has_value());
  config.upstream.proxy = "http://other:1";
  EXPECT_THAT(adopt({{"HTTPS_PROXY", "http://corp:3128"}}), HasSubstr("the proxy of upstream.proxy is used instead"));
  EXPECT_EQ((*parent_proxy(config))->text(), "the proxy other:1 (upstream.proxy)");
}

TEST_F(EnvironmentProxies, OneThatCannotBeUsedIsSaidAndLeftOut) {
  EXPECT_THAT(adopt({{"ALL_PROXY", "socks5://me:SECRET@corp:1080"}}),
              AllOf(HasSubstr("armgate: ALL_PROXY names a proxy that is no HTTP proxy"), HasSubstr("armgate connects directly"),
                    Not(HasSubstr("SECRET"))));
  EXPECT_FALSE(parent_proxy(config)->has_value());
}

TEST(ProxyPassword, IsTheFirstLineOfAFileOfItsOwnersOnly) {
  const TemporaryDirectory directory;
  const auto file = directory.write("password", "p:w\r\nsecond line\n");
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  Config config;
  config.upstream.proxy = "http://me@corp:3128";
  config.upstream.proxy_password_file = file.string();
  EXPECT_EQ((*parent_proxy(config))->credentials, "me:p:w");
  std::filesystem::permissions(file, std::filesystem::perms(0644));
  const auto refused = parent_proxy(config);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().context, AllOf(HasSubstr("chmod 600"), Not(HasSubstr("p:w"))));
}

class ProxyOnTheCommandLine : public Cli {
 protected:
  std::string with(const std::string& text) { return directory.write("a.json", text).string(); }
};

TEST_F(ProxyOnTheCommandLine, TheActiveArmgateIsRefusedByName) {
  environment["ARMGATE_ACTIVE"] = "127.0.0.1:9999";
  const std::string file = with(R"({"upstream": {"proxy": "http://localhost:9999"}})");
  for (const char* command : {"check", "run"}) {
    EXPECT_EQ(run({command, "--config", file}), kExitBadInput);
    EXPECT_THAT(err.str(), HasSubstr("/upstream/proxy: is the armgate that ARMGATE_ACTIVE names"));
  }
  EXPECT_FALSE(run_with);
}

TEST_F(ProxyOnTheCommandLine, RunAndExecTakeTheOneOfTheEnvironment) {
  environment["HTTPS_PROXY"] = "http://me:SECRET@corp:3128";
  const std::string file = with("{}");
  run({"run", "--config", file});
  EXPECT_EQ(run_with->environment_proxy.url, "http://me:SECRET@corp:3128");
  EXPECT_THAT(err.str(), AllOf(HasSubstr("through that proxy, corp:3128"), Not(HasSubstr("SECRET"))));
  run({"exec", "--config", file, "--", "true"});
  EXPECT_EQ(run_with->environment_proxy.variable, "HTTPS_PROXY");
  EXPECT_THAT(err.str(), AllOf(HasSubstr("through that proxy, corp:3128"), Not(HasSubstr("SECRET"))));
}

TEST_F(ProxyOnTheCommandLine, CheckLooksAtItsFiles) {
  const auto password = directory.write("password", "SECRET");
  std::filesystem::permissions(password, std::filesystem::perms(0644));
  const std::string file =
      with(R"({"upstream": {"proxy": "me@corp", "proxy_password_file": "password", "proxy_ca_file": "gone.pem"}})");
  EXPECT_EQ(run({"check", "--config", file}), kExitBadInput);
  EXPECT_THAT(err.str(), AllOf(HasSubstr("/upstream/proxy_password_file: "), HasSubstr("chmod 600"),
                               HasSubstr("/upstream/proxy_ca_file: "), Not(HasSubstr("SECRET"))));
}

TEST_F(ProxyOnTheCommandLine, AHostThatIsOnlyTunnelledIsMentioned) {
  EXPECT_EQ(run({"check", "--config", with(R"({"hosts": {"login.microsoftonline.com": {"address": "10.0.0.5:443"}}})")}),
            kExitDone);
  EXPECT_THAT(err.str(), HasSubstr("/hosts/login.microsoftonline.com: warning: /intercept does not cover this host"));
}

}  // namespace
}  // namespace armgate
