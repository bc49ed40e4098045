// The command line: what each command does, and how it ends.
#include "proxy/cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "proxy/option_table.h"
#include "tests/support/temporary_directory.h"

namespace armgate {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr WallTime kNow = WallTime(std::chrono::seconds(1767225600));  // 2026-01-01

class Cli : public testing::Test {
 protected:
  // Runs "armgate" with these words; what it wrote is in out and err, and what it would have run in run_with.
  int run(const std::vector<std::string>& words) {
    out.str("");
    err.str("");
    run_with.reset();
    asked.reset();
    within.clear();
    std::vector<const char*> argv{"armgate"};
    for (const std::string& word : words) argv.push_back(word.c_str());
    const CliContext context{
        .surroundings = {.home = directory.path() / "home", .shipped_rules = ARMGATE_SOURCE_DIR "/conf/rules"},
        .default_config = directory.path() / "etc" / "armgate.json",
        .wall = kNow,
        .environment = environment,
        .session = "77",
        .run =
            [this](const Config& config, LoadAgain again) {
              run_with = config;
              load_again = std::move(again);
              if (while_running) while_running();
              return run_result;
            },
        .exec =
            [this](const Config& config, const ExecRequest& request) {
              run_with = config;
              asked = request;
              if (while_running) while_running();
              return run_result;
            },
        .exec_within =
            [this](const ExecRequest& request, const std::string& proxy) {
              asked = request;
              within = proxy;
              return run_result;
            },
        .out = out,
        .err = err,
    };
    return run_cli(static_cast<int>(argv.size()), argv.data(), context);
  }

  const TemporaryDirectory directory;
  std::ostringstream out, err;
  Environment environment{{"PATH", "/bin"}};
  std::optional<Config> run_with;
  LoadAgain load_again;
  std::function<void()> while_running;
  std::optional<ExecRequest> asked;
  std::string within;
  int run_result = kExitDone;
};

TEST_F(Cli, WrongCommandLineEndsWithTwoAndRunsNothing) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{},
                                             {"rum"},
                                             {"run", "--no-such-flag"},
                                             {"run", "--config"},
                                             {"run", "extra"},
                                             {"ca"},
                                             {"ca", "show-me"},
                                             {"check", "run"},
                                             {"check", "--listen", "x:1"},
                                             {"run", "--mode", "bogus"},
                                             {"run", "--listen", "nowhere"},
                                             {"run", "--", "ls"},
                                             {"exec"},
                                             {"exec", "--"},
                                             {"exec", "--", ""},
                                             {"exec", "ls"},
                                             {"exec", "--mode", "on", "--", "ls"},
                                             {"exec", "--name", "a b", "--", "ls"},
                                             {"exec", "--actor", "two", "--", "ls"},
                                             {"env", "--shell", "csh"}}) {
    SCOPED_TRACE(testing::PrintToString(words));
    EXPECT_EQ(run(words), kExitUsage);
    EXPECT_FALSE(run_with);
    EXPECT_THAT(out.str(), IsEmpty());
    EXPECT_FALSE(err.str().empty());
  }
}

TEST_F(Cli, VersionHelpAndDefaultsGoToStandardOutput) {
  EXPECT_EQ(run({"--version"}), kExitDone);
  EXPECT_EQ(out.str(), "armgate " ARMGATE_VERSION "\n");
  EXPECT_EQ(run({"--help"}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("Exit codes: 0 done, 1 bad input"));
  EXPECT_EQ(run({"--print-defaults"}), kExitDone);
  EXPECT_EQ(out.str(), print_defaults());
}

TEST_F(Cli, CheckWarnsOfRulesThatGetInEachOthersWayAndStillCallsThemGood) {
  std::ofstream(directory.path() / "own.json") << R"({"rules": [
    {"name": "mine", "match": {"types": ["Microsoft.Network/*"]}}
  ]})";
  std::ofstream(directory.path() / "armgate.json") << R"({"rules": ["own.json", "shipped"]})";
  EXPECT_EQ(run({"check", "--config", (directory.path() / "armgate.json").string()}), kExitDone);
  EXPECT_THAT(err.str(), HasSubstr("network.json:"));
  EXPECT_THAT(err.str(), HasSubstr("warning: rule \"network\" never decides: rule \"mine\" at " + (directory.path() / "own.json").string() + ":2"));
  EXPECT_THAT(out.str(), HasSubstr(" warnings\n"));
}

