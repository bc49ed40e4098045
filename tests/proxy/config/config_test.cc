// The configuration: what reaches which place, what paths mean, and every fault at its line.
#include "proxy/config/config.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/source_tree.h"
#include "proxy/config/option_table.h"
#include "rules/plan.h"
#include "tests/support/temporary_directory.h"

namespace armgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Surroundings kSurroundings{.home = "/home/u", .shipped_rules = source_path("conf/rules")};

std::vector<std::string> texts_of(const rules::FaultList& faults) {
  std::vector<std::string> texts;
  for (const rules::Fault& fault : faults) texts.push_back(rules::to_text(fault));
  return texts;
}

Config good(std::string_view text) {
  LoadedConfig loaded = parse_config("/etc/armgate/a.json", text, kSurroundings);
  EXPECT_THAT(texts_of(loaded.faults), IsEmpty());
  return std::move(loaded.config);
}

TEST(Config, OptionsReachTheirPlaces) {
  const Config config = good(R"({
    "$schema": "x",
    "mode": "off", "threads": 3, "drain_delay": "4s", "drain_max": "0s",
    "listen": {"proxy": "[::1]:0", "tls": "127.0.0.1:8443", "admin": "127.0.0.1:9478"},
    "intercept": ["ARM.example.com", "*.arm.example.com"],
    "hosts": {"Arm.Example.com": {"address": "10.0.0.4:443", "ca_file": "ca.pem"}, "b.arm.example.com": {}},
    "allow_connect_to": ["127.0.0.1", "::1", "localhost"],
    "clients": {"nightly": {"actor": "single"}, "builds": {"actor": "many"}, "spinnaker": {}},
    "queue": {"wait_max": "500ms", "waiters_per_key": 5},
    "history": {"client_bytes": "1KiB", "total_bytes": "2MiB"},
    "log": {"level": "warning"}})");
  EXPECT_EQ(config.mode, rules::Mode::Off);
  EXPECT_EQ(config.threads, 3);
  EXPECT_EQ(config.drain_delay, seconds(4));
  EXPECT_EQ(config.drain_max, seconds(0));
  EXPECT_EQ(config.listen.proxy, "[::1]:0");
  EXPECT_EQ(config.listen.tls, "127.0.0.1:8443");
  EXPECT_EQ(config.listen.admin, "127.0.0.1:9478");
  EXPECT_THAT(config.intercept, ElementsAre("arm.example.com", "*.arm.example.com"));
  ASSERT_EQ(config.hosts.size(), 2u);
  EXPECT_EQ(config.hosts.at("arm.example.com").address, "10.0.0.4:443");
  EXPECT_EQ(config.hosts.at("arm.example.com").ca_file, "/etc/armgate/ca.pem");
  EXPECT_EQ(config.hosts.at("b.arm.example.com").address, "");
  EXPECT_THAT(config.allow_connect_to, ElementsAre("127.0.0.1", "::1", "localhost"));
  EXPECT_EQ(config.clients.at("nightly").actor, policy::Actors::Single);
  EXPECT_EQ(config.clients.at("builds").actor, policy::Actors::Many);
  EXPECT_EQ(config.clients.at("spinnaker").actor, policy::Actors::Unknown);
  EXPECT_EQ(config.queue.wait_max, milliseconds(500));
  EXPECT_EQ(config.queue.waiters_per_key, 5u);
  EXPECT_EQ(config.history.client_bytes, 1024u);
  EXPECT_EQ(config.history.total_bytes, 2u << 20);
  EXPECT_EQ(config.log.level, LogLevel::Warning);
}

