// Who may use a journal's file, and which files are none.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "proxy/journal/sqlite.h"
#include "tests/proxy/journal/journal_rig.h"

namespace armgate::journal {
namespace {

TEST_F(JournalFileTest, OnlyOneArmgateHasIt) {
  {
    const JournalFile file = open();
    EXPECT_NE(error_of_opening().find("another armgate"), std::string::npos) << error_of_opening();
    const auto read = JournalFile::open_to_read(path_);
    EXPECT_TRUE(read.ok()) << "people may look: " << (read.ok() ? "" : read.error().context);
  }
  EXPECT_EQ(error_of_opening(), "") << "it is free when the first is gone";
}

TEST_F(JournalFileTest, WhatMustNotBeUsedIsRefusedWithTheRemedy) {
  EXPECT_FALSE(JournalFile::open_to_read(path_).ok()) << "to look at a file makes none";
  EXPECT_FALSE(std::filesystem::exists(path_));
  { open(); }
  ::chmod(path_.c_str(), 0640);
  EXPECT_NE(error_of_opening().find("chmod 600"), std::string::npos) << error_of_opening();
  ::chmod(path_.c_str(), 0600);
  {
    auto database = Database::open(path_, Database::Access::Write);
    ASSERT_TRUE(database->run("PRAGMA user_version = 99").ok());
  }
  EXPECT_NE(error_of_opening().find("another version"), std::string::npos) << error_of_opening();
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