TEST_F(Cli, ExplainSaysWhatWouldBeDoneAndWhoSaysSo) {
  const std::string path = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n?api-version=2023-09-01";
  EXPECT_EQ(run({"explain", "PUT", "https://management.azure.com" + path}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("etag: carries the ETag"));
  EXPECT_THAT(out.str(), HasSubstr("conf/rules/network.json:"));
  EXPECT_THAT(out.str(), HasSubstr("50s at most   [the configuration]"));
  EXPECT_THAT(err.str(), IsEmpty());

  const auto body = directory.path() / "body.json";
  std::ofstream(body) << R"({"etag": "W/\"7\"", "properties": {}})";
  EXPECT_EQ(run({"explain", "PUT", path, "--body", body.string(), "--client", "nightly", "--output", "json"}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr(R"("value": "W/\"7\": goes along as If-Match")"));
  EXPECT_THAT(out.str(), HasSubstr(R"("value": "nightly, any number of actors")"));
  EXPECT_THAT(out.str(), StartsWith("{\n  \"resource\": {\n    \"value\": \"/subscriptions/s/resourcegroups/g/"));

  const std::string subnet = path.substr(0, path.find('?')) + "/subnets/a?api-version=2023-09-01";
  const std::string group = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkSecurityGroups/nsg";
  std::ofstream(body) << R"({"properties": {"networkSecurityGroup": {"id": ")" << group << "\"}}}";
  EXPECT_EQ(run({"explain", "PUT", subnet, "--body", body.string()}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("/networksecuritygroups/nsg (shared, until the "));
  EXPECT_EQ(run({"explain", "PUT", subnet}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("give it with --body to see"));

  EXPECT_EQ(run({"explain", "GET", "https://login.microsoftonline.com/x"}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("tunnelled untouched"));
}

TEST_F(Cli, ExplainSaysWhatAPutWasBuiltFromAndWhy) {
  const std::string path = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n?api-version=2023-09-01";
  const auto write = [&](const char* name, std::string_view text) {
    std::ofstream(directory.path() / name) << text;
    return (directory.path() / name).string();
  };
  const auto first = write("first.json", R"({"etag":"W/\"1\"","location":"w","tags":{"a":"1"},"properties":{}})");
  const auto second = write("second.json", R"({"etag":"W/\"2\"","location":"w","tags":{"a":"1","b":"1"},"properties":{}})");
  const auto body = write("put.json", R"({"location":"w","tags":{"a":"1","b":"1","mine":"1"},"properties":{}})");
  EXPECT_EQ(run({"explain", "PUT", path, "--body", body, "--shown", first, "--shown", second}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("first.json: the body was not built on it; they differ at /tags/b, /tags/mine"));
  EXPECT_THAT(out.str(), HasSubstr("second.json: the body agrees with it; they differ at /tags/mine"));
  EXPECT_THAT(out.str(), HasSubstr("shown 2 (by content): it is sent with If-Match W/\"2\""));

  EXPECT_EQ(run({"explain", "PUT", path, "--body", body, "--shown", "404", "--shown", first}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("404: the body was not built on it\n")) << "it has all that is there";
  EXPECT_THAT(out.str(), HasSubstr("shown 2 (by content)"));
  EXPECT_EQ(run({"explain", "PUT", path, "--body", body, "--shown", "404"}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("shown 1 (by create): it is sent as a create"));

  EXPECT_EQ(run({"explain", "PATCH", path, "--body", body, "--shown", first}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("does not matter: only a full PUT"));
  EXPECT_EQ(run({"explain", "PUT", path, "--body", body, "--shown", "/no/such/file"}), kExitBadInput);
}

TEST_F(Cli, ExplainKnowsThePortThatIsLookedIntoAndWhereAHostIsReached) {
  const std::string path = "/subscriptions/s?api-version=2021-04-01";
  EXPECT_EQ(run({"explain", "GET", "https://management.azure.com:8443" + path}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("management.azure.com:8443"));
  EXPECT_THAT(out.str(), HasSubstr("tunnelled untouched: only port 443 of the hosts in intercept is looked into"));
  EXPECT_EQ(run({"explain", "GET", "https://management.azure.com:443" + path}), kExitDone);
  EXPECT_THAT(out.str(), Not(HasSubstr("tunnelled")));
  EXPECT_THAT(out.str(), Not(HasSubstr("reached at")));

  const auto file = directory.write("a.json", R"({"hosts": {"management.azure.com": {"address": "10.0.0.4:9443"}}})");
  EXPECT_EQ(run({"explain", "--config", file.string(), "GET", "https://management.azure.com" + path}), kExitDone);
  EXPECT_THAT(out.str(), ContainsRegex("reached at +10.0.0.4:9443   .the configuration."));
}

TEST_F(Cli, CheckLooksAtTheFilesThatOptionsName) {
  const auto file = directory.write("a.json", R"({"upstream": {"ca_file": "gone.pem"}, "log": {"file": "no/such/a.log"}})");
  EXPECT_EQ(run({"check", "--config", file.string()}), kExitBadInput);
  EXPECT_THAT(out.str(), IsEmpty());
  EXPECT_THAT(err.str(), HasSubstr(file.string() + ": /upstream/ca_file: "));
  EXPECT_THAT(err.str(), HasSubstr(file.string() + ": /log/file: "));
  EXPECT_THAT(err.str(), HasSubstr("armgate: 2 faults found; nothing was changed\n"));
}

TEST_F(Cli, OutputThatCannotBeWrittenIsAFailure) {
  out.setstate(std::ios::badbit);
  EXPECT_EQ(run({"check"}), kExitRuntime);
  EXPECT_THAT(err.str(), HasSubstr("cannot be written"));
}

TEST_F(Cli, WhatTheSystemRefusesIsToldInsteadOfEndingInACrash) {
  while_running = [] { throw std::runtime_error("epoll: Too many open files"); };
  EXPECT_EQ(run({"run"}), kExitRuntime);
  EXPECT_THAT(err.str(), HasSubstr("epoll: Too many open files"));
  EXPECT_EQ(run({"exec", "--", "true"}), kExitExecFailed);
}

TEST_F(Cli, ExplainTakesEveryBodyThatArmgateItselfWouldTake) {
  const auto body = directory.path() / "body.json";
  const std::string path = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n?api-version=2023-09-01";
  const auto explain_body_of = [&](size_t bytes) {
    std::ofstream(body) << std::string(bytes, ' ');
    return run({"explain", "PUT", path, "--body", body.string()});
  };
  EXPECT_EQ(explain_body_of(4u << 20), kExitDone) << err.str();
  EXPECT_EQ(explain_body_of((8u << 20) + 1), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("is larger than 8388608 bytes"));
}

TEST_F(Cli, ExplainRefusesWhatIsNoRequest) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"explain", "get", "/subscriptions"},
           {"explain", "GET", "subscriptions"},
           {"explain", "GET", "http://management.azure.com/"},
           {"explain", "PUT", "/subscriptions/s/../x?api-version=1"},
           {"explain", "PUT", "/subscriptions/s?api-version=1", "--body", "/no/such/file"}}) {
    SCOPED_TRACE(testing::PrintToString(words));
    EXPECT_EQ(run(words), kExitBadInput);
    EXPECT_THAT(out.str(), IsEmpty());
    EXPECT_FALSE(err.str().empty());
  }
  EXPECT_EQ(run({"explain", "GET"}), kExitUsage);
  EXPECT_EQ(run({"explain", "GET", "/", "--output", "yaml"}), kExitUsage);
}

TEST_F(Cli, AReloadReadsTheSameFilesWithTheSameFlags) {
  const auto file = directory.path() / "again.json";
  std::ofstream(file) << R"({"mode": "observe", "threads": 3})";
  while_running = [&] {
    EXPECT_EQ(run_with->mode, rules::Mode::Off);
    std::ofstream(file) << R"({"mode": "protect", "threads": 4})";
    const LoadedConfig again = load_again();
    EXPECT_TRUE(again.faults.empty());
    EXPECT_EQ(again.config.mode, rules::Mode::Off) << "the flag goes on overruling the file";
    EXPECT_EQ(changed_options(*run_with, again.config), std::vector<std::string>{"/threads"});
    std::ofstream(file) << "{\n  \"mode\": \"proect\"\n}";
    EXPECT_EQ(load_again().faults.at(0).line, 2);
  };
  EXPECT_EQ(run({"run", "--config", file.string(), "--mode", "off"}), kExitDone);
}

TEST_F(Cli, RunHandsTheConfigurationToTheServiceAndItsResultBack) {
  run_result = kExitRuntime;
  EXPECT_EQ(run({"run", "--mode", "off", "--listen", "0.0.0.0:9"}), kExitRuntime);
  ASSERT_TRUE(run_with);
  EXPECT_EQ(run_with->mode, rules::Mode::Off);
  EXPECT_EQ(run_with->listen.proxy, "0.0.0.0:9");
  EXPECT_FALSE(run_with->rules.empty());
  EXPECT_THAT(err.str(), HasSubstr("configuration from the built-in defaults"));
}

TEST_F(Cli, TheNamedFileComesBeforeTheDefaultOneAndThatBeforeTheBuiltIn) {
  const auto named = directory.write("named.json", R"({"threads": 3})");
  EXPECT_EQ(run({"run"}), kExitDone);
  EXPECT_EQ(run_with->threads, 0);

  const auto installed = directory.write("etc/armgate.json", R"({"threads": 2})");
  EXPECT_EQ(run({"run"}), kExitDone);
  EXPECT_EQ(run_with->threads, 2);
  EXPECT_THAT(err.str(), HasSubstr("configuration from " + installed.string()));

  EXPECT_EQ(run({"run", "--config", named.string()}), kExitDone);
  EXPECT_EQ(run_with->threads, 3);
  EXPECT_THAT(err.str(), HasSubstr("configuration from " + named.string()));
}

TEST_F(Cli, BadConfigurationStartsNothingAndEveryFaultIsPrinted) {
  const auto file = directory.write("a.json", "{\"mod\": 1,\n\"threads\": -1}");
  for (const char* command : {"run", "check"}) {
    SCOPED_TRACE(command);
    EXPECT_EQ(run({command, "--config", file.string()}), kExitBadInput);
    EXPECT_FALSE(run_with);
    EXPECT_THAT(out.str(), IsEmpty());
    EXPECT_THAT(err.str(), StartsWith(file.string() + ":1: /mod: \"mod\" is not a known key; did you mean \"mode\"?\n" +
                                      file.string() + ":2: /threads: must be a whole number from 0 to 256"));
    EXPECT_THAT(err.str(), HasSubstr("armgate: 2 faults found; nothing was changed\n"));
  }
  EXPECT_EQ(run({"run", "--mode", "maybe", "--listen", "nowhere"}), kExitUsage);
  EXPECT_THAT(err.str(), HasSubstr("--mode: \"maybe\" is not a valid value"));
  EXPECT_THAT(err.str(), HasSubstr("--listen: \"nowhere\" is not \"host:port\""));
  EXPECT_EQ(run({"check", "--config", "/nonexistent.json"}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("/nonexistent.json"));
}

TEST_F(Cli, CheckOfAGoodConfigurationSaysSoInOneLine) {
  const auto file = directory.write("a.json", R"({"listen": {"proxy": "127.0.0.1:1234"}})");
  EXPECT_EQ(run({"check", "--config", file.string()}), kExitDone);
  const std::string line = out.str();
  EXPECT_THAT(line, StartsWith("armgate: " + file.string() + ": good; mode protect, proxy on 127.0.0.1:1234, "));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_THAT(err.str(), IsEmpty());
  EXPECT_FALSE(run_with);
}

TEST_F(Cli, ExecHandsTheCommandOnWordByWord) {
  run_result = 42;
  EXPECT_EQ(run({"exec", "--", "/opt/my tool", "--help", "--", "[a,b]", ""}), 42);
  ASSERT_TRUE(asked);
  EXPECT_THAT(asked->words, testing::ElementsAre("/opt/my tool", "--help", "--", "[a,b]", ""));
  EXPECT_EQ(asked->name, "my-tool");
  EXPECT_EQ(asked->actor, policy::Actor::Single);
  EXPECT_EQ(asked->log_file, "");
  EXPECT_EQ(asked->environment, environment);
  EXPECT_THAT(out.str() + err.str(), IsEmpty());

  EXPECT_EQ(run({"exec", "--name", "nightly", "--actor", "many", "--log", "a.log", "--mode", "off", "--", "run"}), 42);
  EXPECT_EQ(asked->name, "nightly");
  EXPECT_EQ(asked->actor, policy::Actor::Many);
  EXPECT_EQ(asked->log_file, "a.log");
  EXPECT_EQ(run_with->mode, rules::Mode::Off);
}

TEST_F(Cli, ExecWithABadConfigurationIsNotTheCommandsFailure) {
  const auto file = directory.write("a.json", R"({"threads": -1})");
  EXPECT_EQ(run({"exec", "--config", file.string(), "--", "ls"}), kExitExecFailed);
  EXPECT_THAT(err.str(), HasSubstr("a.json:1: /threads"));
  EXPECT_FALSE(asked);
}

TEST_F(Cli, ExecWithinExecUsesTheGatewayThatIsThere) {
  environment["ARMGATE_ACTIVE"] = "127.0.0.1:4321";
  EXPECT_EQ(run({"exec", "--", "az", "login"}), kExitDone);
  EXPECT_EQ(within, "127.0.0.1:4321");
  EXPECT_EQ(asked->name, "az");
  EXPECT_FALSE(run_with);
  for (const std::vector<std::string>& own : std::vector<std::vector<std::string>>{
           {"--log", "a.log"}, {"--mode", "off"}, {"--actor", "single"}, {"--config", "a.json"}}) {
    SCOPED_TRACE(own.front());
    EXPECT_EQ(run({"exec", own[0], own[1], "--", "az"}), kExitExecFailed) << "it would not be obeyed";
    EXPECT_THAT(err.str(), HasSubstr("unset ARMGATE_ACTIVE"));
    EXPECT_FALSE(asked);
  }
}

TEST_F(Cli, EnvPrintsWhatLeadsToTheConfiguredListener) {
  const std::string place = (directory.path() / "ca").string();
  const auto file = directory.write("a.json", R"({"listen": {"proxy": "0.0.0.0:1234"}, "ca": {"directory": "ca"}})");
  EXPECT_EQ(run({"env", "--config", file.string()}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("make it with: armgate ca init"));
  ASSERT_EQ(run({"ca", "init", "--config", file.string()}), kExitDone);

  EXPECT_EQ(run({"env", "--config", file.string()}), kExitDone) << err.str();
  EXPECT_THAT(out.str(), HasSubstr("export HTTPS_PROXY='http://shell-77:x@127.0.0.1:1234'\n"));
  EXPECT_THAT(out.str(), HasSubstr("export SSL_CERT_FILE='" + place + "/bundle.pem'\n"));
  EXPECT_TRUE(std::filesystem::exists(place + "/bundle.pem"));
  EXPECT_EQ(run({"env", "--config", file.string(), "--name", "me", "--shell", "json"}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("\"https_proxy\": \"http://me:x@127.0.0.1:1234\""));

  const auto anywhere = directory.write("b.json", R"({"listen": {"proxy": "127.0.0.1:0"}, "ca": {"directory": "ca"}})");
  EXPECT_EQ(run({"env", "--config", anywhere.string()}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("listen.proxy has port 0"));
}

TEST_F(Cli, TheAuthorityIsMadeOnceAndFoundAgain) {
  const std::string place = (directory.path() / "ca").string();
  EXPECT_EQ(run({"ca", "path", "--directory", place}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("make it with: armgate ca init"));

  EXPECT_EQ(run({"ca", "init", "--directory", place}), kExitDone);
  const std::string root = out.str();
  EXPECT_TRUE(std::filesystem::exists(root.substr(0, root.size() - 1))) << root;
  EXPECT_EQ(run({"ca", "path", "--directory", place}), kExitDone);
  EXPECT_EQ(out.str(), root);

  EXPECT_EQ(run({"ca", "init", "--directory", place}), kExitBadInput);
  EXPECT_THAT(out.str(), IsEmpty());
  EXPECT_THAT(err.str(), HasSubstr(place));
  EXPECT_EQ(run({"ca", "init", "--force", "--directory", place}), kExitDone);
}

TEST_F(Cli, TheAuthorityNeedsNoRuleFiles) {
  directory.write("broken.json", "{");
  const auto file = directory.write("a.json", R"({"rules": ["gone.json", "broken.json"], "ca": {"directory": "ca"}})");
  EXPECT_EQ(run({"check", "--config", file.string()}), kExitBadInput);
  EXPECT_EQ(run({"ca", "init", "--config", file.string()}), kExitDone) << err.str();
  EXPECT_EQ(run({"ca", "path", "--config", file.string()}), kExitDone) << err.str();
  EXPECT_EQ(out.str(), (directory.path() / "ca" / "ca.pem").string() + "\n");

  const auto wrong = directory.write("b.json", R"({"intercept": ["10.0.0.1"], "ca": {"directory": "other"}})");
  EXPECT_EQ(run({"ca", "init", "--config", wrong.string()}), kExitBadInput) << "its hosts decide what it may sign";
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "other"));
}

TEST_F(Cli, TheAuthorityStandsWhereTheConfigurationSays) {
  EXPECT_EQ(run({"ca", "init"}), kExitDone);
  EXPECT_THAT(out.str(), StartsWith((directory.path() / "home/.armgate/ca/").string()));
  const auto file = directory.write("conf/a.json", R"({"ca": {"directory": "own"}})");
  EXPECT_EQ(run({"ca", "init", "--config", file.string()}), kExitDone);
  EXPECT_THAT(out.str(), StartsWith((directory.path() / "conf/own/").string()));
}

}  // namespace
}  // namespace armgate
