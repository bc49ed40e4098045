// The command line: what each command does, and how it ends.
#include "cli/cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "cli/ca/authority.h"
#include "json/tree.h"
#include "proxy/config/option_table.h"
#include "tests/cli/fixture.h"

namespace armgate {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST_F(Cli, WrongCommandLineEndsWithTwoAndRunsNothing) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{},
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
                                                                                     {"exec", "--name", "", "--", "ls"},
                                                                                     {"env", "--name", ""},
                                                                                     {"exec", "--actor", "two", "--", "ls"},
                                                                                     {"env", "--shell", "csh"}}) {
    SCOPED_TRACE(testing::PrintToString(words));
    EXPECT_EQ(run(words), kExitUsage);
    EXPECT_FALSE(run_with);
    EXPECT_THAT(out.str(), IsEmpty());
    EXPECT_FALSE(err.str().empty());
  }
}

TEST_F(Cli, WhatIsNoNumberIsRefused) {
  for (const char* const text : {"nan", "-NaN", "301", "10x", "6m", "500ms"})
    EXPECT_EQ(run({"cluster", "init", "--lease", text}), kExitUsage) << text;
  for (const char* const text : {"5", "1.5", "5s", "2m", "1500ms"}) {
    EXPECT_EQ(run({"cluster", "init", "--lease", text}), kExitBadInput) << text;
    EXPECT_THAT(err.str(), HasSubstr("names no cluster"));
  }
  EXPECT_EQ(run({"heal", "aks-system-pool", "/x", "--poll-s", "nan"}), kExitUsage);
}

