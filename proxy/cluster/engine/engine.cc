#include "proxy/cluster/engine/engine.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "proxy/cluster/engine/schema.h"
#include "proxy/cluster/engine/setup.h"
#include "proxy/seams/real_clock.h"

namespace armgate::cluster {
namespace {

constexpr Duration kFirstReadMax = std::chrono::minutes(1);
// While it keeps the log's rows from being deleted: stopped (SIGSTOP) just then, it would keep them for ever.
constexpr Duration kIdleAtStartMax = std::chrono::seconds(10);
constexpr Duration kTick = std::chrono::milliseconds(100);
constexpr Duration kTryAgainMax = std::chrono::seconds(5);
// Between these it says that it lives.
constexpr int64_t kRowsAtOnce = 500;
constexpr int64_t kBytesAtOnce = int64_t{4} << 20;

Error rows_missing(uint64_t from, uint64_t to) {
  return gateway_error(
      ErrorKind::Internal,
      fmt::format("rows {} to {} of the cluster's log are gone: they were deleted before this replica had read them. "
                  "Start it again, so that it begins with those that are left",
                  from, to));
}

// disk_full, or an error of the disk (PostgreSQL, appendix A): the same for all replicas, and another session helps nothing.
bool is_short_of_disk(std::string_view state) { return state == "53100" || state.starts_with("58"); }

std::vector<ReplicaId> ids_of(std::string_view braced) {
  std::vector<ReplicaId> ids;
  const char* at = braced.data();
  const char* const end = at + braced.size();
  while (at < end) {
    ReplicaId id = 0;
    const auto [stopped, error] = std::from_chars(at, end, id);
    if (error == std::errc{}) ids.push_back(id);
    at = stopped == at ? at + 1 : stopped;
  }
  return ids;
}

}  // namespace

TimePoint Engine::now() { return RealClock().now(); }

Engine::Engine(EngineOptions options, Calls calls, ClusterKey key, PgConnection connection)
    : options_(std::move(options)),
      calls_(std::move(calls)),
      key_(key),
      connection_(std::move(connection)),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      known_(connection_->primary()) {}

Engine::~Engine() {
  if (thread_.joinable()) close();
  if (replica_ != nullptr)
    replica_->on_post({});  // write leases that end later post to nobody, and not to whatever has that descriptor by then
  ::close(wake_);
}

Result<std::unique_ptr<Engine>> Engine::join(EngineOptions options, Calls calls) {
  auto key = ClusterKey::load(options.key_file);
  if (!key) return std::move(key).error();
  auto connection = PgConnection::open(options.url, options.connect_max);
  if (!connection) return std::move(connection).error();
  auto found = look_at(*connection);
  if (!found) return std::move(found).error();
  if (auto fits = check_joinable(*found, *key); !fits) return std::move(fits).error();
  // To try all the same would leave one more process of the engine waiting at every start.
  if (waits_in_vain(*found)) return gateway_error(ErrorKind::Internal, kNoStandby);
  const auto hash_key = hash_key_of(*found, *key);
  if (!hash_key) return hash_key.error();
  std::unique_ptr<Engine> engine(new Engine(std::move(options), std::move(calls), *key, *std::move(connection)));
  auto registered =
      engine->connection_->run(kAddReplica, {pg_text(engine->options_.name), pg_text(ARMGATE_VERSION)}, kStatementMax);
  if (!registered) return std::move(registered).error();
  engine->joined_ = {static_cast<ReplicaId>(registered->number(0, 0)), found->membership_lease, *hash_key, found->known_for};
  engine->set_configured(engine->options_.configured);
  auto differ = engine->compare_configured();
  if (!differ) return std::move(differ).error();
  engine->note_found(*found, *differ);
  return engine;
}

Result<std::vector<Row>> Engine::rows_of(const PgRows& rows) const {
  std::vector<Row> read;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows.text(i, 0).empty()) continue;  // an answer of kAppend without rows
    Row row;
    row.number = static_cast<uint64_t>(rows.number(i, 0));
    row.begun = rows.number(i, 1);
    row.author = static_cast<ReplicaId>(rows.number(i, 2));
    row.batch = static_cast<uint64_t>(rows.number(i, 3));
    row.dead = ids_of(rows.text(i, 4));
    row.reads_missing = rows.text(i, 5) == "t";
    const std::string sealed = rows.bytes(i, 6);
    if (!sealed.empty()) {
      auto events = key_.open(sealed, place_of_row(row.author, row.batch));
      if (!events) {
        return gateway_error(ErrorKind::Internal,
                             fmt::format("row {} of the cluster's log cannot be opened with this key", row.number));
      }
      row.events = *std::move(events);
    }
    read.push_back(std::move(row));
  }
  return read;
}

