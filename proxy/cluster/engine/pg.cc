#include "proxy/cluster/engine/pg.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "proxy/cluster/engine/pg_servers.h"
#include "proxy/seams/real_clock.h"

namespace armgate::cluster {
namespace {

TimePoint time_now() { return RealClock().now(); }

// What libpq says, in one line: its own lines may begin with tabs.
std::string said(const char* text) {
  std::string line;
  bool is_gap = false;
  for (const char c : std::string_view(text == nullptr ? "" : text)) {
    const bool is_space = c == '\n' || c == '\t' || c == ' ';
    if (!is_space && is_gap && !line.empty()) line += ' ';
    if (!is_space) line += c;
    is_gap = is_space;
  }
  return line;
}

// Why no connection came about. Of a certificate libpq does not say whom it is checked against.
std::string why_not(PGconn* connection) {
  std::string why = said(PQerrorMessage(connection));
  if (why.find("certificate verify failed") == std::string::npos) return why;
  PQconninfoOption* const options = PQconninfo(connection);
  std::string root;
  for (const PQconninfoOption* option = options; option != nullptr && option->keyword != nullptr; ++option) {
    if (std::string_view(option->keyword) == "sslrootcert" && option->val != nullptr) root = option->val;
  }
  PQconninfoFree(options);
  return fmt::format("{} (it must be valid, and who signed it must stand in sslrootcert, {})", why,
                     root.empty() ? "~/.postgresql/root.crt" : root);
}

// False if it is not ready in time.
bool wait_for(int socket, short events, TimePoint until) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - time_now()).count();
    if (left <= 0) return false;
    pollfd descriptor{socket, events, 0};
    const int ready = poll(&descriptor, 1, static_cast<int>(std::min<int64_t>(left + 1, 60'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

// A right that is missing, a table, a column (Appendix A of PostgreSQL's manual): somebody must do something. All else may
// pass: a failover (25006), an engine that ends (57) or has no room (53). Of statements alone: why no connection came about
// libpq tells in words.
bool stays(std::string_view state) { return state.starts_with("42") || state.starts_with("3F"); }

// As libpq takes them; the values must outlive it.
struct Parameters {
  explicit Parameters(const std::vector<PgValue>& values) {
    for (const PgValue& value : values) {
      texts.push_back(value.is_null ? nullptr : value.text.c_str());
      lengths.push_back(static_cast<int>(value.text.size()));
      formats.push_back(value.is_bytes ? 1 : 0);
    }
  }
  int count() const { return static_cast<int>(texts.size()); }

  std::vector<const char*> texts;
  std::vector<int> lengths;
  std::vector<int> formats;
};

}  // namespace

struct PgConnection::State {
  explicit State(PGconn* connection_) : connection(connection_) {}
  ~State() {
    PQclear(last);
    PQfinish(connection);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  PGconn* connection;
  bool is_waiting = false;       // for the answer to a statement
  pg_result* last = nullptr;     // of that answer so far
  bool without_standby = false;  // a commit was told as done although no standby has it
  std::vector<const char*> prepared;
};

// At a failover there is a moment in which nobody takes writes.
Error standby_error() { return gateway_error(ErrorKind::Unreachable, kIsStandby); }

size_t PgRows::size() const { return static_cast<size_t>(PQntuples(result_.get())); }
std::string_view PgRows::text(size_t row, int column) const {
  const auto at = static_cast<int>(row);
  return {PQgetvalue(result_.get(), at, column), static_cast<size_t>(PQgetlength(result_.get(), at, column))};
}
int64_t PgRows::number(size_t row, int column) const {
  const auto digits = text(row, column);
  int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::string PgRows::bytes(size_t row, int column) const {
  const auto value = [](char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; };
  std::string_view hex = text(row, column);
  std::string bytes;
  if (hex.starts_with("\\x")) hex.remove_prefix(2);
  bytes.reserve(hex.size() / 2);
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes.push_back(static_cast<char>(value(hex[i]) * 16 + value(hex[i + 1])));
  return bytes;
}

void PgRows::clear(pg_result* result) { PQclear(result); }
bool PgRows::is_done() const {
  const auto status = PQresultStatus(result_.get());
  return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}
std::string PgRows::fault(int field) const { return said(PQresultErrorField(result_.get(), field)); }

PgConnection::PgConnection(pg_conn* connection) : state_(std::make_shared<State>(connection)) {
  const auto notice = [](void* state, const char* text) {
    if (std::string_view(text).find("synchronous replication") != std::string_view::npos)
      static_cast<State*>(state)->without_standby = true;
  };
  PQsetNoticeProcessor(connection, notice, state_.get());
}

Result<PgConnection> PgConnection::connect(const Server& server) {
  std::vector<const char*> names;
  std::vector<const char*> values;
  for (const auto& [name, value] : server.options) {
    names.push_back(name.c_str());
    values.push_back(value.c_str());
  }
  // Later ones count; whether it takes writes is asked here.
  for (const auto& [name, value] : {std::pair{"fallback_application_name", "armgate"}, std::pair{"keepalives_idle", "5"},
                                    std::pair{"tcp_user_timeout", "10000"}, std::pair{"target_session_attrs", "any"}}) {
    names.push_back(name);
    values.push_back(value);
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  PgConnection opened(PQconnectStartParams(names.data(), values.data(), 0));
  PGconn* const connection = opened.state_->connection;
  const auto until = time_now() + server.within;
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  while (PQstatus(connection) != CONNECTION_BAD && next != PGRES_POLLING_OK && next != PGRES_POLLING_FAILED) {
    const short events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    if (!wait_for(PQsocket(connection), events, until)) {
      return gateway_error(ErrorKind::TimedOut, fmt::format("{} did not answer within {:.3g} s", server.name,
                                                            std::chrono::duration<double>(server.within).count()));
    }
    next = PQconnectPoll(connection);
  }
  if (PQstatus(connection) != CONNECTION_OK) return gateway_error(ErrorKind::Internal, why_not(connection));
  PQsetnonblocking(connection, 1);
  return opened;
}

Result<bool> PgConnection::takes_writes(Duration within) {
  const char* const told = PQparameterStatus(state_->connection, "in_hot_standby");
  if (told != nullptr && std::string_view(told) == "on") return false;
  const auto shown = run("show transaction_read_only", {}, within);
  if (!shown) return shown.error();
  return shown->text(0, 0) == "off";
}

Result<PgConnection> PgConnection::open(const std::string& url, Duration within, For what) {
  const auto servers = servers_of(url, within);
  if (!servers) return servers.error();
  std::optional<PgConnection> standby;
  std::vector<std::string> faults;
  size_t standbys = 0;
  for (const Server& server : *servers) {
    auto opened = connect(server);
    if (!opened) {
      faults.push_back(opened.error().context);
      continue;
    }
    const auto writes = opened->takes_writes(server.within);
    if (writes && *writes) return opened;
    if (writes) {
      ++standbys;
      standby = *std::move(opened);
    }
    faults.push_back(writes ? fmt::format("{} is a standby", server.name) : writes.error().context);
  }
  if (standby && what == For::Anything) return *std::move(standby);
  if (standbys == servers->size()) return standby_error();
  return gateway_error(ErrorKind::TimedOut, fmt::format("the cluster's engine: {}", fmt::join(faults, "; ")));
}

bool PgConnection::is_waiting() const { return state_->connection != nullptr && state_->is_waiting; }

Result<PgRows> PgConnection::finish(Duration within) {
  PGconn* const connection = state_->connection;
  pg_result*& last = state_->last;
  state_->is_waiting = true;
  refusal_.clear();
  auto until = time_now() + within;
  const auto late = [] { return gateway_error(ErrorKind::TimedOut, "the cluster's engine: no answer in time"); };
  const auto broken = [&]() -> Error {
    const std::string why = said(PQerrorMessage(connection));
    PQfinish(std::exchange(state_->connection, nullptr));
    return gateway_error(ErrorKind::TimedOut, fmt::format("the cluster's engine: {}", why.empty() ? "connection broken" : why));
  };
  while (true) {
    const int flushed = PQflush(connection);
    if (flushed < 0) return broken();
    if (flushed == 0) break;
    if (!wait_for(PQsocket(connection), POLLIN | POLLOUT, until)) return late();
    if (PQconsumeInput(connection) != 1) return broken();
  }
  // Not before the last of it, null, is the transaction committed.
  while (true) {
    while (PQisBusy(connection) == 1) {
      if (!wait_for(PQsocket(connection), POLLIN, until)) return late();
      if (PQconsumeInput(connection) != 1) return broken();
      until = time_now() + within;
    }
    pg_result* const next = PQgetResult(connection);
    if (next == nullptr) break;
    const auto status = PQresultStatus(last);
    if (last != nullptr && status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
      PQclear(next);  // the first fault counts
      continue;
    }
    PQclear(last);
    last = next;
  }
  state_->is_waiting = false;
  const PgRows rows(std::exchange(last, nullptr));
  if (std::exchange(state_->without_standby, false)) {
    return gateway_error(ErrorKind::TimedOut, "the cluster's engine gave up waiting for its standby");
  }
  if (rows.is_done()) return rows;
  if (PQstatus(connection) != CONNECTION_OK) return broken();
  refusal_ = rows.fault(PG_DIAG_SQLSTATE);
  return gateway_error(stays(refusal_) ? ErrorKind::BadInput : ErrorKind::Internal,
                       fmt::format("the cluster's engine: {}", rows.fault(PG_DIAG_MESSAGE_PRIMARY)));
}

Result<PgRows> PgConnection::run(const std::string& statement, const std::vector<PgValue>& values, Duration within) {
  const Parameters given(values);
  PQsendQueryParams(state_->connection, statement.c_str(), given.count(), nullptr, given.texts.data(), given.lengths.data(),
                    given.formats.data(), 0);
  return finish(within);
}

Result<PgRows> PgConnection::run_again(const char* statement, const std::vector<PgValue>& values, Duration within) {
  auto& prepared = state_->prepared;
  const auto place = std::find(prepared.begin(), prepared.end(), statement);
  const std::string name = fmt::format("armgate{}", place - prepared.begin());
  const Parameters given(values);
  if (place == prepared.end()) {
    prepared.push_back(statement);  // also if it is answered late
    PQsendPrepare(state_->connection, name.c_str(), statement, given.count(), nullptr);
    if (const auto done = finish(within); !done) return done.error();
  }
  PQsendQueryPrepared(state_->connection, name.c_str(), given.count(), given.texts.data(), given.lengths.data(),
                      given.formats.data(), 0);
  return finish(within);
}

Result<void> PgConnection::run_script(const std::string& statements, Duration within) {
  PQsendQuery(state_->connection, statements.c_str());
  const auto done = finish(within);
  if (!done) return done.error();
  return {};
}

PgConnection::Notices PgConnection::take_notices() {
  PGconn* const connection = state_->connection;
  PQconsumeInput(connection);
  Notices notices;
  while (PGnotify* const told = PQnotifies(connection)) {
    const bool is_others = told->be_pid != PQbackendPID(connection);
    (std::string_view(told->extra) == kRulesNotice ? notices.rules : notices.rows) |= is_others;
    PQfreemem(told);
  }
  notices.rows |= PQstatus(connection) != CONNECTION_OK;
  return notices;
}

int PgConnection::descriptor() const { return PQsocket(state_->connection); }

}  // namespace armgate::cluster
