// pg.h – PostgreSQL's client library behind types of our own: one connection, one statement at a time, each with a deadline.
//
// Invariant  a statement that is not answered in time is not cancelled: a commit that waits for the standby would then be done
//            without it (PostgreSQL 15, "canceling wait for synchronous replication"). Its connection waits on, for the
//            engine's process at the other end would, whoever has hung up.
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
#include "proxy/cluster/engine/primary.h"

struct pg_conn;
struct pg_result;

namespace armgate::cluster {

struct Server;

inline constexpr const char* kRulesNotice = "rules";

// In this time a statement is answered, or the engine is taken for silent.
inline constexpr Duration kStatementMax = std::chrono::seconds(5);

// That may pass by itself: a standby is promoted.
Error standby_error();
inline constexpr const char* kIsStandby = "the cluster's engine is a standby: name the primary, or both (postgres://a,b/...)";

// Rows of an answer; values come as texts, bytea in hexadecimal digits.
class PgRows {
 public:
  explicit PgRows(pg_result* result) : result_(result, &clear) {}
  size_t size() const;
  std::string_view text(size_t row, int column) const;  // empty for null
  int64_t number(size_t row, int column) const;
  std::string bytes(size_t row, int column) const;  // of bytea
  bool is_done() const;
  std::string fault(int field) const;  // of libpq's fields; empty: there is none

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
  enum class For { Writing, Anything };  // Anything: also a standby, if nobody else answers
  // To the newest of the URL's servers that take writes, each tried for its share of `within` or as long as connect_timeout
  // says, and for a moment once one is found. None that is older than `known` is taken. BadInput: the URL cannot be read.
  // Unreachable: all of them are standbys.
  static Result<PgConnection> open(const std::string& url, Duration within, For what = For::Writing,
                                   const std::optional<Primary>& known = {});
  // Those of the URL's servers that take writes now; none is asked where it names one alone.
  static std::vector<Primary> primaries(const std::string& url, Duration within);

  // The server; nothing: it is a standby.
  const std::optional<Primary>& primary() const { return primary_; }
  // The engine's process at the other end, as pg_stat_activity has it: `pid || ' since ' || backend_start`.
  const std::string& backend() const { return backend_; }

  // In a transaction of its own, which is committed when this returns; with parameters $1, $2... `within`: for so long the
  // engine may be silent. With a refusal(): the engine refused it, BadInput if it will again. Else nobody knows whether it was
  // done, and the connection is of no use any more unless is_waiting().
  Result<PgRows> run(const std::string& statement, const std::vector<PgValue>& values, Duration within);
  // The same, of a statement that is run again and again: the engine plans it once for each connection. It may be large: what
  // has not arrived in time is_sending().
  Result<PgRows> run_again(const char* statement, const std::vector<PgValue>& values, Duration within);
  // The last statement was not answered in time, and may still be: until then nothing else can be asked.
  bool is_waiting() const;
  // It has not arrived as a whole yet, and goes on arriving: the line is slow.
  bool is_sending() const;
  // Goes on waiting, as run().
  Result<PgRows> wait_on(Duration within) { return finish(within); }
  // Several statements, for making tables.
  Result<void> run_script(const std::string& statements, Duration within);

  // What others have told since: rows of the log, or (kRulesNotice) that they go by other rules.
  struct Notices {
    bool rows = false;
    bool rules = false;
  };
  Notices take_notices();
  // To be waited for beside others; -1: there is none any more.
  int descriptor() const;
  // The five letters of the refusal (SQLSTATE) if the last statement was refused.
  const std::string& refusal() const { return refusal_; }

 private:
  struct State;
  explicit PgConnection(pg_conn* connection);
  static Result<PgConnection> connect(const Server& server, Duration within);
  Result<void> begin_session(const std::string& server, Duration within);
  Result<PgRows> finish(Duration within);
  Result<PgRows> finish_as_it_arrives(Duration within);
  std::shared_ptr<State> state_;
  std::string refusal_;
  std::string backend_;
  std::optional<Primary> primary_;
};

}  // namespace armgate::cluster