Result<void> Engine::apply(const PgRows& rows) {
  auto read = rows_of(rows);
  if (!read) return unreadable(std::move(read).error());
  for (const Row& row : *read) {
    const uint64_t next = replica_->applied() + 1;
    if (row.number > next) {
      // The log has no gaps: rows in between were deleted. Of what they ended the replica would know only how it began.
      if (has_applied_ || is_one_of_them_) return unreadable(rows_missing(next, row.number - 1));
      replica_->begin_at(row.number - 1);
    }
    has_applied_ = true;
    if (!replica_->apply(row)) {
      return unreadable(gateway_error(ErrorKind::Internal,
                                      fmt::format("row {} of the cluster's log is of another version of armgate", row.number)));
    }
    if (row.number == replica_->applied()) newest_ = RowIdentity{row.number, row.begun, row.author, row.batch};
  }
  return {};
}

// A replica that went on would never learn anything again, and yet count as alive for the others, with all that it holds.
Error Engine::unreadable(Error error) const {
  if (is_one_of_them_) calls_.end(error.context);
  return error;
}

Result<bool> Engine::read_some(Duration silence) {
  const auto rows = connection_->run_again(
      kReadRows, {pg_number(static_cast<int64_t>(replica_->applied())), pg_number(kRowsAtOnce), pg_number(kBytesAtOnce)},
      silence);
  if (!rows) return rows.error();
  if (auto applied = apply(*rows); !applied) return std::move(applied).error();
  return rows->size() > 0 && static_cast<uint64_t>(rows->number(0, kNewestColumn)) > replica_->applied();
}

// A long log takes longer than a membership lease.
Result<void> Engine::read_all(Duration silence) {
  while (true) {
    const auto more = read_some(silence);
    if (!more) return more.error();
    if (!*more) return {};
    if (auto kept = stay_alive(*connection_); !kept) return kept;
  }
}

// Tells the others that it lives, and nothing else: needs no room in the log, its turn neither, nor a standby. Nothing may be
// sent for it.
Result<void> Engine::stay_alive(PgConnection& connection) const {
  const auto kept = connection.run(
      "update armgate.replica set alive_until = greatest(clock_timestamp(), h.at) + m.lease from armgate.meta m, armgate.head h "
      "where id = $1 and not dead and set_config('synchronous_commit', 'local', true) = 'local'",
      {pg_number(joined_.id)}, kStatementMax);
  if (!kept) return kept.error();
  return {};
}

Result<void> Engine::learn_time() {
  const TimePoint asked = now();
  const auto told = connection_->run("select (extract(epoch from clock_timestamp()) * 1000000)::bigint", {}, kStatementMax);
  if (!told) return told.error();
  replica_->positions().learn(asked, now(), told->number(0, 0));
  return {};
}

// Zero: it may be idle for ever.
Result<void> Engine::end_if_idle_for(Duration most) {
  const auto done = connection_->run("select set_config('idle_session_timeout', $1, false)",
                                     {pg_number(whole_milliseconds(most))}, kStatementMax);
  if (!done) return done.error();
  return {};
}