TEST_F(Cli, AWrongWordIsNamedWithWhatWasMeant) {
  const struct {
    std::vector<std::string> words;
    std::string said;
  } cases[] = {
      {{"ruun"}, "\"ruun\" is no command; did you mean \"run\"?"},
      {{"run", "--cnfig", "x"}, "\"--cnfig\" is no flag here; did you mean \"--config\"?"},
      {{"check", "a.json"}, "\"a.json\" is not expected here; did you mean --config a.json?"},
      {{"ca", "shwo"}, "\"shwo\" is no command; did you mean \"show\"?"},
      {{"ca"}, "\"armgate ca\" needs a command behind it; valid here: \"init\""},
      {{"unlock", "--ouptut", "json"}, "\"--ouptut\" is no flag here; did you mean \"--output\"?"},
      {{"unlock"}, "RESOURCE is missing; write: armgate unlock RESOURCE"},
      {{"explain"}, "METHOD and URL are missing; write: armgate explain METHOD URL"},
      {{"explain", "PUT"}, "URL is missing; write: armgate explain METHOD URL"},
      {{"history", "--output", "yaml"}, "--output: \"yaml\" is not a valid value; valid here: \"text\" and \"json\""},
      {{"completion", "tcsh"}, "shell: \"tcsh\" is not a valid value; valid here: \"bash\", \"zsh\" and \"fish\""},
      {{"check", "--config"}, "--config: FILE is missing behind it; write --config FILE"},
      {{"exec", "az", "group", "list"}, "write \"--\" before the command: armgate exec -- az group list"},
      {{"explain", "--shown", "404", "PUT", "/x"}, "--shown has a meaning only together with --body"},
      {{"explain", "--body", "x", "--there", "404", "PUT", "/x"},
       "--there has a meaning only together with --body and --shown"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(run(c.words), kExitUsage) << c.said;
    EXPECT_THAT(err.str(), HasSubstr(c.said));
  }
}

TEST_F(Cli, AnotherProxyThatIsLeftOutIsNamed) {
  const auto file = directory.write("a.json", R"({"ca": {"directory": "ca"}})");
  ASSERT_EQ(run({"ca", "init", "--config", file.string()}), kExitDone);
  environment = {{"HTTPS_PROXY", "http://corp:3128"}};
  EXPECT_EQ(run({"env", "--shell", "bash", "--config", file.string()}), kExitDone);
  EXPECT_THAT(err.str(), HasSubstr("HTTPS_PROXY was set, and leads to armgate from now on"));
}

TEST_F(Cli, VersionHelpAndDefaultsGoToStandardOutput) {
  EXPECT_EQ(run({"--version"}), kExitDone);
  EXPECT_EQ(out.str(), "armgate " ARMGATE_VERSION "\n");
  EXPECT_EQ(run({"--help"}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("Exit codes: 0 done, 1 bad input"));
  EXPECT_EQ(run({"--print-defaults"}), kExitDone);
  EXPECT_EQ(out.str(), print_defaults());
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

TEST_F(Cli, AReloadReadsTheSameFilesWithTheSameFlags) {
  const auto file = directory.path() / "again.json";
  std::ofstream(file) << R"({"mode": "observe", "threads": 3})";
  while_running = [&] {
    EXPECT_EQ(run_with->mode, rules::Mode::Off);
    std::ofstream(file) << R"({"mode": "protect", "threads": 4})";
    const LoadedConfig again = load_again();
    EXPECT_TRUE(again.faults.empty());
    EXPECT_EQ(again.config.mode, rules::Mode::Off) << "the flag goes on overruling the file";
    EXPECT_EQ(again.kept, std::vector<std::string>{"--mode off of the command line goes before the file's protect"});
    EXPECT_EQ(changed_options(*run_with, again.config), std::vector<std::string>{"/threads"});
    std::ofstream(file) << R"({"mode": "off"})";
    EXPECT_TRUE(load_again().kept.empty()) << "they say the same";
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

TEST_F(Cli, DoctorEndsByWhatItFinds) {
  const auto file = directory.write("a.json", R"({"ca": {"directory": "ca"}})");
  EXPECT_EQ(run({"doctor", "--config", file.string()}), kExitBadInput);
  EXPECT_THAT(out.str(), AllOf(HasSubstr("FAILED   authority"), HasSubstr("FAILED   environment")));
  ASSERT_EQ(run({"ca", "init", "--config", file.string()}), kExitDone);
  environment["HTTPS_PROXY"] = "http://me:x@127.0.0.1:8080";  // PATH leads to no runtime: they are not there
  environment["PATH"] = "/nowhere";
  EXPECT_EQ(run({"doctor", "--config", file.string()}), kExitDone);
  EXPECT_THAT(out.str(), AllOf(HasSubstr("good     ARM          management.azure.com answers (200)"),
                               HasSubstr("skipped  node         not installed"), EndsWith("6 good, 0 to look at, 0 failed\n")));
  told_through = ProxiedAnswer{502, "", "ArmgateUpstreamUnreachable", "cannot connect"};
  EXPECT_EQ(run({"doctor", "--output", "json", "--config", file.string()}), kExitBadInput);
  EXPECT_EQ(nlohmann::json::parse(out.str()).at("well"), false);
}

TEST_F(Cli, ExecHandsTheCommandOnWordByWord) {
  run_result = 42;
  EXPECT_EQ(run({"exec", "--", "/opt/my tool", "--help", "--", "[a,b]", ""}), 42);
  ASSERT_TRUE(asked);
  EXPECT_THAT(asked->words, testing::ElementsAre("/opt/my tool", "--help", "--", "[a,b]", ""));
  EXPECT_EQ(asked->name, "my-tool");
  EXPECT_EQ(asked->actor, std::nullopt) << "as the configuration says of it";
  EXPECT_EQ(asked->log_file, "");
  EXPECT_EQ(asked->environment, environment);
  EXPECT_THAT(out.str(), IsEmpty());
  EXPECT_THAT(err.str(), HasSubstr("are protected")) << "the first time that this user runs it";

  EXPECT_EQ(run({"exec", "--name", "nightly", "--actor", "many", "--log", "a.log", "--mode", "off", "--", "run"}), 42);
  EXPECT_EQ(asked->name, "nightly");
  EXPECT_EQ(asked->actor, policy::Actors::Many);
  EXPECT_THAT(out.str() + err.str(), IsEmpty());
  EXPECT_EQ(asked->log_file, "a.log");
  EXPECT_EQ(run_with->mode, rules::Mode::Off);

  EXPECT_EQ(run({"exec", "--actor", "single", "--", "run"}), 42);
  EXPECT_EQ(asked->actor, policy::Actors::Single);
  EXPECT_EQ(run({"exec", "--actor", "unknown", "--", "run"}), 42);
  EXPECT_EQ(asked->actor, policy::Actors::Unknown);
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
    EXPECT_THAT(err.str(), StartsWith("armgate: " + own[0] + " cannot be had here: "));
    EXPECT_THAT(err.str(), HasSubstr("unset ARMGATE_ACTIVE"));
    EXPECT_THAT(err.str(), EndsWith("; the command was not run\n"));
    EXPECT_FALSE(asked);
  }
  EXPECT_EQ(run({"exec", "--log", "a.log", "--mode", "off", "--", "az"}), kExitExecFailed);
  EXPECT_THAT(err.str(), StartsWith("armgate: --mode, --log cannot be had here: "));
}

TEST_F(Cli, AnEmptyActiveGatewayIsNone) {
  environment["ARMGATE_ACTIVE"] = "";
  EXPECT_EQ(run({"exec", "--mode", "off", "--", "az"}), kExitDone) << err.str();
  EXPECT_EQ(within, "");
  ASSERT_TRUE(run_with);
  EXPECT_EQ(run_with->mode, rules::Mode::Off);
}

TEST_F(Cli, EnvPrintsWhatLeadsToTheConfiguredListener) {
  const std::string place = (directory.path() / "ca").string();
  const auto file = directory.write("a.json", R"({"listen": {"proxy": "0.0.0.0:1234"}, "ca": {"directory": "ca"}})");
  EXPECT_EQ(run({"env", "--config", file.string()}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("make it with `armgate ca init --config " + file.string() + "`"));
  ASSERT_EQ(run({"ca", "init", "--config", file.string()}), kExitDone);

  EXPECT_EQ(run({"env", "--config", file.string()}), kExitDone) << err.str();
  EXPECT_THAT(out.str(), HasSubstr("export HTTPS_PROXY='http://shell-77:x@127.0.0.1:1234'\n"));
  EXPECT_THAT(out.str(), HasSubstr("export SSL_CERT_FILE='" + place + "/bundle.pem'\n"));
  EXPECT_TRUE(std::filesystem::exists(place + "/bundle.pem"));
  EXPECT_EQ(run({"env", "--config", file.string(), "--name", "me", "--shell", "json"}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("\"https_proxy\": \"http://me:x@127.0.0.1:1234\""));

  EXPECT_EQ(sought, "127.0.0.1:1234");
  EXPECT_THAT(err.str(), IsEmpty());
  const std::string variables = out.str();
  service_is_there = false;
  EXPECT_EQ(run({"env", "--config", file.string(), "--name", "me", "--shell", "json"}), kExitDone) << "it may be started later";
  EXPECT_EQ(out.str(), variables);
  EXPECT_THAT(err.str(), HasSubstr("nobody answers at 127.0.0.1:1234 yet"));
  EXPECT_THAT(err.str(), HasSubstr("start `armgate run --config " + file.string() + "`"));

  EXPECT_THAT(err.str(), Not(HasSubstr("more days")));

  const auto old = directory.write("old.json", R"({"listen": {"proxy": "127.0.0.1:1234"}, "ca": {"directory": "old"}})");
  Config config;
  config.ca.directory = (directory.path() / "old").string();
  ASSERT_TRUE(init_authority(config, kNow - std::chrono::days(3640), certs::Overwrite::Refuse).ok());
  EXPECT_EQ(run({"env", "--config", old.string()}), kExitDone);
  EXPECT_THAT(err.str(), HasSubstr("ca.pem is valid for 10 more days; replace it without a gap"));
  EXPECT_THAT(out.str(), Not(HasSubstr("more days"))) << "a shell runs that";

  const auto anywhere = directory.write("b.json", R"({"listen": {"proxy": "127.0.0.1:0"}, "ca": {"directory": "ca"}})");
  EXPECT_EQ(run({"env", "--config", anywhere.string()}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("listen.proxy has port 0"));
}

TEST_F(Cli, TheAuthorityIsMadeOnceAndFoundAgain) {
  const std::string place = (directory.path() / "ca").string();
  EXPECT_EQ(run({"ca", "path", "--directory", place}), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("make it with `armgate ca init --directory " + place + "`"));

  EXPECT_EQ(run({"ca", "init", "--directory", place}), kExitDone);
  const std::string root = out.str();
  EXPECT_TRUE(std::filesystem::exists(root.substr(0, root.size() - 1))) << root;
  EXPECT_EQ(run({"ca", "path", "--directory", place}), kExitDone);
  EXPECT_EQ(out.str(), root);

  EXPECT_EQ(run({"ca", "init", "--directory", place}), kExitBadInput);
  EXPECT_THAT(out.str(), IsEmpty());
  EXPECT_THAT(err.str(), AllOf(HasSubstr(place), HasSubstr("can be used as it is: `armgate ca path`")));
  EXPECT_EQ(run({"ca", "init", "--force", "--directory", place}), kExitDone);
  EXPECT_THAT(err.str(), HasSubstr("start it anew"));
}

TEST_F(Cli, TheNextAuthorityIsReachedAsTheOneInForce) {
  const auto file = directory.write("a.json", R"({"ca": {"directory": "ca"}})");
  const auto next = (directory.path() / "ca-new").string();
  const auto mode_of = [](const std::string& place) { return std::filesystem::status(place).permissions(); };
  ASSERT_EQ(run({"ca", "init", "--config", file.string()}), kExitDone);
  EXPECT_EQ(mode_of(directory.path() / "ca"), std::filesystem::perms(0700));
  std::filesystem::permissions(directory.path() / "ca", std::filesystem::perms(0711));
  const uid_t owner = ::geteuid() == 0 ? 65534 : ::geteuid();
  ASSERT_EQ(::chown((directory.path() / "ca").c_str(), owner, static_cast<gid_t>(-1)), 0);
  ASSERT_EQ(run({"ca", "init", "--directory", next, "--config", file.string()}), kExitDone) << err.str();
  EXPECT_EQ(mode_of(next), std::filesystem::perms(0711));
  EXPECT_EQ(mode_of(next + "/intermediate.key"), std::filesystem::perms(0600));
  struct stat status {};
  ASSERT_EQ(::stat((next + "/intermediate.key").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, owner);
  std::filesystem::permissions(next, std::filesystem::perms(0700));
  ASSERT_EQ(run({"ca", "init", "--force", "--directory", next, "--config", file.string()}), kExitDone);
  EXPECT_EQ(mode_of(next), std::filesystem::perms(0700)) << "one that is there stays as it is";
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

TEST_F(Cli, AnOptionWithoutAnythingInItIsNotTakenForItsDefault) {
  EXPECT_EQ(run({"check", "--config", ""}), 2);
  EXPECT_THAT(err.str(), HasSubstr("--config: it is empty"));
  EXPECT_EQ(run({"run", "--listen", ""}), 2);
  ASSERT_EQ(run({"ca", "init"}), kExitDone);
  const std::vector<std::vector<std::string>> commands = {
      {"ca", "init", "--force", "--directory", ""},
      {"ca", "path", "--directory", ""},
      {"exec", "--log", "", "--", "ls"},
      {"explain", "PUT", "/subscriptions/s", "--body", ""},
      {"explain", "PUT", "/subscriptions/s", "--body", "-", "--shown", "404", "--there", ""},
      {"types", "import", ".", "--output", ""},
      {"heal", "--runs", ""},
      {"heal", "aks-system-pool", "/subscriptions/s", "--kubeconfig", ""}};
  for (const auto& words : commands) {
    EXPECT_EQ(run(words), kExitUsage) << testing::PrintToString(words);
    EXPECT_THAT(err.str(), HasSubstr(": it is empty"));
  }
}

TEST_F(Cli, TheLogOfExecHasAFileOfItsOwn) {
  const auto file = directory.write("a.json", R"({"ca": {"directory": "ca"}, "journal": {"file": "j"}})");
  ASSERT_EQ(run({"ca", "init", "--config", file.string()}), kExitDone);
  std::filesystem::create_symlink("ca/intermediate.key", directory.path() / "link");
  for (const char* name : {"a.json", "ca/ca.pem", "ca/intermediate.key", "link", "j-wal"}) {
    const std::string log = (directory.path() / name).string();
    EXPECT_EQ(run({"exec", "--config", file.string(), "--log", log, "--", "ls"}), kExitExecFailed) << name;
    EXPECT_THAT(err.str(), StartsWith("--log: is the file of ")) << name;
    EXPECT_FALSE(asked) << name;
  }
  EXPECT_EQ(run({"exec", "--config", file.string(), "--log", (directory.path() / "log").string(), "--", "ls"}), kExitDone);
}

TEST_F(Cli, AHomeThatIsNoAbsolutePathIsRefused) {
  home = "there";
  EXPECT_EQ(run({"ca", "init"}), kExitBadInput);
  EXPECT_THAT(err.str(), StartsWith("HOME: \"there\" is no absolute path"));
  EXPECT_EQ(run({"exec", "--", "ls"}), kExitExecFailed);
  EXPECT_FALSE(asked);
}

}  // namespace
}  // namespace armgate
