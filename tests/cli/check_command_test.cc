// Goal: `armgate check` names everything at once. Method: configurations with several things wrong in them.
#include <gmock/gmock.h>
#include <unistd.h>

#include "json/tree.h"
#include "tests/cli/fixture.h"

namespace armgate {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using CheckCommand = Cli;

TEST_F(CheckCommand, NamesFaultsOfOptionsRulesAndFilesTogether) {
  directory.write("mine.json", R"({"rules": [{"name": "a", "match": {"types": ["A.B/*"]}},
{"name": "b", "match": {"types": ["A.B/c"]}, "mode": "on"},
{"name": "c", "match": {"types": ["A.B/d"]}}]})");
  const auto file = directory.write("a.json", R"({"threads": -1, "rules": ["mine.json", "gone.json"],
"upstream": {"ca_file": "gone.pem"}, "log": {"file": "a.json"}, "journal": {"file": 7}})");
  EXPECT_EQ(run({"check", "--config", file.string()}), kExitBadInput);
  for (const char* said : {"a.json:1: /threads: must be", "a.json:2: /journal/file: must be",
                           "a.json:2: /log/file: is the file of the configuration itself too", "mine.json:2: /rules/1/mode: ",
                           "mine.json:3: rule \"c\" can never match", "a.json:1: /rules/1: there is no file or directory",
                           "a.json: /upstream/ca_file: ", "armgate: 7 faults found; nothing was changed"})
    EXPECT_THAT(err.str(), HasSubstr(said));
}

TEST_F(CheckCommand, WarnsOfWhatIsHardlyMeant) {
  directory.write("mine.json", R"({"rules": [{"name": "a", "match": {"types": ["Microsoft.Netwrok/virtualNetworks"]},
"breaker": {"probe_every": "1m"}}],
"errors": [{"class": "final", "status": [409], "codes": ["Mine"]},
{"class": "busy", "status": [409], "codes": ["mine"]}]})");
  const auto file = directory.write("a.json", R"({"rules": ["mine.json", "shipped"]})");
  EXPECT_EQ(run({"check", "--config", file.string()}), kExitDone);
  EXPECT_THAT(err.str(),
              HasSubstr("mine.json:1: warning: rule \"a\" is for \"microsoft.netwrok/virtualnetworks\": no provider"));
  EXPECT_THAT(err.str(), HasSubstr("mine.json:4: warning: this entry of \"errors\" never decides"));
  EXPECT_THAT(out.str(), HasSubstr(", 3 warnings\n"));
  EXPECT_THAT(err.str(), HasSubstr("mine.json:2: /rules/0/breaker/probe_every: warning: of rule \"a\": has no effect while"));
}

TEST_F(CheckCommand, AFileThatCannotBeReadIsStillTheOneThatWasAskedFor) {
  const std::string file = (directory.path() / "nope.json").string();
  EXPECT_EQ(run({"check", "--output", "json", "--config", file}), kExitBadInput);
  const auto told = nlohmann::json::parse(out.str());
  EXPECT_EQ(told.at("configuration"), file);
  EXPECT_EQ(told.at("faults").size(), 1u);
  EXPECT_TRUE(told.at("notices").empty()) << "nobody asked for what the defaults name";
  EXPECT_EQ(run({"check", "--config", file}), kExitBadInput);
  EXPECT_THAT(err.str(), Not(HasSubstr("not looked at")));
}

TEST_F(CheckCommand, WarnsOfRulesThatGetInEachOthersWayAndStillCallsThemGood) {
  std::ofstream(directory.path() / "own.json") << R"({"rules": [
    {"name": "mine", "match": {"types": ["Microsoft.Network/*"]}}
  ]})";
  std::ofstream(directory.path() / "armgate.json") << R"({"rules": ["own.json", "shipped"]})";
  EXPECT_EQ(run({"check", "--config", (directory.path() / "armgate.json").string()}), kExitDone);
  EXPECT_THAT(err.str(), HasSubstr("network.json:"));
  EXPECT_THAT(err.str(), HasSubstr("warning: rule \"network\" never decides: rule \"mine\" at " +
                                   (directory.path() / "own.json").string() + ":2"));
  EXPECT_THAT(out.str(), HasSubstr(" warnings\n"));
}

TEST_F(CheckCommand, LooksAtTheFilesThatOptionsName) {
  const auto file = directory.write("a.json", R"({"upstream": {"ca_file": "gone.pem"}, "log": {"file": "no/such/a.log"}})");
  EXPECT_EQ(run({"check", "--config", file.string()}), kExitBadInput);
  EXPECT_THAT(out.str(), IsEmpty());
  EXPECT_THAT(err.str(), HasSubstr(file.string() + ": /upstream/ca_file: "));
  EXPECT_THAT(err.str(), HasSubstr(file.string() + ": /log/file: "));
  EXPECT_THAT(err.str(), HasSubstr("armgate: 2 faults found; nothing was changed\n"));
}

TEST_F(CheckCommand, WarnsIfNothingIsProtectedOrStrangersMayCome) {
  const auto file = directory.write("a.json", R"({"rules": [], "listen": {"proxy": "0.0.0.0:8080"}})");
  EXPECT_EQ(run({"check", "--config", file.string()}), kExitDone);
  EXPECT_THAT(err.str(), HasSubstr(file.string() + ": /rules: warning: there is no rule, so nothing is protected"));
  EXPECT_THAT(err.str(), HasSubstr(file.string() + ": /listen/proxy: warning: 0.0.0.0:8080 is not on loopback"));
  EXPECT_THAT(out.str(), EndsWith(", 2 warnings\n"));
  directory.write("a.json", R"({"rules": [], "mode": "off", "listen": {"proxy": "[::1]:8080"}})");
  EXPECT_EQ(run({"check", "--config", file.string()}), kExitDone);
  EXPECT_THAT(err.str(), Not(HasSubstr("warning")));
  directory.write("a.json", R"({"listen": {"admin": "0.0.0.0:9478"}})");
  EXPECT_EQ(run({"check", "--config", file.string()}), kExitDone);
  EXPECT_THAT(err.str(), HasSubstr(file.string() + ": /listen/admin: warning: 0.0.0.0:9478 is not on loopback"));
}

TEST_F(CheckCommand, WarnsOfAJournalsOptionsWithoutAJournal) {
  const auto file = directory.write("a.json", R"({"journal": {"durability": "power", "records_max": 5000}})");
  EXPECT_EQ(run({"check", "--config", file.string()}), kExitDone);
  EXPECT_THAT(err.str(), HasSubstr(": /journal/durability: warning: has no effect without journal.file"));
  EXPECT_THAT(err.str(), HasSubstr(": /journal/records_max: warning: has no effect without journal.file"));
  EXPECT_THAT(out.str(), HasSubstr(", 2 warnings\n"));
}

TEST_F(CheckCommand, WarnsIfTheRulesThatCameWithArmgateWereLeftOut) {
  directory.write("mine.json",
                  R"({"rules": [{"name": "groups", "match": {"types": ["Microsoft.Resources/resourceGroups"]}}]})");
  const auto file = directory.write("a.json", R"({"rules": ["mine.json"]})");
  EXPECT_EQ(run({"check", "--config", file.string()}), kExitDone);
  EXPECT_THAT(err.str(),
              HasSubstr(file.string() + ": /rules: warning: no rule is for all types (\"*\"), so what these files do not "
                                        "name passes unprotected; add \"shipped\""));
  directory.write("a.json", R"({"rules": ["mine.json"], "unruled": "off"})");
  EXPECT_EQ(run({"check", "--config", file.string()}), kExitDone);
  EXPECT_THAT(err.str(), Not(HasSubstr("warning")));
}

TEST_F(CheckCommand, RefusesWhatRunWouldRefuse) {
  const auto file = directory.write("a.json", R"({"ca": {"directory": "ca"}})");
  ASSERT_EQ(run({"ca", "init", "--config", file.string()}), kExitDone);
  directory.write("a.json", R"({"ca": {"directory": "ca"}, "intercept": ["management.example.org"],
                                "journal": {"file": "gone/journal.db"}})");
  EXPECT_EQ(run({"check", "--config", file.string()}), kExitBadInput);
  EXPECT_THAT(out.str(), IsEmpty());
  EXPECT_THAT(err.str(), HasSubstr(file.string() + ": /ca/directory: "));
  EXPECT_THAT(err.str(), HasSubstr(file.string() + ": /journal/file: there is no directory"));
  EXPECT_THAT(err.str(), HasSubstr("armgate: 2 faults found"));
}

TEST_F(CheckCommand, SaysInOneLineThatAConfigurationIsGood) {
  const auto file = directory.write("a.json", R"({"listen": {"proxy": "127.0.0.1:1234"}})");
  EXPECT_EQ(run({"check", "--config", file.string()}), kExitDone);
  const std::string line = out.str();
  EXPECT_THAT(line, StartsWith("armgate: " + file.string() + ": good; mode protect, proxy on 127.0.0.1:1234, "));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_THAT(err.str(), HasSubstr("not looked at: there is no authority")) << "whoever checks before `ca init` may go on";
  EXPECT_FALSE(run_with);
  ASSERT_EQ(run({"ca", "init", "--config", file.string()}), kExitDone);
  EXPECT_EQ(run({"check", "--config", file.string()}), kExitDone);
  EXPECT_EQ(out.str(), line);
  EXPECT_THAT(err.str(), IsEmpty());
}

TEST_F(CheckCommand, SaysOfWhatIsAnothersThatItDidNotLook) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const auto file = directory.write("a.json", R"({"ca": {"directory": "ca"}})");
  ASSERT_EQ(run({"ca", "init", "--config", file.string()}), kExitDone);
  const auto ca = file.parent_path() / "ca";
  ASSERT_EQ(::chown((ca / "intermediate.key").c_str(), 65534, 65534), 0);
  EXPECT_EQ(run({"check", "--config", file.string()}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr(": good as far as this user may look; mode protect"));
  EXPECT_THAT(err.str(), HasSubstr("not looked at: " + (ca / "intermediate.key").string() + " is private to another user"));
}

TEST_F(CheckCommand, TellsProgramsTheSame) {
  const auto file = directory.write("a.json", R"({"listen": {"proxy": "0.0.0.0:1234"}})");
  EXPECT_EQ(run({"check", "--output", "json", "--config", file.string()}), kExitDone);
  auto told = nlohmann::json::parse(out.str());
  EXPECT_EQ(told.at("good"), true);
  EXPECT_EQ(told.at("configuration"), file.string());
  EXPECT_EQ(told.at("proxy"), "0.0.0.0:1234");
  EXPECT_EQ(told.at("warnings").size(), 1u);
  EXPECT_EQ(told.at("warnings")[0].at("pointer"), "/listen/proxy");
  EXPECT_EQ(told.at("notices").size(), 1u);
  EXPECT_THAT(err.str(), IsEmpty());
  directory.write("a.json", "{\n\"mode\": \"maybe\",\n\"threads\": -1}");
  EXPECT_EQ(run({"check", "--output", "json", "--config", file.string()}), kExitBadInput);
  told = nlohmann::json::parse(out.str());
  EXPECT_EQ(told.at("good"), false);
  ASSERT_EQ(told.at("faults").size(), 2u);
  EXPECT_EQ(told.at("faults")[0].at("line"), 2);
  EXPECT_EQ(told.at("faults")[1].at("pointer"), "/threads");
}

}  // namespace
}  // namespace armgate
