// Goal: options that are good each by itself and not together are told, at the one to change. Method: a table of configurations.
#include "proxy/config/together.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace armgate::together_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Surroundings kPlaces{.home = "/home/u", .shipped_rules = "/usr/share/armgate/rules"};

std::vector<std::string> faults_in(const std::string& options) {
  std::vector<std::string> texts;
  for (const rules::Fault& fault : parse_config("/a.json", "{" + options + "}", kPlaces).faults)
    texts.push_back(fault.pointer + " " + fault.message);
  return texts;
}

TEST(Together, WhatBelongsToAClusterNeedsItsEngine) {
  for (const auto& [option, name] : {std::pair{R"("key_file": "/etc/key")", "key_file"},
                                     {R"("replica": "a")", "replica"},
                                     {R"("experimental": "on")", "experimental"}}) {
    EXPECT_THAT(
        faults_in(fmt::format(R"("cluster": {{{}}})", option)),
        ElementsAre(HasSubstr(fmt::format("/cluster/{} belongs to no cluster, and this armgate would run alone", name))));
    EXPECT_THAT(faults_in(fmt::format(R"("cluster": {{"engine": "postgres://u@h/db", {}}})", option)), IsEmpty());
  }
  EXPECT_THAT(faults_in(R"("cluster": {"engine": "h", "key_file": "/etc/key"})"), ElementsAre(HasSubstr("/cluster/engine ")))
      << "what it would be is not known";
}

TEST(Together, AHostIsNotWhereArmgateListens) {
  const struct {
    const char* listen;
    const char* address;
    bool leads_back;
  } rows[] = {
      {R"("tls": "127.0.0.1:8443")", "127.0.0.1:8443", true},
      {R"("tls": "127.0.0.1:8443")", "localhost:8443", true},
      {R"("tls": "127.0.0.1:8443")", "127.0.0.1:8444", false},
      {R"("tls": "127.0.0.1:8443")", "127.0.0.2:8443", false},
      {R"("tls": "0.0.0.0:443")", "127.0.0.1:443", true},
      {R"("tls": "0.0.0.0:443")", "192.0.2.4:443", false},
      {R"("tls": "[::]:443")", "192.0.2.4:443", false},
      {R"("tls": "0.0.0.0:443")", "arm.example.com:443", false},
      {R"("tls": "192.0.2.4:443")", "192.0.2.4:443", true},
      {R"("proxy": "127.0.0.1:81")", "127.0.0.1:81", true},
      {R"("admin": "[::1]:82")", "[::1]:82", true},
  };
  for (const auto& row : rows) {
    const auto faults = faults_in(
        fmt::format(R"("listen": {{{}}}, "hosts": {{"management.azure.com": {{"address": "{}"}}}})", row.listen, row.address));
    if (row.leads_back) {
      EXPECT_THAT(faults, ElementsAre(HasSubstr("/hosts/management.azure.com/address is where armgate itself listens")))
          << row.listen << " " << row.address;
    } else {
      EXPECT_THAT(faults, IsEmpty()) << row.listen << " " << row.address;
    }
  }
}

TEST(Together, AProxyOfAnotherMachineMayHaveThePortOfAListener) {
  const auto with_proxy = [](const std::string& proxy) {
    return faults_in(fmt::format(R"("listen": {{"proxy": "0.0.0.0:8080"}}, "upstream": {{"proxy": "{}"}})", proxy));
  };
  EXPECT_THAT(with_proxy("http://proxy.corp.example:8080"), IsEmpty());
  EXPECT_THAT(with_proxy("http://192.0.2.4:8080"), IsEmpty());
  EXPECT_THAT(with_proxy("http://localhost:8080"), ElementsAre(HasSubstr("itself listens")));
}

}  // namespace
}  // namespace armgate::together_test
