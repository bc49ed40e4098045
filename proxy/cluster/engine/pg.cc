#include "proxy/cluster/engine/pg.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "proxy/seams/real_clock.h"

namespace armgate::cluster {
namespace {

TimePoint time_now() { return RealClock().now(); }

// What libpq says, in one line.
std::string said(const char* text) {
  std::string line = text == nullptr ? "" : text;
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  return line;
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

}  // namespace

struct PgConnection::State {
  explicit State(PGconn* connection_) : connection(connection_) {}
  ~State() { PQfinish(connection); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  PGconn* connection;
  bool without_standby = false;  // a commit was told as done although no standby has it
};

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

PgConnection::PgConnection(pg_conn* connection) : state_(std::make_shared<State>(connection)) {
  const auto notice = [](void* state, const char* text) {
    if (std::string_view(text).find("synchronous replication") != std::string_view::npos)
      static_cast<State*>(state)->without_standby = true;
  };
  PQsetNoticeProcessor(connection, notice, state_.get());
}

Result<PgConnection> PgConnection::open(const std::string& url, Duration within, For what) {
  const char* const names[] = {"dbname",           "fallback_application_name", "keepalives_idle",
                               "tcp_user_timeout", "target_session_attrs",      nullptr};
  const char* const values[] = {url.c_str(), "armgate", "5", "10000", what == For::Writing ? "read-write" : "any", nullptr};
  PgConnection opened(PQconnectStartParams(names, values, 1));
  PGconn* const connection = opened.state_->connection;
  const auto until = time_now() + within;
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  while (PQstatus(connection) != CONNECTION_BAD && next != PGRES_POLLING_OK && next != PGRES_POLLING_FAILED) {
    const short events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    if (!wait_for(PQsocket(connection), events, until)) {
      return gateway_error(ErrorKind::TimedOut, fmt::format("the cluster's engine did not answer within {} s",
                                                            std::chrono::duration_cast<std::chrono::seconds>(within).count()));
    }
    next = PQconnectPoll(connection);
  }
  if (PQstatus(connection) != CONNECTION_OK) {
    return gateway_error(ErrorKind::Internal, fmt::format("the cluster's engine: {}", said(PQerrorMessage(connection))));
  }
  PQsetnonblocking(connection, 1);
  return opened;
}

Result<PgRows> PgConnection::finish(Duration within) {
  PGconn* const connection = state_->connection;
  const auto until = time_now() + within;
  const auto broken = [&]() -> Error {
    std::string why = said(PQerrorMessage(connection));
    if (why.empty()) why = "no answer in time";
    PQfinish(std::exchange(state_->connection, nullptr));
    return gateway_error(ErrorKind::TimedOut, fmt::format("the cluster's engine: {}", why));
  };
  while (true) {
    const int flushed = PQflush(connection);
    if (flushed < 0) return broken();
    if (flushed == 0) break;
    if (!wait_for(PQsocket(connection), POLLIN | POLLOUT, until)) return broken();
    if (PQconsumeInput(connection) != 1) return broken();
  }
  // Not before the last of it, null, is the transaction committed.
  pg_result* last = nullptr;
  while (true) {
    while (PQisBusy(connection) == 1) {
      if (!wait_for(PQsocket(connection), POLLIN, until) || PQconsumeInput(connection) != 1) {
        PQclear(last);
        return broken();
      }
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
  const PgRows rows(last);
  const auto status = PQresultStatus(last);
  if (std::exchange(state_->without_standby, false)) {
    return gateway_error(ErrorKind::TimedOut, "the cluster's engine gave up waiting for its standby");
  }
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) return rows;
  if (PQstatus(connection) != CONNECTION_OK) return broken();
  const char* const state = PQresultErrorField(last, PG_DIAG_SQLSTATE);
  refusal_ = state == nullptr ? "" : state;
  return gateway_error(ErrorKind::BadInput,
                       fmt::format("the cluster's engine: {}", said(PQresultErrorField(last, PG_DIAG_MESSAGE_PRIMARY))));
}

Result<PgRows> PgConnection::run(const std::string& statement, const std::vector<PgValue>& values, Duration within) {
  std::vector<const char*> texts;
  std::vector<int> lengths;
  std::vector<int> formats;
  for (const PgValue& value : values) {
    texts.push_back(value.is_null ? nullptr : value.text.c_str());
    lengths.push_back(static_cast<int>(value.text.size()));
    formats.push_back(value.is_bytes ? 1 : 0);
  }
  PQsendQueryParams(state_->connection, statement.c_str(), static_cast<int>(values.size()), nullptr, texts.data(),
                    lengths.data(), formats.data(), 0);
  return finish(within);
}

Result<void> PgConnection::run_script(const std::string& statements, Duration within) {
  PQsendQuery(state_->connection, statements.c_str());
  const auto done = finish(within);
  if (!done) return done.error();
  return {};
}

bool PgConnection::take_notices() {
  PGconn* const connection = state_->connection;
  PQconsumeInput(connection);
  bool any = false;
  while (PGnotify* const told = PQnotifies(connection)) {
    any |= told->be_pid != PQbackendPID(connection);
    PQfreemem(told);
  }
  return any || PQstatus(connection) != CONNECTION_OK;
}

int PgConnection::descriptor() const { return PQsocket(state_->connection); }

}  // namespace armgate::cluster