Result<void> Engine::start(Replica& replica, RulesToShare& rules) {
  replica_ = &replica;
  rules_ = &rules;
  if (auto told = learn_time(); !told) return told;
  if (auto bounded = end_if_idle_for(kIdleAtStartMax); !bounded) return bounded;
  if (const auto kept = connection_->run(kKeepRows, {}, kStatementMax); !kept) return kept.error();
  const auto first = connection_->run("select coalesce(min(number) - 1, (select number from armgate.head)) from armgate.log",
                                      {}, kStatementMax);
  if (!first) return first.error();
  replica.begin_at(static_cast<uint64_t>(first->number(0, 0)));
  if (auto read = read_all(kFirstReadMax); !read) return read;
  if (const auto let_go = connection_->run(kLetRowsGo, {}, kStatementMax); !let_go) return let_go.error();
  if (auto unbounded = end_if_idle_for(Duration{}); !unbounded) return unbounded;
  const auto listening = connection_->run("listen armgate", {}, kStatementMax);
  if (!listening) return listening.error();
  if (auto told = append(std::nullopt); !told) return told;
  // An import that had begun before this replica registered has ended by now, and none begins any more.
  const auto found = look_at(*connection_);
  if (!found) return found.error();
  if (auto same = check_hash_key(*found); !same) return same;
  if (auto shared = share_rules(); !shared) return shared;
  is_one_of_them_ = true;
  replica.on_post([this] { wake(); });
  thread_ = std::thread([this] { run(); });
  return {};
}

Result<void> Engine::append(const std::optional<Replica::Batch>& batch) {
  const TimePoint asked = now();
  PgValue events = pg_null();
  if (batch) events = pg_bytes(key_.seal(batch->events, place_of_row(joined_.id, batch->number)));
  const auto rows = connection_->run_again(
      kAppend,
      {pg_number(joined_.id), pg_number(batch ? static_cast<int64_t>(batch->number) : 0), std::move(events),
       pg_number(static_cast<int64_t>(replica_->applied())), pg_text(batch && batch->reads_missing ? "t" : "f")},
      kStatementMax);
  if (!rows) {
    if (connection_->refusal() == kDeadState) calls_.end(rows.error().context);
    return rows.error();
  }
  health_.change([](Health& health) { ++health.commits; });
  replica_->confirm(asked, now());
  next_beat_ = asked + beat_every();
  if (auto applied = apply(*rows); !applied) return applied;
  if (static_cast<uint64_t>(rows->number(0, kNewestColumn)) <= replica_->applied()) return {};
  return read_all(kStatementMax);
}

Result<void> Engine::take(PgConnection connection) {
  connection_ = std::move(connection);
  known_ = connection_->primary();
  is_set_up_ = false;
  return set_up();
}

// Of a connection that takes the place of another. If one of these is answered late, all of them are asked again.
Result<void> Engine::set_up() {
  const auto has_all = has_what_was_applied();
  if (!has_all) return has_all.error();
  if (!*has_all) {
    calls_.end(
        "the cluster's engine has lost rows of the log that it had acknowledged: it has no synchronous standby, or not the one that was promoted");
  }
  if (auto looked = look_again(); !looked) return looked;
  replica_->positions().begin_anew();
  if (const auto listening = connection_->run("listen armgate", {}, kStatementMax); !listening) return listening.error();
  next_beat_ = TimePoint{};
  is_set_up_ = true;
  return {};
}

Result<PgConnection> Engine::open() const {
  return PgConnection::open(options_.url, options_.connect_max, PgConnection::For::Writing, known_);
}

Result<void> Engine::connect_again() {
  auto connection = open();
  if (!connection) return std::move(connection).error();
  return take(*std::move(connection));
}

// Until the statement that was not answered in time is, or its process at the engine is gone: with the engine that it was a
// process of.
Result<void> Engine::wait_on() {
  auto answered = connection_->wait_on(kTick);
  if (connection_->is_waiting()) {
    auto opened = open();
    if (!opened) return std::move(opened).error();
    std::optional<PgConnection> other = *std::move(opened);
    if (is_older(*connection_->primary(), *other->primary())) return take(*std::move(other));
    std::string waits = "is on its way to it still";
    if (connection_->is_sending()) {
      if (auto alive = stay_alive(*other); !alive) return alive;
    } else {
      const auto same = other->run(
          "select case when wait_event = 'SyncRep' then 'waits for its synchronous standby' else 'waits for another replica''s' end "
          "from pg_stat_activity where pid || ' since ' || backend_start = $1 and state <> 'idle'",
          {pg_text(connection_->backend())}, kStatementMax);
      if (!same) return same.error();
      if (same->size() == 0) return take(*std::move(other));
      waits = same->text(0, 0);
    }
    other.reset();
    answered = connection_->wait_on(std::min<Duration>(kStatementMax, joined_.membership_lease / 4));
    if (connection_->is_waiting())
      return gateway_error(ErrorKind::TimedOut, fmt::format("a commit of the cluster's engine {}", waits));
  }
  if (!answered && connection_->refusal().empty()) return std::move(answered).error();
  if (!is_set_up_) return set_up();
  // The log says what became of it. Sent again, a long batch would be late again.
  return append(std::nullopt);
}

