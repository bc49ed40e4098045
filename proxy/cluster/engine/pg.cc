#include "proxy/cluster/engine/pg.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libpq-fe.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "proxy/cluster/engine/pg_servers.h"
#include "proxy/seams/real_clock.h"

namespace armgate::cluster {
namespace {

constexpr int kVersionLeast = 140'000;
// Once a server that takes writes is found: one that is silent to us may keep us no longer from it.
constexpr Duration kOthersMax = std::chrono::seconds(1);

// First of all, as administrators set much for a role or a database, and before the first snapshot, which a standby refuses to
// transactions that are serializable by default. What is read here is hexadecimal. A commit that no standby has is told by a
// warning. No statement is given up for its time, because a commit must not be; none works on an old snapshot. The engine ends
// a process of which the other end is gone: while it waits for a lock (not a standby), and while nobody takes what it sends.
constexpr std::string_view kSession =
    "set statement_timeout = 0; set transaction_isolation = 'read committed'; set default_transaction_isolation = 'read committed'; "
    "set client_min_messages = warning; set bytea_output = hex; "
    "set idle_session_timeout = 0; set lock_timeout = 0; "
    "select set_config(name, '0', false) from pg_settings where name = 'transaction_timeout'; "  // since PostgreSQL 17
    "set client_connection_check_interval = '5s'; set tcp_user_timeout = '10s'; set tcp_keepalives_idle = 5; "
    "select current_setting('transaction_read_only') = 'off' and not pg_is_in_recovery(), {}, pg_postmaster_start_time(), "
    "(select pid || ' since ' || backend_start from pg_stat_activity where pid = pg_backend_pid())";
// Its timeline and its system. For a moment after a promotion the control file has the former timeline; the log does not.
constexpr std::string_view kLineage =
    "case when not pg_is_in_recovery() "
    "then ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint end, "
    "(select system_identifier from pg_control_system())";
// Where an administrator lets nobody ask for these. It takes two servers to miss them.
constexpr std::string_view kNoLineage = "0, ''";
constexpr std::string_view kNoPrivilege = "42501";

// Where PostgreSQL says that a commit is done although no standby has it: the words may be of any language.
constexpr std::string_view kWaitsForStandby = "SyncRepWaitForLSN";

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

// What it is ready for; 0: for nothing in time.
short wait_for(int socket, short events, TimePoint until) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - time_now()).count();
    if (left <= 0) return 0;
    pollfd descriptor{socket, events, 0};
    const int ready = poll(&descriptor, 1, static_cast<int>(std::min<int64_t>(left + 1, 60'000)));
    if (ready > 0) return descriptor.revents;
    if (ready < 0 && errno != EINTR) return 0;
  }
}

// Bytes that the other end has not acknowledged. Whether there is room for more tells little: of a large buffer a third must be
// free for that.
int bytes_on_the_way(int socket) {
  int bytes = 0;
  return ioctl(socket, SIOCOUTQ, &bytes) == 0 ? bytes : 0;
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
  bool is_waiting = false;  // for the answer to a statement
  int on_the_way = 0;       // bytes_on_the_way() at the last look
  TimePoint moved{};        // when it began, or some of it arrived

  void look_whether_it_moves(bool has_room) {
    const int now = bytes_on_the_way(PQsocket(connection));
    if (has_room || now < on_the_way) moved = time_now();
    on_the_way = now;
  }
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
  const auto notice = [](void* state, const pg_result* told) {
    const char* const function = PQresultErrorField(told, PG_DIAG_SOURCE_FUNCTION);
    if (function != nullptr && function == kWaitsForStandby) static_cast<State*>(state)->without_standby = true;
  };
  PQsetNoticeReceiver(connection, notice, state_.get());
}

Result<PgConnection> PgConnection::connect(const Server& server, Duration within) {
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
  const auto until = time_now() + within;
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  while (PQstatus(connection) != CONNECTION_BAD && next != PGRES_POLLING_OK && next != PGRES_POLLING_FAILED) {
    const short events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    if (wait_for(PQsocket(connection), events, until) == 0) {
      return gateway_error(ErrorKind::TimedOut, fmt::format("{} did not answer within {:.3g} s", server.name,
                                                            std::chrono::duration<double>(within).count()));
    }
    next = PQconnectPoll(connection);
  }
  if (PQstatus(connection) != CONNECTION_OK) return gateway_error(ErrorKind::Internal, why_not(connection));
  if (const int version = PQserverVersion(connection); version < kVersionLeast) {
    return gateway_error(ErrorKind::Internal, fmt::format("{} is PostgreSQL {}, and armgate needs {} or later", server.name,
                                                          version / 10'000, kVersionLeast / 10'000));
  }
  PQsetnonblocking(connection, 1);
  if (const auto begun = opened.begin_session(server.name, within); !begun) return begun.error();
  return opened;
}

Result<void> PgConnection::begin_session(const std::string& server, Duration within) {
  const auto ask = [&](std::string_view lineage) {
    PQsendQuery(state_->connection, fmt::format(kSession, lineage).c_str());
    return finish(within);
  };
  auto told = ask(kLineage);
  if (!told && refusal_ == kNoPrivilege) told = ask(kNoLineage);
  if (!told) return gateway_error(told.error().kind, fmt::format("{}: {}", server, told.error().context));
  backend_ = told->text(0, 4);
  if (told->text(0, 0) == "t")
    primary_ = Primary{server, std::string(told->text(0, 2)), told->number(0, 1), std::string(told->text(0, 3))};
  return {};
}

Result<PgConnection> PgConnection::open(const std::string& url, Duration within, For what,
                                        const std::optional<Primary>& known) {
  const auto servers = servers_of(url, within);
  if (!servers) return servers.error();
  std::vector<PgConnection> writers;
  std::vector<Primary> primaries;
  std::optional<PgConnection> standby;
  std::vector<std::string> faults;
  size_t standbys = 0;
  for (const Server& server : *servers) {
    auto opened = connect(server, writers.empty() ? server.within : std::min(server.within, kOthersMax));
    if (!opened) {
      faults.push_back(opened.error().context);
    } else if (!opened->primary_) {
      ++standbys;
      standby = *std::move(opened);
      faults.push_back(fmt::format("{} is a standby", server.name));
    } else if (known && is_older(*opened->primary_, *known)) {
      faults.push_back(fmt::format("{} takes writes, but is an old primary (timeline {}, and {} had {})", server.name,
                                   opened->primary_->timeline, known->name, known->timeline));
    } else {
      primaries.push_back(*opened->primary_);
      writers.push_back(*std::move(opened));
    }
  }
  if (const auto newest = newest_of(primaries)) return std::move(writers[*newest]);
  if (const auto rivals = rivals_among(primaries)) return gateway_error(ErrorKind::TimedOut, *rivals);
  if (standby && what == For::Anything) return *std::move(standby);
  if (standbys == servers->size()) return standby_error();
  return gateway_error(ErrorKind::TimedOut, fmt::format("the cluster's engine: {}", fmt::join(faults, "; ")));
}

std::vector<Primary> PgConnection::primaries(const std::string& url, Duration within) {
  std::vector<Primary> found;
  const auto servers = servers_of(url, within);
  if (!servers || servers->size() == 1) return found;
  for (const Server& server : *servers) {
    const auto opened = connect(server, std::min(server.within, kOthersMax));
    if (opened && opened->primary_) found.push_back(*opened->primary_);
  }
  return found;
}

bool PgConnection::is_waiting() const { return state_->connection != nullptr && state_->is_waiting; }

bool PgConnection::is_sending() const {
  return is_waiting() && state_->on_the_way > 0 && time_now() - state_->moved < kStatementMax;
}

Result<PgRows> PgConnection::finish(Duration within) {
  PGconn* const connection = state_->connection;
  pg_result*& last = state_->last;
  if (!std::exchange(state_->is_waiting, true)) state_->look_whether_it_moves(true);
  refusal_.clear();
  auto until = time_now() + within;
  const auto late = [&] {
    state_->look_whether_it_moves(false);
    return gateway_error(ErrorKind::TimedOut, "the cluster's engine: no answer in time");
  };
  const auto broken = [&]() -> Error {
    const std::string why = said(PQerrorMessage(connection));
    PQfinish(std::exchange(state_->connection, nullptr));
    return gateway_error(ErrorKind::TimedOut, fmt::format("the cluster's engine: {}", why.empty() ? "connection broken" : why));
  };
  while (true) {
    const int flushed = PQflush(connection);
    if (flushed < 0) return broken();
    if (flushed == 0) break;
    const short ready = wait_for(PQsocket(connection), POLLIN | POLLOUT, until);
    if (ready == 0) return late();
    if ((ready & POLLOUT) != 0) state_->look_whether_it_moves(true);
    if (PQconsumeInput(connection) != 1) return broken();
  }
  until = time_now() + within;
  // Not before the last of it, null, is the transaction committed.
  while (true) {
    while (PQisBusy(connection) == 1) {
      if (wait_for(PQsocket(connection), POLLIN, until) == 0) return late();
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

Result<PgRows> PgConnection::finish_as_it_arrives(Duration within) {
  auto answer = finish(within);
  while (!answer && is_sending()) answer = finish(within);
  return answer;
}

Result<PgRows> PgConnection::run(const std::string& statement, const std::vector<PgValue>& values, Duration within) {
  const Parameters given(values);
  PQsendQueryParams(state_->connection, statement.c_str(), given.count(), nullptr, given.texts.data(), given.lengths.data(),
                    given.formats.data(), 0);
  return finish_as_it_arrives(within);
}

Result<PgRows> PgConnection::run_again(const char* statement, const std::vector<PgValue>& values, Duration within) {
  auto& prepared = state_->prepared;
  const auto place = std::find(prepared.begin(), prepared.end(), statement);
  const std::string name = fmt::format("armgate{}", place - prepared.begin());
  const Parameters given(values);
  if (place == prepared.end()) {
    prepared.push_back(statement);  // also if it is answered late
    PQsendPrepare(state_->connection, name.c_str(), statement, given.count(), nullptr);
    if (const auto done = finish(within); !done) {
      if (!refusal_.empty()) prepared.pop_back();
      return done.error();
    }
  }
  PQsendQueryPrepared(state_->connection, name.c_str(), given.count(), given.texts.data(), given.lengths.data(),
                      given.formats.data(), 0);
  return finish(within);
}

Result<void> PgConnection::run_script(const std::string& statements, Duration within) {
  PQsendQuery(state_->connection, statements.c_str());
  const auto done = finish_as_it_arrives(within);
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
