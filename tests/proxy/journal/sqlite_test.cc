#include "proxy/journal/sqlite.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_directory.h"

namespace armgate::journal {
namespace {

class SqliteTest : public testing::Test {
 protected:
  const TemporaryDirectory directory_;
  const std::filesystem::path file_ = directory_.path() / "database";
};

TEST_F(SqliteTest, WhatIsBoundComesBackByteForByte) {
  auto database = Database::open(file_, Database::Access::Write);
  ASSERT_TRUE(database.ok()) << database.error().context;
  ASSERT_TRUE(database->run("CREATE TABLE t (n INTEGER, s TEXT, e TEXT, x TEXT)").ok());
  const std::string odd = std::string("a\0'\"; DROP TABLE t; --", 22);
  auto add = database->prepare("INSERT INTO t VALUES (?, ?, ?, ?)");
  ASSERT_TRUE(add.ok());
  ASSERT_TRUE(add->bind(int64_t{-5}).bind(odd).bind(std::string_view()).bind_nothing().run().ok());
  ASSERT_TRUE(add->bind(int64_t{6}).bind("b").bind("").bind("c").run().ok()) << "it can be run again";
  auto all = database->prepare("SELECT n, s, e, x FROM t ORDER BY n");
  ASSERT_TRUE(all.ok());
  ASSERT_TRUE(*all->step());
  EXPECT_EQ(all->number(0), -5);
  EXPECT_EQ(all->text(1), odd);
  EXPECT_FALSE(all->is_nothing(2)) << "an empty text is a text";
  EXPECT_EQ(all->text(2), "");
  EXPECT_TRUE(all->is_nothing(3));
  ASSERT_TRUE(*all->step());
  EXPECT_EQ(all->text(3), "c");
  EXPECT_FALSE(*all->step());
}

TEST_F(SqliteTest, ErrorsNameTheFileAndTheRemedy) {
  const auto nowhere = Database::open(directory_.path() / "none" / "database", Database::Access::Write);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().kind, ErrorKind::BadInput);
  EXPECT_NE(nowhere.error().context.find((directory_.path() / "none" / "database").string()), std::string::npos);
  EXPECT_NE(nowhere.error().context.find("must exist and be writable"), std::string::npos) << nowhere.error().context;

  const auto absent = Database::open(file_, Database::Access::Read);
  ASSERT_FALSE(absent.ok());
  EXPECT_NE(absent.error().context.find("there is no journal"), std::string::npos) << absent.error().context;

  std::ofstream(file_) << std::string(5000, 'x');
  auto damaged = Database::open(file_, Database::Access::Write);
  ASSERT_TRUE(damaged.ok()) << "SQLite looks at the first command";
  const auto looked = damaged->number("PRAGMA user_version");
  ASSERT_FALSE(looked.ok());
  EXPECT_EQ(looked.error().kind, ErrorKind::BadInput);
  EXPECT_NE(looked.error().context.find("move it away"), std::string::npos) << looked.error().context;
}

TEST_F(SqliteTest, AWrongCommandIsAnError) {
  auto database = Database::open(file_, Database::Access::Write);
  ASSERT_TRUE(database.ok());
  EXPECT_FALSE(database->prepare("SELECT FROM").ok());
  EXPECT_FALSE(database->run("nonsense").ok());
}

}  // namespace
}  // namespace armgate::journal