TEST(Config, PathsAreRelativeToTheFileOrToTheHome) {
  const Config config = good(R"({"ca": {"directory": "../ca"},
    "upstream": {"ca_file": "/abs/x.pem", "proxy": "me@corp", "proxy_password_file": "password", "proxy_ca_file": "~/corp.pem"},
    "rules": ["mine", "shipped", "~/more.json", "./shipped", "shipped/optional/x.json"], "log": {"file": "~/a.log"}})");
  EXPECT_EQ(config.ca.directory, "/etc/ca");
  EXPECT_EQ(config.upstream.ca_file, "/abs/x.pem");
  EXPECT_EQ(config.upstream.proxy_password_file, "/etc/armgate/password");
  EXPECT_EQ(config.upstream.proxy_ca_file, "/home/u/corp.pem");
  EXPECT_EQ(config.log.file, "/home/u/a.log");
  EXPECT_THAT(config.rule_paths, ElementsAre("/etc/armgate/mine", source_path("conf/rules"), "/home/u/more.json",
                                             "/etc/armgate/shipped", source_path("conf/rules/optional/x.json")));
  EXPECT_EQ(good("{}").ca.directory, "/home/u/.armgate/ca");
  EXPECT_EQ(good("{}").log.file, "");
}

TEST(Config, EachFaultIsReportedAtItsPlaceWithARemedy) {
  struct Case {
    std::string line_two;
    std::string pointer;
    std::string message;
  };
  for (
      const Case& c : std::vector<Case>{
          {R"("mdoe": "off")", "/mdoe", R"(did you mean "mode"?)"},
          {R"("mode": "guard")", "/mode", R"(valid here: "protect", "observe" and "off")"},
          {R"("threads": -1)", "/threads", "a whole number from 0 to 256, but is the number -1"},
          {R"("threads": 257)", "/threads", "from 0 to 256"},
          {R"("threads": "2")", "/threads", R"(but is the text "2")"},
          {R"("threads": 1, "threads": 2)", "/threads", "a second time, first on line 2"},
          {R"("listen": {"proxy": "8080"})", "/listen/proxy", R"("8080" is not "host:port")"},
          {R"("listen": {"proxy": ""})", "/listen/proxy", "is not \"host:port\""},
          {R"("listen": {"proxy": "::1:80"})", "/listen/proxy", "is not \"host:port\""},
          {R"("listen": {"proxy": "[localhost]:80"})", "/listen/proxy", "is not \"host:port\""},
          {R"("listen": {"proxy": "localhost:65536"})", "/listen/proxy", "is not \"host:port\""},
          {R"("listen": {"proxy": "localhost:8o"})", "/listen/proxy", "is not \"host:port\""},
          {R"("listen": {"proxy": "localhost:80"})", "/listen/proxy", R"("localhost:80" names a host)"},
          {R"("listen": {"tls": "arm.example.com:443"})", "/listen/tls", R"("arm.example.com:443" names a host)"},
          {R"("listen": {"proxy": ":80"})", "/listen/proxy", "is not \"host:port\""},
          {R"("listen": {"tls": "x y:1"})", "/listen/tls", "is not \"host:port\""},
          {R"("listen": {"htpp": ""})", "/listen/htpp", R"(valid here: "proxy", "tls" and "admin")"},
          {R"("intercept": [])", "/intercept", "must name at least 1"},
          {R"("intercept": ["*"])", "/intercept/0", "is not a host name"},
          {R"("intercept": ["*.*.com"])", "/intercept/0", "is not a host name"},
          {R"("intercept": ["10.0.0.1"])", "/intercept/0", "is not a host name"},
          {R"("intercept": ["a.com", "A.com"])", "/intercept/1", "in this list already"},
          {R"("hosts": {"a b": {}})", "/hosts/a b", "is not a host name"},
          {R"("hosts": {"a.com": "10.0.0.1"})", "/hosts/a.com", "must be an object"},
          {R"("hosts": {"a.com": {"addres": "x"}})", "/hosts/a.com/addres", R"(did you mean "address"?)"},
          {R"("hosts": {"a.com": {"address": "a.com:0"}})", "/hosts/a.com/address", "has port 0"},
          {R"("hosts": {"a.com": {}, "A.com": {}})", "/hosts/a.com", "again"},
          {R"("hosts": {"managment.azure.com": {"ca_file": "a.pem"}})", "/hosts/managment.azure.com/ca_file", "is of no use"},
          {R"("intercept": ["AzureUSGoverment"])", "/intercept/0", "is no cloud that is known here: AzureCloud, AzureUSGov"},
          {R"("upstream": {"proxy": "https://corp:3128"})", "/upstream/proxy", R"("***" names a proxy that is no HTTP proxy)"},
          {R"("upstream": {"proxy": "http://me:SECRET@corp:3128"})", "/upstream/proxy", "has a password in it"},
          {R"("upstream": {"proxy": "http://me:SECRET@co rp"})", "/upstream/proxy", "names no host and port"},
          {R"("upstream": {"proxy": "http://localhost:8080"})", "/upstream/proxy", "is where armgate itself listens"},
          {R"("listen": {"admin": "0.0.0.0:99"}, "upstream": {"proxy": "127.0.0.1:99"})", "/upstream/proxy", "itself listens"},
          {R"("upstream": {"proxy_password_file": "p"})", "/upstream/proxy_password_file", "belongs to no proxy"},
          {R"("upstream": {"proxy": "corp:3128", "proxy_password_file": "p"})", "/upstream/proxy_password_file",
           "belongs to no user"},
          {R"("upstream": {"no_proxy": ["10.0.0.0/40"]})", "/upstream/no_proxy/0", "is no host, domain, address or block"},
          {R"("allow_connect_to": ["10.0.0.0/8"])", "/allow_connect_to/0", "is not a host name or an address"},
          {R"("clients": {"": {}})", "/clients/", "must not be empty"},
          {R"("clients": {"x": {"actor": "one"}})", "/clients/x/actor", R"(valid here: "unknown", "single" and "many")"},
          {R"("limits": {"head_bytes": 65536})", "/limits/head_bytes", R"(from "1KiB" to "1MiB", but is the number 65536)"},
          {R"("limits": {"head_bytes": "2MiB"})", "/limits/head_bytes", R"(to "1MiB")"},
          {R"("limits": {"head_bytes": "64kb"})", "/limits/head_bytes", R"(a size in B, KiB, MiB or GiB)"},
          {R"("limits": {"target_bytes": "128KiB"})", "/limits/target_bytes", "is more than /limits/head_bytes"},
          {R"("limits": {"request_bodies_total": "4MiB"})", "/limits/request_body_bytes",
           "is more than /limits/request_bodies_total"},
          {R"("core_dumps": "yes")", "/core_dumps", R"("off" and "on")"},
          {R"("queue": {"wait_max": "50"})", "/queue/wait_max", "a duration in ms, s, m or h"},
          {R"("queue": {"waiters_per_key": 200000})", "/queue/waiters_per_key", "is more than /queue/waiters_total"},
          {R"("history": {"client_bytes": "1GiB"})", "/history/client_bytes", "is more than /history/total_bytes"},
          {R"("history": {"observation_age": "1m"})", "/history/think_max", "/history/observation_age"},
          {R"("history": {"insist_after": "5m"})", "/history/insist_after",
           "is no key any more; delete it: a client that reads again after a 412 is let through at once, and one that never reads "
           "by the same bytes after one 412"},
          {R"("rules": [""])", "/rules/0", "must not be empty"},
          {R"("ca": {"directory": ""})", "/ca/directory", "must not be empty"},
          {R"("log": {"level": "warn"})", "/log/level", R"(valid here: "debug", "info", "warning" and "error")"},
      }) {
    SCOPED_TRACE(c.line_two);
    const auto loaded = parse_config("a.json", "{ // options\n" + c.line_two + "}", kSurroundings);
    ASSERT_EQ(loaded.faults.size(), 1u) << testing::PrintToString(texts_of(loaded.faults));
    EXPECT_EQ(loaded.faults[0].file, "a.json");
    EXPECT_EQ(loaded.faults[0].line, 2);
    EXPECT_EQ(loaded.faults[0].pointer, c.pointer);
    EXPECT_THAT(loaded.faults[0].message, HasSubstr(c.message));
    EXPECT_THAT(loaded.faults[0].message, Not(HasSubstr("SECRET")));
  }
}

TEST(Config, CloudsAreNamedAsTheAzureCliNamesThem) {
  EXPECT_EQ(good(R"({"intercept": ["AzureCloud"]})").intercept, Config().intercept);
  EXPECT_THAT(good(R"({"intercept": ["azurechinacloud", "AzureStack:local.azurestack.external", "arm.example"]})").intercept,
              ElementsAre("management.chinacloudapi.cn", "*.management.chinacloudapi.cn",
                          "management.local.azurestack.external", "adminmanagement.local.azurestack.external", "arm.example"));
  EXPECT_THAT(good(R"({"intercept": ["management.azure.com", "AzureCloud"]})").intercept,
              ElementsAre("management.azure.com", "*.management.azure.com"));
}

TEST(Config, HostsThatAreOnlyTunnelledMayBeReachedElsewhereToo) {
  EXPECT_EQ(good(R"({"hosts": {"login.microsoftonline.com": {"address": "10.0.0.5:443"}}})").hosts.size(), 1u);
}

TEST(Config, AFileThatCannotBeReadIsNamed) {
  const auto loaded = load_config("/nonexistent/a.json", kSurroundings);
  ASSERT_EQ(loaded.faults.size(), 1u);
  EXPECT_EQ(rules::to_text(loaded.faults[0]), "/nonexistent/a.json: cannot open: No such file or directory");
  EXPECT_EQ(loaded.config.source, "/nonexistent/a.json");
}

TEST(Config, FaultsOfTheFileAndOfItsRuleFilesComeTogether) {
  const TemporaryDirectory directory;
  directory.write("rules/b.json", R"({"rules": [{"name": "b"}]})");
  directory.write("rules/a.json", "{");
  directory.write("rules/ignored.txt", "no JSON");
  const auto file = directory.write("armgate.json", "{\"mode\": 1,\n\"rules\": [\"rules\",\n\"gone.json\", \"empty\"]}");
  std::filesystem::create_directory(directory.path() / "empty");

  const auto faults = texts_of(load_config(file, kSurroundings).faults);
  const std::string here = directory.path().string();
  EXPECT_THAT(faults,
              ElementsAre(HasSubstr(here + "/armgate.json:1: /mode: must be \"protect\" or \"observe\" or \"off\", but is"),
                          HasSubstr(here + "/rules/a.json:1: is not valid JSON"),
                          HasSubstr(here + "/rules/b.json:1: /rules/0: \"match/types\" is missing"),
                          HasSubstr(here + "/armgate.json:3: /rules/1: there is no file or directory"),
                          HasSubstr(here + "/armgate.json:3: /rules/2: the directory")));
}

TEST(Config, OwnRulesComeBeforeShippedOnesInTheOrderOfTheList) {
  const TemporaryDirectory directory;
  directory.write("mine.json", R"({"rules": [{"name": "mine", "match": {"types": ["Microsoft.Compute/*"]}}],
    "errors": [{"class": "busy", "status": [409], "codes": ["MineIsBusy"]}]})");
  const auto file =
      directory.write("armgate.json", R"({"rules": ["mine.json", "shipped/optional/azurerm-parity.json", "shipped"]})");
  const auto loaded = load_config(file, kSurroundings);
  EXPECT_THAT(texts_of(loaded.faults), IsEmpty());
  ASSERT_GT(loaded.config.rules.size(), 1u);
  EXPECT_EQ(loaded.config.rules[0].name, "mine");
  EXPECT_EQ(loaded.config.rules[1].name, "azurerm-virtual-networks");
  ASSERT_GT(loaded.config.errors.size(), 1u);
  EXPECT_THAT(loaded.config.errors[0].codes, ElementsAre("MineIsBusy"));
  EXPECT_EQ(loaded.config.source, file.string());
}

// armgate's tests prove the shipped ones (rules_test, "ShippedRules").
TEST(Config, CasesOfOnesOwnFilesAreTriedAtEachStartAndThoseOfShippedOnesWhenAsked) {
  const TemporaryDirectory directory;
  const std::string wrong = R"({"rules": [{"name": "NAME", "match": {"types": ["A.B/*"]}}],
    "cases": [{"request": "PUT /subscriptions/s/resourceGroups/g/providers/A.B/c/d?api-version=1", "rule": "other"}]})";
  directory.write("mine.json", wrong);
  directory.write("shipped/a.json", wrong);
  const Surroundings surroundings{.home = "/home/u", .shipped_rules = directory.path() / "shipped"};
  const auto faults_of = [&](const std::string& rules, RuleFiles how) {
    const auto file = directory.write("armgate.json", fmt::format(R"({{"rules": [{}]}})", rules));
    return texts_of(load_config(file, surroundings, how).faults);
  };
  EXPECT_THAT(faults_of("\"shipped\"", RuleFiles::Load), IsEmpty());
  EXPECT_THAT(faults_of("\"shipped\"", RuleFiles::Prove), ElementsAre(HasSubstr("shipped/a.json:2: /cases/0/rule")));
  for (const RuleFiles how : {RuleFiles::Load, RuleFiles::Prove})
    EXPECT_THAT(faults_of("\"mine.json\"", how), ElementsAre(HasSubstr("mine.json:2: /cases/0/rule")));
}

TEST(Config, UnruledLimitsTheRulesForAnyTypeAndNoOthers) {
  const TemporaryDirectory directory;
  directory.write("mine.json", R"({"rules": [{"name": "mine", "match": {"types": ["A.B/*"]}},
                                             {"name": "none", "match": {"types": ["*"]}, "mode": "off"}]})");
  for (const auto& [asked, most] :
       {std::pair{"protect", rules::Mode::Protect}, {"observe", rules::Mode::Observe}, {"off", rules::Mode::Off}}) {
    const auto file =
        directory.write("armgate.json", fmt::format(R"({{"unruled": "{}", "rules": ["mine.json", "shipped"]}})", asked));
    const LoadedConfig loaded = load_config(file, kSurroundings);
    EXPECT_THAT(texts_of(loaded.faults), IsEmpty());
    for (const rules::Rule& rule : loaded.config.rules) {
      // "none" said less by itself.
      const auto expected = rule.name == "unruled"                                     ? most
                            : rule.name == "none" || rule.name.starts_with("paths-to") ? rules::Mode::Off
                                                                                       : rules::Mode::Protect;
      EXPECT_EQ(rule.mode.value_or(rules::Mode::Protect), expected) << rule.name;
    }
  }
}

// For one provider: a rule of one's own behind the shipped ones.
TEST(Config, OneProviderCanBeExceptedFromTheRuleForAnyType) {
  for (const auto& [said, mode] : {std::pair{"observe", rules::Mode::Observe}, {"off", rules::Mode::Off}}) {
    const TemporaryDirectory directory;
    directory.write(
        "sql.json",
        fmt::format(R"({{"rules": [{{"name": "sql", "match": {{"types": ["Microsoft.Sql/*"]}}, "mode": "{}"}}]}})", said));
    const auto file = directory.write("armgate.json", R"({"rules": ["shipped", "sql.json"]})");
    const LoadedConfig loaded = load_config(file, kSurroundings);
    EXPECT_THAT(texts_of(loaded.faults), IsEmpty());
    const rules::Ruleset rules(loaded.config.rules);
    const auto rule_of = [&](const char* type) { return rules.find(type, "2023-08-01"); };
    EXPECT_EQ(rule_of("microsoft.sql/servers/databases")->mode, mode);
    EXPECT_NE(rule_of("microsoft.sql/servers/firewallrules")->name, "unruled");
    EXPECT_EQ(rule_of("microsoft.search/searchservices")->name, "unruled");
    EXPECT_EQ(rule_of("microsoft.storage/storageaccounts")->name, "storage-accounts");
  }
}

TEST(Config, TheSameRuleFileTwiceIsRefused) {
  const TemporaryDirectory directory;
  directory.write("mine.json", R"({"rules": [{"name": "mine", "match": {"types": ["A.B/c"]}}]})");
  const auto file = directory.write("armgate.json", R"({"rules": ["mine.json", "./mine.json"]})");
  const auto faults = texts_of(load_config(file, kSurroundings).faults);
  EXPECT_THAT(faults, ElementsAre(HasSubstr("/rules/1: \"" + (directory.path() / "mine.json").string() +
                                            "\" is read already because of /rules/0; name it once")));
  std::filesystem::create_directory(directory.path() / "mine");
  std::filesystem::create_symlink("../mine.json", directory.path() / "mine/a.json");
  directory.write("armgate.json", R"({"rules": ["mine", "mine/a.json"]})");
  EXPECT_THAT(texts_of(load_config(file, kSurroundings).faults), ElementsAre(HasSubstr("because of /rules/0")));
}

// Emacs makes dangling links ".#a.json", and others copies ".a.json".
TEST(Config, HiddenFilesOfEditorsAreNoRuleFiles) {
  const TemporaryDirectory directory;
  const std::string rule = R"({"rules": [{"name": "mine", "match": {"types": ["A.B/c"]}}]})";
  directory.write("mine/a.json", rule);
  directory.write("mine/.a.json", rule);
  std::filesystem::create_symlink("me@here.4711", directory.path() / "mine/.#a.json");
  const auto file = directory.write("armgate.json", R"({"rules": ["mine"]})");
  const auto loaded = load_config(file, kSurroundings);
  EXPECT_THAT(texts_of(loaded.faults), IsEmpty());
  EXPECT_EQ(loaded.config.rules.size(), 1u);
}

TEST(Config, APipeIsRefusedByNameAndNotWaitedFor) {
  const TemporaryDirectory directory;
  const auto pipe = directory.path() / "mine.json";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto file = directory.write("armgate.json", R"({"rules": ["mine.json", "/dev/null"]})");
  EXPECT_THAT(texts_of(load_config(file, kSurroundings).faults),
              ElementsAre(HasSubstr("/rules/0: " + pipe.string() + " is no regular file"),
                          HasSubstr("/rules/1: /dev/null is no regular file")));
  EXPECT_THAT(texts_of(load_config(pipe, kSurroundings).faults), ElementsAre(HasSubstr("is no regular file")));
}

TEST(Config, ADirectoryOfRulesThatCannotBeReadIsNotTakenForEmpty) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const TemporaryDirectory directory;
  directory.write("mine/a.json", "{}");
  const auto file = directory.write("armgate.json", R"({"rules": ["mine", "mine/a.json"]})");
  ASSERT_EQ(::chmod((directory.path() / "mine").c_str(), 0000), 0);
  const auto faults = texts_of(load_config(file, kSurroundings).faults);
  ASSERT_EQ(::chmod((directory.path() / "mine").c_str(), 0700), 0);
  EXPECT_THAT(faults, ElementsAre(AllOf(HasSubstr("cannot read the directory"), HasSubstr("Permission denied")),
                                  HasSubstr("Permission denied")));
}

TEST(Config, WhatIsWrittenHasAFileOfItsOwn) {
  const auto faults_of = [](const char* text) {
    return texts_of(parse_config("/etc/armgate/a.json", text, kSurroundings).faults);
  };
  EXPECT_THAT(faults_of(R"({"log": {"file": "./a.json"}})"),
              ElementsAre(HasSubstr("/log/file: is the file of the configuration itself too; name another")));
  EXPECT_THAT(faults_of(R"({"log": {"file": "j"}, "journal": {"file": "j"}})"),
              ElementsAre(HasSubstr("/log/file: is the file of /journal/file too")));
  EXPECT_THAT(faults_of(R"({"log": {"file": "ca/ca.pem"}, "ca": {"directory": "ca"}})"),
              ElementsAre(HasSubstr("/log/file: is the file of the authority in /ca/directory too")));
  EXPECT_THAT(faults_of(R"({"journal": {"file": "c.pem"}, "upstream": {"ca_file": "c.pem"}})"),
              ElementsAre(HasSubstr("/journal/file: is the file of /upstream/ca_file too")));
}

TEST(Config, WhatIsWrittenHasAFileOfItsOwnUnderAllItsNames) {
  const TemporaryDirectory directory;
  directory.write("rules/a.json", R"({"rules": []})");
  directory.write("c.pem", "x");
  std::filesystem::create_symlink("c.pem", directory.path() / "link");
  const auto faults_of = [&](const std::string& text) {
    return texts_of(parse_config((directory.path() / "a.json").string(), text, kSurroundings).faults);
  };
  for (const char* suffix : {"-wal", "-shm", "-lock"}) {
    EXPECT_THAT(faults_of(fmt::format(R"({{"log": {{"file": "j{}"}}, "journal": {{"file": "j"}}}})", suffix)),
                ElementsAre(HasSubstr("/log/file: is the file of /journal/file too")));
  }
  EXPECT_THAT(faults_of(R"({"log": {"file": "link"}, "upstream": {"ca_file": "c.pem"}})"),
              ElementsAre(HasSubstr("/log/file: is the file of /upstream/ca_file too")));
  EXPECT_THAT(faults_of(R"({"log": {"file": "rules/log"}, "rules": ["rules"]})"),
              ElementsAre(HasSubstr("/log/file: lies in a directory of /rules")));
}

TEST(Config, AMistypedUrlOfTheEngineIsNotRepeatedWithItsPassword) {
  const auto faults =
      texts_of(parse_config("a.json", R"({"cluster": {"engine": "postgresq://u:secretpw@h/db"}})", kSurroundings).faults);
  EXPECT_THAT(faults, ElementsAre(AllOf(HasSubstr("***"), Not(HasSubstr("secretpw")))));
}

TEST(Config, OptionsThatDoNotGoTogetherAreNamedBesideOtherFaultsIfTheyAreSound) {
  const auto loaded = parse_config("a.json",
                                   R"({"mode": 1, "history": {"think_max": "2h", "observation_age": "1h"},
    "queue": {"waiters_per_key": 90, "waiters_total": "few"}})",
                                   kSurroundings);
  EXPECT_THAT(texts_of(loaded.faults), ElementsAre(HasSubstr("/mode: "), HasSubstr("/queue/waiters_total: must be"),
                                                   HasSubstr("/history/think_max: is longer than")));
}

TEST(Config, AClientThatCannotComeIsAFaultAndOthersAreNot) {
  const auto loaded = parse_config(
      "a.json", "{\"clients\": {\n\"a:b\": {},\n\"build agent\": {}, \"stra\u00dfe\": {}, \"a%20b\": {}}}", kSurroundings);
  EXPECT_THAT(texts_of(loaded.faults), ElementsAre(HasSubstr("a.json:2: /clients/a:b: \"a:b\" is no client's name: ")));
  EXPECT_EQ(parse_config("a.json", "{\"clients\": {\"a\\tb\": {}}}", kSurroundings).faults.size(), 1u);
}

TEST(Config, WithoutAFileTheDefaultsAndTheShippedRulesHold) {
  const auto loaded = load_config({}, kSurroundings);
  EXPECT_THAT(texts_of(loaded.faults), IsEmpty());
  EXPECT_EQ(loaded.config.source, "");
  EXPECT_FALSE(loaded.config.rules.empty());
  EXPECT_EQ(loaded.config.listen.proxy, "127.0.0.1:8080");
}

}  // namespace
}  // namespace armgate
