#include "cli/doctor/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "certs/authority_facts.h"
#include "cli/ca/authority.h"
#include "json/tree.h"
#include "tests/support/temporary_directory.h"

namespace armgate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = RuntimeVerdict::Kind;

constexpr WallTime kToday = WallTime(std::chrono::seconds(1767225600));  // 2026-01-01

class Doctor : public testing::Test {
 protected:
  Doctor() {
    config.ca.directory = (directory.path() / "ca").string();
    config.source = "/etc/armgate/armgate.json";
    EXPECT_TRUE(init_authority(config, kToday, certs::Overwrite::Refuse).ok());
    world.environment = {{"HTTPS_PROXY", "http://me:x@127.0.0.1:8080"}};
    world.now = kToday;
    world.somebody_listens = [this](const std::string& address) {
      sought = address;
      return listens;
    };
    world.status = [this](const Config&) { return status; };
    world.ask = [this](const ProxiedQuestion& question) {
      asked = question;
      return answer;
    };
    world.try_runtime = [this](const Runtime& runtime, const RuntimeQuestion&) {
      return runtime.name == "node" ? node : RuntimeVerdict{Kind::Trusts, ""};
    };
  }

  Finding finding(const std::string& check) {
    for (const Finding& one : examine(config, world)) {
      if (one.check == check) return one;
    }
    ADD_FAILURE() << check << " was not looked at";
    return {};
  }

  const TemporaryDirectory directory;
  Config config;
  DoctorWorld world;
  bool listens = true;
  std::string sought;
  Result<std::string> status = gateway_error(ErrorKind::Unreachable, "nobody there");
  ProxiedQuestion asked;
  Result<ProxiedAnswer> answer = ProxiedAnswer{200, "Thu, 01 Jan 2026 00:00:01 GMT", "", ""};
  RuntimeVerdict node{Kind::Trusts, ""};
};

TEST_F(Doctor, AGoodSetUpIsWell) {
  const auto findings = examine(config, world);
  EXPECT_TRUE(is_well(findings)) << findings_text(findings);
  for (const char* check :
       {"authority", "environment", "proxy", "certificate", "ARM", "clock", "curl", "python3", "node", "go", "java"}) {
    EXPECT_EQ(finding(check).health, Health::Good) << check << ": " << finding(check).text;
  }
  EXPECT_EQ(sought, "127.0.0.1:8080");
  EXPECT_EQ(asked.host, "management.azure.com");
  EXPECT_EQ(asked.through.credentials, "me:x");
  EXPECT_EQ(asked.through.root, directory.path() / "ca" / "ca.pem");
}

TEST_F(Doctor, AnEnvironmentThatLeadsAroundArmgateIsSaidWithTheRemedy) {
  const struct {
    Environment environment;
    const char* text;
    const char* remedy;
  } cases[] = {
      {{}, "HTTPS_PROXY is not set", "eval \"$(armgate env --config /etc/armgate/armgate.json)\""},
      {{{"HTTPS_PROXY", "ftp://x"}}, "HTTPS_PROXY", "armgate exec -- COMMAND"},
      {{{"HTTPS_PROXY", "http://a:x@127.0.0.1:8080"}, {"https_proxy", "http://corp:3128"}}, "differ", "armgate env"},
      {{{"https_proxy", "http://a:x@127.0.0.1:8080"}, {"NO_PROXY", "localhost, .Azure.com"}},
       "NO_PROXY takes management.azure.com out",
       "NO_PROXY"},
      {{{"https_proxy", "http://a:x@127.0.0.1:8080"}, {"NO_PROXY", "management.azure.com."}},
       "its entry \"management.azure.com.\"",
       "NO_PROXY"},
      {{{"HTTPS_PROXY", "https://a:x@127.0.0.1:8080"}}, "begins with https://", "write http://a:x@127.0.0.1:8080 there"},
      {{{"https_proxy", "http://a:x@127.0.0.1:8080"}, {"no_proxy", "*:443"}}, "its entry \"*:443\"", "NO_PROXY"},
  };
  for (const auto& c : cases) {
    world.environment = c.environment;
    const Finding found = finding("environment");
    EXPECT_EQ(found.health, Health::Failed);
    EXPECT_THAT(found.text, HasSubstr(c.text));
    EXPECT_THAT(found.remedy, HasSubstr(c.remedy));
    EXPECT_EQ(finding("curl").health, Health::Skipped);
    EXPECT_EQ(finding("ARM").health, Health::Good) << "the service is looked at all the same";
  }
  world.environment = {{"HTTPS_PROXY", "http://a:x@127.0.0.1:8080"}, {"NO_PROXY", "private.management.azure.com"}};
  EXPECT_EQ(finding("environment").health, Health::Good) << "ARM itself is asked through armgate";
  world.environment = {{"HTTPS_PROXY", "http://127.0.0.1:8080"}};
  EXPECT_EQ(finding("environment").health, Health::Warning) << "nobody tells its clients apart";
  EXPECT_EQ(finding("curl").health, Health::Good);
}

