// Goal: `armgate check` names everything at once. Method: configurations with several things wrong in them.
#include <gmock/gmock.h>

#include "json/tree.h"
#include "tests/cli/fixture.h"

namespace armgate {
namespace {

using testing::HasSubstr;
using testing::Not;

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
  directory.write("mine.json", R"({"rules": [{"name": "a", "match": {"types": ["Microsoft.Netwrok/virtualNetworks"]}}],
"errors": [{"class": "final", "status": [409], "codes": ["Mine"]},
{"class": "busy", "status": [409], "codes": ["mine"]}]})");
  const auto file = directory.write("a.json", R"({"rules": ["mine.json", "shipped"]})");
  EXPECT_EQ(run({"check", "--config", file.string()}), kExitDone);
  EXPECT_THAT(err.str(),
              HasSubstr("mine.json:1: warning: rule \"a\" is for \"microsoft.netwrok/virtualnetworks\": no provider"));
  EXPECT_THAT(err.str(), HasSubstr("mine.json:3: warning: this entry of \"errors\" never decides"));
  EXPECT_THAT(out.str(), HasSubstr(", 2 warnings\n"));
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

}  // namespace
}  // namespace armgate
