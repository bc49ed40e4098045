// engine_upkeep.cc – what a replica looks after at the cluster's engine, beside the log itself.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <system_error>
#include <utility>

#include "proxy/cluster/engine/engine.h"
#include "proxy/cluster/engine/schema.h"
#include "proxy/cluster/engine/setup.h"
#include "proxy/cluster/engine/shared_rules.h"

namespace armgate::cluster {
namespace {

constexpr Duration kLookEvery = std::chrono::seconds(10);
constexpr Duration kDeleteEvery = std::chrono::minutes(1);
constexpr Duration kDeleteMoreAfter = std::chrono::milliseconds(200);
// At once: the membership lease is kept by the same thread, which must not wait for long.
constexpr int64_t kRowsDeletedMax = 2'000;
constexpr int64_t kBytesDeletedMax = int64_t{16} << 20;

}  // namespace

void Engine::set_configured(std::string configured) {
  health_.change([&](Health& health) { health.configured = std::move(configured); });
  configured_changed_.store(true);
  wake();
}

void Engine::wake() const {
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = write(wake_, &one, sizeof one);
}

// Tells how this replica is configured now, and gives what others are that live.
Result<std::vector<std::string>> Engine::compare_configured() {
  Found::Member own;
  own.id = joined_.id;
  own.name = options_.name;
  own.configured = health_.get().configured;
  const auto others = tell_configured(*connection_, own);
  if (!others) return others.error();
  return differences(own, *others);
}

Result<void> Engine::share_rules() {
  return cluster::share_rules(*connection_, key_, joined_.id, replica_->claimants(), *rules_);
}

void Engine::note_found(const Found& found, const std::vector<std::string>& more) {
  auto warnings = warnings_of(found);
  warnings.insert(warnings.end(), more.begin(), more.end());
  if (rivals_) warnings.push_back(*rivals_);
  const auto changes = health_.change([&](Health& health) {
    auto told = changes_of(health.warnings, warnings);
    health.warnings = std::move(warnings);
    health.synchronous = found.synchronous;
    health.alive = found.alive;
    return told;
  });
  for (const std::string& change : changes) calls_.alert(change);
}

// A replica that hashed with another key would know no client and no resource that the others tell of.
Result<void> Engine::check_hash_key(const Found& found) const {
  const auto hash_key = hash_key_of(found, key_);
  if (!hash_key) return hash_key.error();
  if (hash_key->first == joined_.hash_key.first && hash_key->second == joined_.hash_key.second) return {};
  return gateway_error(
      ErrorKind::Internal,
      "a journal was imported into the cluster while this replica began, and its hashes, of another key, are the "
      "cluster's now: start it again");
}

// An engine that was promoted without its tail may have as many rows again, of others. The log goes on from each row to the
// next, so that if the newest is the same, all are. One that is not there was deleted: it is old, and nobody has told anything
// since.
Result<bool> Engine::has_what_was_applied() {
  const auto found = connection_->run(
      "select h.number >= $1, g.number is not null, g.replica, g.batch, (extract(epoch from g.at) * 1000000)::bigint "
      "from armgate.head h left join armgate.log g on g.number = $1",
      {pg_number(static_cast<int64_t>(replica_->applied()))}, kStatementMax);
  if (!found) return found.error();
  if (found->size() == 0 || found->text(0, 0) != "t") return false;
  const bool is_there = found->text(0, 1) == "t";
  if (!newest_ || newest_->number != replica_->applied() || !is_there) return true;
  return newest_->author == static_cast<ReplicaId>(found->number(0, 2)) &&
         newest_->batch == static_cast<uint64_t>(found->number(0, 3)) && newest_->begun == found->number(0, 4);
}

// Beside this thread, which must go on saying that it lives: names are looked up for as long as the system's resolver likes.
// All replicas ask so often that none is a membership lease behind the first that changes to another server.
void Engine::ask_servers() {
  if (asked_servers_.valid() || now() < next_ask_) return;
  next_ask_ = now() + std::min<Duration>(kLookEvery, joined_.membership_lease / 2);
  try {
    asked_servers_ = std::async(std::launch::async, [url = options_.url, within = options_.connect_max] {
      return PgConnection::primaries(url, within);
    });
  } catch (const std::system_error&) {  // no further thread is to be had: asked again later
  }
}

Result<void> Engine::heed_servers() {
  ask_servers();
  if (!asked_servers_.valid() || asked_servers_.wait_for(Duration::zero()) != std::future_status::ready) return {};
  const auto servers = asked_servers_.get();
  auto rivals = rivals_among(servers);
  if (rivals != rivals_) next_look_ = TimePoint{};  // which tells it
  rivals_ = std::move(rivals);
  for (const Primary& server : servers) {
    if (known_ && is_older(*known_, server)) known_ = server;
  }
  const auto& ours = connection_->primary();
  if (!known_ || !ours || !is_older(*ours, *known_)) return {};
  return gateway_error(ErrorKind::Unreachable, fmt::format("{} was promoted, and {} is an old primary (timelines {} and {})",
                                                           known_->name, ours->name, known_->timeline, ours->timeline));
}

Result<void> Engine::look_again() {
  next_look_ = now() + kLookEvery;
  const auto found = look_at(*connection_);
  if (!found) return found.error();
  if (const auto fits = check_joinable(*found, key_); !fits) {
    calls_.end(fits.error().context);
  } else if (const auto same = check_hash_key(*found); !same) {
    calls_.end(same.error().context);
  }
  const auto differ = compare_configured();
  if (!differ) return differ.error();
  note_found(*found, *differ);
  return share_rules();
}

Result<void> Engine::delete_old() {
  const auto keep = std::chrono::duration_cast<std::chrono::seconds>(options_.keep).count();
  const auto done = connection_->run(kDeleteRows,
                                     {pg_number(static_cast<int64_t>(replica_->oldest_needed())), pg_number(keep),
                                      pg_number(kRowsDeletedMax), pg_number(kBytesDeletedMax)},
                                     kStatementMax);
  if (!done) return done.error();
  if (done->text(0, 0) == "t") next_delete_ = now() + kDeleteMoreAfter;
  const auto forgotten = connection_->run(
      "delete from armgate.replica where (dead or clean) and alive_until < clock_timestamp() - make_interval(secs => $1)",
      {pg_number(keep)}, kStatementMax);
  if (!forgotten) return forgotten.error();
  return forget_rules(*connection_);
}

Result<void> Engine::now_and_then() {
  if (auto newest = heed_servers(); !newest) return newest;
  if (now() >= next_look_ || configured_changed_.exchange(false)) {
    if (auto looked = look_again(); !looked) return looked;
  }
  if (now() < next_delete_) return {};
  next_delete_ = now() + kDeleteEvery;
  return delete_old();
}

}  // namespace armgate::cluster
