// sqlite.h – as much of SQLite as the journal needs, with errors as values.
//
// Threads   a Database and its Statements belong to one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace armgate::journal {

class Database;

// What an errno says of the journal that everybody can mend: a user who may not, or a disk without room; nothing: something
// else.
std::optional<Error> known_obstacle(const std::string& file, int number);

// One command, compiled once. Parameters and columns count from 0 in the order in which they stand.
class Statement {
 public:
  Statement& bind(int64_t number);
  Statement& bind(std::string_view text);
  Statement& bind_nothing();

  // Runs it to its next row; false: there is none, and what was bound is gone.
  Result<bool> step();
  // The same, for commands that give no rows.
  Result<void> run();

  int64_t number(int column) const;
  std::string text(int column) const;
  bool is_nothing(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string file_;
  int next_ = 0;
};

class Database {
 public:
  enum class Access { Write, Read };  // Write: the file is made if there is none

  static Result<Database> open(const std::filesystem::path& file, Access access);

  Result<Statement> prepare(std::string_view sql);
  // Commands without parameters and rows, one or several.
  Result<void> run(const std::string& sql);
  // How many rows the last command changed.
  int64_t changed() const;
  // The first column of the first row.
  Result<int64_t> number(std::string_view sql);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
  std::string file_;
};

}  // namespace armgate::journal
