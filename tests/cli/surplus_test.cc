// Goal: a flag in the wrong place is told where it belongs. Method: command lines.
#include "cli/help/surplus.h"

#include <gmock/gmock.h>

#include "tests/cli/fixture.h"

namespace armgate {
namespace {

using testing::HasSubstr;
using testing::Not;

using Surplus = Cli;

TEST_F(Surplus, AFlagBeforeItsCommandIsToldToStandBehindIt) {
  const struct {
    std::vector<std::string> words;
    std::string said;
  } cases[] = {
      {{"--config", "a.json", "check"}, "\"--config\" stands before the command; write it behind: armgate check --config"},
      {{"ca", "--directory=x", "path"},
       "\"--directory\" stands before the command; write it behind: armgate ca path --directory"},
      {{"--config", "a.json"}, "\"--config\" belongs to a command; write it behind one: armgate COMMAND --config"},
      {{"--nonsense", "check"}, "\"--nonsense\" is no flag here; "},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(run(c.words), kExitUsage) << c.said;
    EXPECT_THAT(err.str(), HasSubstr(c.said));
    EXPECT_THAT(err.str(), Not(HasSubstr("did you mean \"--config\"")));
  }
}

// What a program reads on standard output is JSON then, too.
TEST_F(Surplus, AFailureIsToldAsJsonWhereJsonWasAskedFor) {
  const auto file = directory.write("a.json", R"({"listen": {"admin": "127.0.0.1:1"}})").string();
  const std::string id = "/subscriptions/s/resourceGroups/g";
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"status"}, {"queue"}, {"top", "--looks", "1"}, {"sick"}, {"unlock", id}, {"blame", id}}) {
    auto all = words;
    all.insert(all.end(), {"--output", "json", "--config", file});
    EXPECT_NE(run(all), kExitDone) << words[0];
    EXPECT_THAT(out.str(), testing::StartsWith("{\"error\":\"")) << words[0];
    EXPECT_EQ(out.str().find('\n'), out.str().size() - 1);
    EXPECT_THAT(err.str(), HasSubstr("armgate: ")) << words[0];
    all[words.size() + 1] = "text";
    EXPECT_NE(run(all), kExitDone);
    EXPECT_EQ(out.str(), "") << words[0];
  }
}

}  // namespace
}  // namespace armgate
