// Who may use a journal's file, and which files are none.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "proxy/journal/journal_schema.h"
#include "proxy/journal/sqlite.h"
#include "tests/proxy/journal/journal_rig.h"
#include "tests/support/small_files.h"

namespace armgate::journal {
namespace {

TEST_F(JournalFileTest, ANewFileIsPrivateAndKeepsItsKey) {
  EXPECT_TRUE(open().is_new());
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  auto again = JournalFile::open(path_, Durability::Power, HashKey{7, 8});
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(again->is_new());
  EXPECT_EQ(again->key().first, 1u);
  EXPECT_EQ(again->key().second, 2u);
}

TEST_F(JournalFileTest, APipeIsNoJournalAndStaysAsItIs) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0666), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
  const auto opened = JournalFile::open(path_, Durability::Power, HashKey{1, 2});
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().context.find("is no regular file (a pipe or a device)"), std::string::npos)
      << opened.error().context;
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0666u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(std::filesystem::path(path_).parent_path()), {}), 1);
}

TEST_F(JournalFileTest, AFileOfAnEarlierSchemaIsBroughtToThisOne) {
  std::string to_fourth;
  for (const char* column : {"named", "first_sent", "answer_etag", "replays", "owned"})
    to_fourth += fmt::format("ALTER TABLE writes RENAME COLUMN {0} TO {0}_; ", column);
  to_fourth += "PRAGMA user_version = 4; ";
  std::string to_third = to_fourth;
  for (const char* column : {"tool", "touched", "result", "error_code", "message_code"})
    to_third += fmt::format("ALTER TABLE writes RENAME COLUMN {0} TO {0}_; ", column);
  to_third += "DROP TABLE states; PRAGMA user_version = 3; ";
  const std::string to_second = to_third + "ALTER TABLE writes RENAME COLUMN merged TO other; PRAGMA user_version = 2; ";
  const std::string to_first = to_second + "ALTER TABLE writes RENAME COLUMN given_up TO another; PRAGMA user_version = 1";
  for (const std::string& back : {to_fourth, to_third, to_second, to_first}) {
    std::filesystem::remove(path_);
    {
      JournalFile file = open();
      ASSERT_TRUE(file.add(a_write(1)).ok());
    }
    ASSERT_TRUE(Database::open(path_, Database::Access::Write)->run(back).ok());
    {
      auto reader = JournalFile::open_to_read(path_);
      ASSERT_TRUE(reader.ok()) << reader.error().context;
      const auto shown = reader->newest(2);
      ASSERT_TRUE(shown.ok()) << shown.error().context;
      ASSERT_EQ(shown->size(), 1u);
      EXPECT_TRUE(shown->at(0).named.is_zero());
      const auto state = reader->state_of("/subscriptions/s/resourcegroups/g");
      EXPECT_TRUE(state.ok() && !state->has_value());
      EXPECT_LT(*Database::open(path_, Database::Access::Read)->number("PRAGMA user_version"), kSchemaVersion)
          << "who only reads changes nothing";
    }
    JournalFile file = open();
    const auto former = file.previous_process(kRecent, kNow);
    ASSERT_EQ(former->open.size(), 1u);
    EXPECT_EQ(former->open[0].result.how, arm::Progress::Unknown);
    EXPECT_FALSE(former->open[0].touched.has_value());
    EXPECT_FALSE((*file.state_of("/subscriptions/s/resourcegroups/g")).has_value());
    EXPECT_TRUE(former->open[0].named.is_zero());
    WriteOutcome outcome;
    outcome.merged = 3;
    ASSERT_TRUE(file.set_outcome(1, outcome).ok());
    ASSERT_TRUE(file.set_end(1, at(200), EndSeen::No).ok());
    ASSERT_TRUE(file.count_replay(1).ok());
    EXPECT_EQ(file.newest(1)->at(0).outcome->merged, 3u);
    EXPECT_EQ(file.newest(1)->at(0).replays, 1u);
    EXPECT_TRUE(JournalFile::open_to_read(path_).ok());
  }
}

TEST_F(JournalFileTest, OnlyOneArmgateHasIt) {
  {
    const JournalFile file = open();
    EXPECT_NE(error_of_opening().find("another armgate"), std::string::npos) << error_of_opening();
    const auto read = JournalFile::open_to_read(path_);
    EXPECT_TRUE(read.ok()) << "people may look: " << (read.ok() ? "" : read.error().context);
  }
  EXPECT_EQ(error_of_opening(), "") << "it is free when the first is gone";
}

TEST_F(JournalFileTest, OnlyOneArmgateHasItAlsoWithoutTheLockBesideIt) {
  {
    const JournalFile file = open();
    ASSERT_TRUE(std::filesystem::remove(path_.string() + "-lock"));
    EXPECT_NE(error_of_opening().find("another armgate"), std::string::npos) << error_of_opening();
    ASSERT_TRUE(std::filesystem::remove(path_.string() + "-lock"));
    EXPECT_NE(error_of_opening().find("another armgate"), std::string::npos) << "who was refused takes nothing away";
    const auto read = JournalFile::open_to_read(path_);
    EXPECT_TRUE(read.ok()) << "people may look: " << (read.ok() ? "" : read.error().context);
    EXPECT_TRUE(JournalFile::check(path_).ok());
  }
  EXPECT_EQ(error_of_opening(), "") << "it is free when the first is gone";
}

