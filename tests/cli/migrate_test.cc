// Goal: files of the version before get the names of this one, and nothing else changes. Method: the command on files, and the result
// given to those who read it.
#include "cli/migrate.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cli/fixture.h"

namespace armgate {
namespace {

using testing::HasSubstr;
using testing::Not;

class Migrate : public Cli {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const auto file = directory.path() / name;
    std::ofstream(file) << text;
    return file.string();
  }
  static std::string read(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
};

TEST_F(Migrate, AConfigurationOfTheVersionBeforeIsRefusedUntilItIsMigrated) {
  const std::string file = write("old.json",
                                 "// ours\n{\"versions\": {\"think_max\": \"2m\"},\n \"queue\": {\"ticket_grace\": \"30s\", "
                                 "\"ticket_reserve\": \"1s\", \"ticket_age_max\": \"5m\"}}\n");
  EXPECT_EQ(run({"check", "--config", file}), 1);
  EXPECT_THAT(err.str(), HasSubstr(":2: /versions: is called \"history\" now; \"armgate migrate FILE\" renames it"));
  std::filesystem::permissions(file, std::filesystem::perms(0640));
  EXPECT_EQ(run({"migrate", file}), 0);
  EXPECT_THAT(out.str(), HasSubstr(file + ":3: /queue/ticket_grace is called \"reservation_ttl\" now\n"));
  EXPECT_EQ(read(file),
            "// ours\n{\"history\": {\"think_max\": \"2m\"},\n \"queue\": {\"reservation_ttl\": \"30s\", "
            "\"claim_timeout\": \"1s\", \"reservation_age_max\": \"5m\"}}\n");
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0640));
  EXPECT_EQ(run({"check", "--config", file}), 0) << err.str();
}

TEST_F(Migrate, SeveralFilesAtOnceAndWhatNeedsNothing) {
  const std::string rules =
      write("mine.json", R"({"rules": [{"name": "a", "match": {"types": ["A.B/c"]}, "hold": {"max": "1h"}}]})");
  const std::string fine = write("fine.json", "{}");
  EXPECT_EQ(run({"migrate", rules, fine}), 0);
  EXPECT_THAT(read(rules), HasSubstr("\"lease\": {\"max\": \"1h\"}"));
  EXPECT_THAT(out.str(), HasSubstr(fine + ": nothing to rename\n"));
  EXPECT_EQ(read(fine), "{}");
}

TEST_F(Migrate, ALinkStaysOneAndItsFileItsOwners) {
  const std::string file = write("real.json", R"({"versions": {}})");
  const auto link = directory.path() / "link.json";
  std::filesystem::create_symlink("real.json", link);
  const auto [user, group] = ::geteuid() == 0 ? std::pair(uid_t{65534}, gid_t{65533}) : std::pair(::geteuid(), ::getegid());
  ASSERT_EQ(::chown(file.c_str(), user, group), 0);
  EXPECT_EQ(run({"migrate", link.string()}), 0) << err.str();
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read(file), R"({"history": {}})");
  struct stat now {};
  ASSERT_EQ(::stat(file.c_str(), &now), 0);
  EXPECT_EQ(now.st_uid, user);
  EXPECT_EQ(now.st_gid, group);
}

TEST_F(Migrate, WhatStandsTwiceIsLeftToItsOwner) {
  const std::string text = "{\"queue\": {\"ticket_grace\": \"1m\",\n \"ticket_grace\": \"2m\"}}";
  const std::string file = write("twice.json", text);
  EXPECT_EQ(run({"migrate", file}), 1);
  EXPECT_THAT(err.str(), HasSubstr(file + ":2: /queue/ticket_grace stands in line 1 already; remove one of the two\n"));
  EXPECT_EQ(read(file), text);
}

TEST_F(Migrate, WhatStandsUnderBothNamesIsLeftToWhoeverKnowsWhichCounts) {
  const std::string text = R"({"versions": {"think_max": "5m"},
 "history": {"think_max": "6m"}, "queue": {"ticket_grace": "30s"}})";
  const std::string file = write("both.json", text);
  for (const bool dry : {false, true}) {
    EXPECT_EQ(dry ? run({"migrate", "--dry-run", file}) : run({"migrate", file}), 1);
    EXPECT_THAT(err.str(),
                HasSubstr(file + ":1: /versions is called \"history\" now, and \"history\" stands beside it; put all "));
    EXPECT_THAT(err.str(), HasSubstr(file + " was not changed\n"));
    EXPECT_THAT(out.str(), Not(HasSubstr("/versions is called")));
    EXPECT_EQ(read(file), text);
  }
}

TEST_F(Migrate, ADryRunWritesNothing) {
  const std::string text = R"({"versions": {}})";
  const std::string file = write("old.json", text);
  EXPECT_EQ(run({"migrate", "--dry-run", file}), 0);
  EXPECT_THAT(out.str(), HasSubstr("/versions is called \"history\" now"));
  EXPECT_EQ(read(file), text);
}

TEST_F(Migrate, WhatCannotBeReadIsSaidAndTheRestIsDone) {
  const std::string broken = write("broken.json", "{\"versions\": {");
  const std::string good = write("old.json", R"({"versions": {}})");
  EXPECT_NE(run({"migrate", broken, (directory.path() / "none.json").string(), good}), 0);
  EXPECT_THAT(err.str(), HasSubstr("broken.json is no JSON"));
  EXPECT_THAT(err.str(), HasSubstr("none.json"));
  EXPECT_EQ(read(broken), "{\"versions\": {");
  EXPECT_EQ(read(good), R"({"history": {}})");
}

TEST_F(Migrate, NeedsAFile) { EXPECT_EQ(run({"migrate"}), 2); }

}  // namespace
}  // namespace armgate