// One round: tell, or hear.
Result<void> Engine::do_round() {
  if (!connection_) {
    if (auto connected = connect_again(); !connected) return connected;
  } else if (connection_->is_waiting()) {
    if (auto answered = wait_on(); !answered) return answered;
  }
  replica_->look_at_askers();
  // Not only when there is nothing to tell: what is known of the engine's clock gets old under load, too.
  if (replica_->positions().is_due(now(), beat_every())) {
    if (auto told = learn_time(); !told) return told;
  }
  auto batch = replica_->next_batch();
  const auto news = connection_->take_notices();
  if (news.rules) next_look_ = TimePoint{};
  if (batch || now() >= next_beat_) {
    if (auto told = append(batch); !told) return told;
  } else if (news.rows) {
    // What is visible was committed. But nothing of it is taken after a broken connection before the engine has taken something
    // of ours: an old primary shows what no standby has.
    if (auto read = read_all(kStatementMax); !read) return read;
  }
  return now_and_then();
}

void Engine::fail(const Error& error) {
  const bool is_waiting = connection_ && connection_->is_waiting();
  const bool was_reachable = health_.change([is_waiting](Health& health) {
    ++(is_waiting ? health.late : health.failed);
    return std::exchange(health.is_reachable, false);
  });
  if (was_reachable) calls_.alert(fmt::format("{}; until it answers again no write is sent", error.context));
  // Where the engine has no room, refused is what adds a row. The others would take all for dead that have something to tell.
  const bool lacks_room = connection_ && !is_waiting && is_set_up_ && is_short_of_disk(connection_->refusal());
  const bool is_kept = is_waiting || (lacks_room && (stay_alive(*connection_) || connection_->is_waiting()));
  if (!is_kept) connection_.reset();
  // Not all at the same moment; but who comes first takes for dead whoever is not there a membership lease later.
  const Duration most = std::min<Duration>(kTryAgainMax, joined_.membership_lease / 4);
  const Duration pause = std::min<Duration>(most, kTick * (int64_t{1} << std::min(tries_++, 6)));
  sleep(pause + pause * (joined_.id % 7) / 7);
}

void Engine::sleep(Duration most) {
  pollfd descriptors[2] = {{wake_, POLLIN, 0}, {connection_ ? connection_->descriptor() : -1, POLLIN, 0}};
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(most).count();
  poll(descriptors, connection_ ? 2 : 1, static_cast<int>(left));
  uint64_t posts = 0;
  [[maybe_unused]] const auto drained = read(wake_, &posts, sizeof posts);
}

void Engine::run() {
  while (!closing_.load()) {
    if (const auto done = do_round(); !done) {
      fail(done.error());
      continue;
    }
    tries_ = 0;
    const bool was_reachable = health_.change([](Health& health) { return std::exchange(health.is_reachable, true); });
    if (!was_reachable) calls_.alert("the cluster's engine answers again");
    if (!replica_->has_posts()) sleep(kTick);
  }
}

void Engine::close() {
  closing_.store(true);
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = write(wake_, &one, sizeof one);
  thread_.join();
  if (!connection_) return;
  if (connection_->is_waiting() && !connection_->wait_on(kStatementMax)) return;
  while (const auto batch = replica_->next_batch()) {
    if (!append(batch)) return;
  }
  [[maybe_unused]] const auto told =
      connection_->run("update armgate.replica set clean = true, alive_until = clock_timestamp() where id = $1",
                       {pg_number(joined_.id)}, kStatementMax);
}

}  // namespace armgate::cluster