TEST_F(JournalFileTest, WhatMustNotBeUsedIsRefusedWithTheRemedy) {
  EXPECT_FALSE(JournalFile::open_to_read(path_).ok()) << "to look at a file makes none";
  EXPECT_FALSE(std::filesystem::exists(path_));
  { open(); }
  if (::chmod(path_.c_str(), 0640); ::chown(path_.c_str(), 65532, 65532) == 0) {
    EXPECT_NE(error_of_opening().find("belongs to user 65532"), std::string::npos) << error_of_opening();
    EXPECT_NE(error_of_opening().find("run it as user 65532"), std::string::npos) << error_of_opening();
    ASSERT_EQ(::chown(path_.c_str(), ::geteuid(), ::getegid()), 0);
  }
  {
    auto database = Database::open(path_, Database::Access::Write);
    ASSERT_TRUE(database->run("PRAGMA user_version = 99").ok());
  }
  EXPECT_NE(error_of_opening().find("another version"), std::string::npos) << error_of_opening();
}

// The write-ahead log has grown beyond what files may now have, as on a full disk; who only reads keeps it from being emptied.
TEST_F(JournalFileTest, AFileThatCannotBeWrittenEndsTheStart) {
  { open(); }
  const auto reader = JournalFile::open_to_read(path_);
  {
    JournalFile file = open();
    for (IntentId id = 1; id <= 20; ++id) ASSERT_TRUE(file.add(a_write(id)).ok());
  }
  const auto log = path_.string() + "-wal";
  const auto before = std::filesystem::file_size(log);
  ASSERT_GT(before, std::filesystem::file_size(path_.string() + "-shm"));
  {
    const SmallFiles small(before);
    const auto file = JournalFile::open(path_, Durability::Process, kKey);
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.error().kind, ErrorKind::Internal) << "it may pass: exit code 3";
    EXPECT_NE(file.error().context.find("cannot be used"), std::string::npos) << file.error().context;
    EXPECT_TRUE(JournalFile::check(path_).ok()) << "nothing is written";
  }
  EXPECT_EQ(error_of_opening(), "");
  EXPECT_EQ(open().newest(100)->size(), 20u);
}

TEST_F(JournalFileTest, AFullDatabaseIsToldWithTheRemedy) {
  { open(); }
  const auto full = Database::open(path_, Database::Access::Write)->run("PRAGMA max_page_count = 1; CREATE TABLE more (x)");
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().kind, ErrorKind::Internal);
  EXPECT_NE(full.error().context.find("there is no room to write to it; make some"), std::string::npos) << full.error().context;
}

// As the kubelet leaves the files of a volume whose group it sets (fsGroup), at each start.
TEST_F(JournalFileTest, OwnFilesThatAGroupMayReadAreMadePrivateAgain) {
  { open(); }
  const auto beside = [&](const char* suffix) { return path_.string() + suffix; };
  const auto files = {beside(""), beside("-wal"), beside("-shm")};
  for (const std::string& file : files) {
    std::ofstream(file, std::ios::app).flush();
    ASSERT_EQ(::chmod(file.c_str(), 0660), 0);
  }
  EXPECT_FALSE(open().is_new());
  const JournalFile again = open();
  for (const std::string& file : files) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) continue;
    EXPECT_EQ(status.st_mode & 07777, 0600u) << file;
  }
}

TEST_F(JournalFileTest, DamageIsFoundAtTheStartAndByACheckWhereverItIs) {
  {
    JournalFile file = open();
    ASSERT_TRUE(file.begin().ok());
    for (IntentId id = 1; id <= 200; ++id) ASSERT_TRUE(file.add(a_write(id)).ok());
    ASSERT_TRUE(file.commit().ok());
  }
  EXPECT_TRUE(JournalFile::check(path_).ok());
  constexpr std::streamoff kPage = 4096;
  ASSERT_GT(std::filesystem::file_size(path_), 8 * kPage);
  {
    std::fstream raw(path_, std::ios::binary | std::ios::in | std::ios::out);
    raw.seekp(7 * kPage);
    raw << std::string(kPage, '\xff');
  }
  EXPECT_NE(error_of_opening().find("is damaged ("), std::string::npos) << error_of_opening();
  EXPECT_NE(error_of_opening().find("move it away"), std::string::npos);
  EXPECT_EQ(error_of_opening().find('\n'), std::string::npos);
  EXPECT_EQ(JournalFile::check(path_).error().context, error_of_opening());
}

TEST_F(JournalFileTest, ACheckSeesWhatIsNoDamageAndKeepsAStartFromItAllTheSame) {
  { open(); }
  ASSERT_TRUE(Database::open(path_, Database::Access::Write)->run("DELETE FROM hash_key").ok());
  EXPECT_NE(error_of_opening().find("has lost the key"), std::string::npos) << error_of_opening();
  EXPECT_EQ(JournalFile::check(path_).error().context, error_of_opening());
}

TEST_F(JournalFileTest, AnotherProgramsDatabaseStaysAsItIs) {
  {
    auto database = Database::open(path_, Database::Access::Write);
    ASSERT_TRUE(database->run("CREATE TABLE theirs (x)").ok());
  }
  ::chmod(path_.c_str(), 0600);
  const auto content = [&] {
    std::ifstream in(path_, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  const std::string before = content();
  EXPECT_NE(error_of_opening().find("another program"), std::string::npos) << error_of_opening();
  EXPECT_EQ(content(), before);
}

TEST_F(JournalFileTest, ASymbolicLinkIsNotFollowed) {
  std::filesystem::create_symlink(directory_.path() / "elsewhere", path_);
  EXPECT_NE(error_of_opening(), "");
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "elsewhere"));
}

}  // namespace
}  // namespace armgate::journal
