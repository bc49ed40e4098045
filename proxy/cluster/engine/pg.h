// pg.h – PostgreSQL's client library behind types of our own: one connection, one statement at a time, each with a deadline.
//
// Invariant  a statement that is not answered in time ends the connection, and is not cancelled: a commit that waits for the standby
//            would then be done without it (PostgreSQL 15, "canceling wait for synchronous replication").
// Threads   one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

struct pg_conn;
struct pg_result;

namespace armgate::cluster {

// Rows of an answer; values come as texts, bytea in hexadecimal digits.
class PgRows {
 public:
  explicit PgRows(pg_result* result) : result_(result, &clear) {}
  size_t size() const;
  std::string_view text(size_t row, int column) const;  // empty for null
  int64_t number(size_t row, int column) const;
  std::string bytes(size_t row, int column) const;  // of bytea

 private:
  static void clear(pg_result* result);
  std::shared_ptr<pg_result> result_;
};

struct PgValue {
  std::string text;
  bool is_bytes = false;
  bool is_null = false;
};
inline PgValue pg_number(int64_t value) { return {std::to_string(value), false, false}; }
inline PgValue pg_text(std::string_view value) { return {std::string(value), false, false}; }
inline PgValue pg_bytes(std::string value) { return {std::move(value), true, false}; }
inline PgValue pg_null() { return {{}, false, true}; }

class PgConnection {
 public:
  enum class For { Writing, Anything };  // Anything: also a standby
  static Result<PgConnection> open(const std::string& url, Duration within, For what = For::Writing);

  // In a transaction of its own, which is committed when this returns; with parameters $1, $2...
  // TimedOut or Internal: the connection is of no use any more, and nobody knows whether it was done. BadInput: the engine refused it.
  Result<PgRows> run(const std::string& statement, const std::vector<PgValue>& values, Duration within);
  // Several statements, for making tables.
  Result<void> run_script(const std::string& statements, Duration within);

  // True if others have told something since.
  bool take_notices();
  // To be waited for beside others; -1: there is none any more.
  int descriptor() const;
  // The five letters of the last refusal (SQLSTATE).
  const std::string& refusal() const { return refusal_; }

 private:
  struct State;
  explicit PgConnection(pg_conn* connection);
  Result<PgRows> finish(Duration within);
  std::shared_ptr<State> state_;
  std::string refusal_;
};

}  // namespace armgate::cluster