// Then the login, which armgate only tunnels, cannot be trusted.
TEST_F(Doctor, ABundleOfArmgatesRootAloneIsAWarning) {
  const auto root = directory.path() / "ca" / "ca.pem";
  const auto other = directory.write("other.pem", "no certificate at all").string();
  for (const char* variable : {"REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE"}) {
    world.environment[variable] = root.string();
    const Finding found = finding("environment");
    EXPECT_EQ(found.health, Health::Warning) << variable;
    EXPECT_THAT(found.text, AllOf(HasSubstr(variable), HasSubstr("armgate's root alone")));
    EXPECT_THAT(found.remedy, HasSubstr("armgate env --config /etc/armgate/armgate.json"));
    world.environment[variable] = other;
    EXPECT_EQ(finding("environment").health, Health::Good) << "what a runtime makes of it is said by itself";
    world.environment.erase(variable);
  }
  world.environment["NODE_EXTRA_CA_CERTS"] = root.string();
  EXPECT_EQ(finding("environment").health, Health::Good) << "Node adds it to its own";
}

TEST_F(Doctor, WithoutAServiceNothingBehindItIsJudged) {
  listens = false;
  EXPECT_EQ(finding("proxy").health, Health::Failed);
  EXPECT_THAT(finding("proxy").remedy, HasSubstr("armgate run --config /etc/armgate/armgate.json"));
  for (const char* check : {"certificate", "ARM", "clock", "curl", "java"})
    EXPECT_EQ(finding(check).health, Health::Skipped) << check;
  EXPECT_FALSE(is_well(examine(config, world)));
}

TEST_F(Doctor, AnotherAuthorityOrNoneIsTold) {
  answer = Error{ErrorKind::Untrusted, ErrorSource::Upstream, Sent::No, "not trusted"};
  EXPECT_THAT(finding("certificate").text, HasSubstr("does not sign for management.azure.com"));
  EXPECT_EQ(finding("ARM").health, Health::Skipped);
  answer = Error{ErrorKind::Closed, ErrorSource::Upstream, Sent::No, "it hung up"};
  EXPECT_THAT(finding("certificate").text, HasSubstr("it hung up"));
  config.ca.directory = "/no/such/place";
  EXPECT_EQ(finding("authority").health, Health::Failed);
  EXPECT_THAT(finding("authority").text, HasSubstr("armgate ca init"));
  EXPECT_EQ(finding("certificate").health, Health::Skipped);
}

TEST_F(Doctor, AnAuthorityAboutToExpireIsAWarning) {
  world.now = kToday + std::chrono::days(100 * 365);
  EXPECT_EQ(finding("authority").health, Health::Failed);
  const auto facts = certs::look_at_authority(config.ca.directory, config.intercept, kToday, "");
  ASSERT_TRUE(facts.intermediate);
  world.now = facts.intermediate->until - std::chrono::days(3);
  EXPECT_EQ(finding("authority").health, Health::Warning);
  EXPECT_THAT(finding("authority").text, HasSubstr("for 3 more days"));
}

TEST_F(Doctor, WhatArmgateSaysOfArmIsPassedOn) {
  answer = ProxiedAnswer{502, "Thu, 01 Jan 2026 00:00:01 GMT", "ArmgateUpstreamUnreachable",
                         "the proxy corp:3128 asks for a user name (407)"};
  EXPECT_EQ(finding("ARM").health, Health::Failed);
  EXPECT_THAT(finding("ARM").text, HasSubstr("asks for a user name (407)"));
  EXPECT_THAT(finding("ARM").remedy, HasSubstr("set upstream.proxy"));
  EXPECT_EQ(finding("clock").health, Health::Skipped) << "the date is armgate's own";
  config.upstream.proxy = "http://corp:3128";
  EXPECT_THAT(finding("ARM").remedy, HasSubstr("upstream.proxy_password_file"));
  answer = ProxiedAnswer{401, "", "AuthenticationFailed", ""};
  EXPECT_EQ(finding("ARM").health, Health::Good) << "ARM wants a token, so it was ARM";
  EXPECT_THAT(finding("ARM").text, HasSubstr("through the proxy of upstream.proxy"));
  answer = ProxiedAnswer{503, "", "ServerBusy", ""};
  EXPECT_EQ(finding("ARM").health, Health::Warning);
}

TEST_F(Doctor, AClockThatIsWrongIsSaidByHowMuch) {
  const struct {
    const char* date;
    Health health;
    const char* text;
  } cases[] = {
      {"Thu, 01 Jan 2026 00:00:00 GMT", Health::Good, "the same as ARM's"},
      {"Thu, 01 Jan 2026 00:00:20 GMT", Health::Good, "20 s behind ARM's"},
      {"Wed, 31 Dec 2025 23:59:00 GMT", Health::Warning, "60 s ahead of ARM's"},
      {"Thu, 01 Jan 2026 01:00:00 GMT", Health::Failed, "3600 s behind ARM's"},
      {"yesterday", Health::Skipped, "no date"},
  };
  for (const auto& c : cases) {
    answer = ProxiedAnswer{200, c.date, "", ""};
    EXPECT_EQ(finding("clock").health, c.health) << c.date;
    EXPECT_THAT(finding("clock").text, HasSubstr(c.text));
  }
}

TEST_F(Doctor, WhatARuntimeSaysBecomesAVerdict) {
  const struct {
    RuntimeVerdict verdict;
    Health health;
    const char* text;
    const char* remedy;
  } cases[] = {
      {{Kind::Missing, ""}, Health::Skipped, "not installed", ""},
      {{Kind::CannotTry, "no compiler"}, Health::Skipped, "no compiler", ""},
      {{Kind::Around, "O=Microsoft"}, Health::Failed, "around armgate", "NO_PROXY"},
      {{Kind::Distrusts, "self-signed"}, Health::Failed, "does not trust the certificate: self-signed", "NODE_EXTRA_CA_CERTS"},
      {{Kind::Fails, "ENOENT"}, Health::Failed, "ENOENT", "certificate file"},
      {{Kind::TrustsInPart, "but fetch() of Node v20.1.0 goes around"},
       Health::Warning,
       "fetch() of Node v20.1.0 goes around",
       "NODE_USE_ENV_PROXY=1"},
      {{Kind::NotThrough, "no https.proxyHost"},
       Health::Warning,
       "goes around armgate",
       "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=8080"},
  };
  for (const auto& c : cases) {
    node = c.verdict;
    EXPECT_EQ(finding("node").health, c.health);
    EXPECT_THAT(finding("node").text, HasSubstr(c.text));
    EXPECT_THAT(finding("node").remedy, HasSubstr(c.remedy));
  }
}

TEST_F(Doctor, TheServiceIsAskedWhereItIsTheOneOfThisConfiguration) {
  EXPECT_EQ(finding("service").health, Health::Skipped) << "listen.admin is not set";
  config.listen.admin = "127.0.0.1:9478";
  EXPECT_EQ(finding("service").health, Health::Failed);
  const std::string page =
      R"({"version": "1", "mode": "MODE", "started": "", "config": "", "up_ms": 1, "draining": false, "rules": 3,
    "connections": 0, "requests": 0, "summary": "", "counts": {"guarded": 0, "stale": 0, "refused": 0, "repeated": 0, "recovered": 0,
    "unanswered": 0}, "writes": [], "writes_left_out": 0})";
  const auto with = [&page](const std::string& word, const std::string& other) {
    std::string text = page;
    return text.replace(text.find(word), word.size(), other);
  };
  status = with("MODE", "protect");
  EXPECT_EQ(finding("service").health, Health::Good);
  EXPECT_EQ(finding("service").text, "armgate 1, mode protect, 3 rules");
  status = with("MODE", "observe");
  EXPECT_EQ(finding("service").health, Health::Warning);
  world.environment["HTTPS_PROXY"] = "http://me:x@127.0.0.1:41234";
  EXPECT_EQ(finding("service").health, Health::Skipped) << "another gateway, such as exec's own";
}

TEST_F(Doctor, FindingsAreToldToPeopleAndPrograms) {
  node = {Kind::Distrusts, "self-signed"};
  const auto findings = examine(config, world);
  EXPECT_THAT(findings_text(findings), AllOf(HasSubstr("good     curl         trusts it: scripts\n"),
                                             HasSubstr("FAILED   node         does not trust the certificate: self-signed\n"),
                                             HasSubstr("`sudo armgate ca trust --directory " + config.ca.directory + "`"),
                                             HasSubstr(" -> `eval "), HasSubstr("1 failed\n")));
  const auto told = nlohmann::json::parse(findings_json(findings));
  EXPECT_EQ(told.at("well"), false);
  for (const auto& one : told.at("findings")) {
    EXPECT_EQ(one.contains("remedy"), one.at("check") == "node") << one;
    if (one.at("check") == "node") {
      EXPECT_EQ(one.at("state"), "failed");
    }
  }
}

}  // namespace
}  // namespace armgate
