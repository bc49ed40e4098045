#include "proxy/cluster/engine/setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "proxy/cluster/engine/configured.h"
#include "proxy/cluster/engine/schema.h"

namespace armgate::cluster {
namespace {

constexpr std::string_view kHashKeyPlace = "hash key";
constexpr Duration kLongStatementMax = std::chrono::seconds(10);
static_assert(std::size(kSchemaSteps) == kSchemaVersion);

Error bad(std::string text) { return gateway_error(ErrorKind::BadInput, std::move(text)); }

Result<void> read_tables(PgConnection& connection, Found& found) {
  const auto meta = connection.run(
      "select version, fingerprint, (extract(epoch from lease) * 1000)::bigint, "
      "(extract(epoch from clock_timestamp() - known_from) * 1000)::bigint from armgate.meta",
      {}, kStatementMax);
  if (!meta) return meta.error();
  if (meta->size() == 0)
    return bad("the cluster's tables are half made: drop the schema \"armgate\" and run armgate cluster init again");
  found.version = static_cast<int>(meta->number(0, 0));
  found.fingerprint = meta->text(0, 1);
  found.membership_lease = std::chrono::milliseconds(meta->number(0, 2));
  found.known_for = std::chrono::milliseconds(meta->number(0, 3));
  if (found.version != kSchemaVersion) return {};
  const auto more = connection.run(
      "select coalesce(hash_key, ''), (select count(*) from armgate.replica where not dead and not clean and alive_until >= "
      "clock_timestamp()) from armgate.meta",
      {}, kStatementMax);
  if (!more) return more.error();
  found.hash_key = more->bytes(0, 0);
  found.alive = static_cast<size_t>(more->number(0, 1));
  return {};
}

constexpr const char* kMemberColumns =
    "select id, name, program, case when clean then 'left' when dead then 'dead' when alive_until < clock_timestamp() then 'silent' "
    "else 'alive' end, extract(epoch from clock_timestamp() - began)::bigint, configured from armgate.replica ";

std::vector<Found::Member> members_of(const PgRows& rows) {
  std::vector<Found::Member> members;
  for (size_t i = 0; i < rows.size(); ++i) {
    members.push_back({rows.number(i, 0), std::string(rows.text(i, 1)), std::string(rows.text(i, 2)),
                       std::string(rows.text(i, 3)), rows.number(i, 4), std::string(rows.text(i, 5))});
  }
  return members;
}

Result<void> count_all(PgConnection& connection, Found& found) {
  const auto members =
      connection.run(std::string(kMemberColumns) + "order by clean or dead, alive_until < clock_timestamp(), id desc limit 100",
                     {}, kStatementMax);
  if (!members) return members.error();
  found.members = members_of(*members);
  const auto rows =
      connection.run("select count(*), coalesce(sum(octet_length(events)), 0)::bigint from armgate.log", {}, kLongStatementMax);
  if (!rows) return rows.error();
  found.rows = rows->number(0, 0);
  found.bytes = rows->number(0, 1);
  return {};
}

}  // namespace

Result<Found> look_at(PgConnection& connection) {
  Found found;
  const auto engine = connection.run(
      "select pg_is_in_recovery(), current_setting('synchronous_commit'), current_setting('synchronous_standby_names'), "
      "(select count(*) filter (where sync_state in ('sync', 'quorum')) from pg_stat_replication), "
      "(select count(*) filter (where sync_state is null) from pg_stat_replication), to_regclass('armgate.meta') is not null",
      {}, kStatementMax);
  if (!engine) return engine.error();
  found.is_standby = engine->text(0, 0) == "t";
  const auto commit = engine->text(0, 1);
  found.commits_locally = commit == "off" || commit == "local";
  found.waits_for_standby = !engine->text(0, 2).empty();
  found.synchronous = static_cast<size_t>(engine->number(0, 3));
  // PostgreSQL shows the state of standbys only to pg_monitor, but everybody sees their number. None counted although there are
  // some means: not known.
  if (*found.synchronous == 0 && engine->number(0, 4) > 0) found.synchronous = std::nullopt;
  if (engine->text(0, 5) != "t") return found;
  if (auto read = read_tables(connection, found); !read) return std::move(read).error();
  return found;
}

Result<Found> look_closely_at(PgConnection& connection) {
  auto found = look_at(connection);
  if (!found || found->version != kSchemaVersion) return found;
  if (auto counted = count_all(connection, *found); !counted) return std::move(counted).error();
  return found;
}

Result<std::vector<Found::Member>> tell_configured(PgConnection& connection, const Found::Member& own) {
  const auto rows = connection.run(
      std::string("with told as (update armgate.replica set configured = $1 where id = $2 and configured <> $1) ") +
          kMemberColumns +
          "where not dead and not clean and alive_until >= clock_timestamp() and configured <> $1 and id <> $2 order by id limit 100",
      {pg_text(own.configured), pg_number(own.id)}, kStatementMax);
  if (!rows) return rows.error();
  return members_of(*rows);
}

std::vector<std::string> differences(const Found::Member& like, const std::vector<Found::Member>& members) {
  std::vector<std::string> told;
  for (const Found::Member& member : members) {
    const std::string in = member.state == "alive" ? difference(like.configured, member.configured) : std::string();
    if (in.empty()) continue;
    told.push_back(
        fmt::format("replica {} ({}) is configured otherwise than {} ({}): {}. They do not protect the same: make them alike",
                    member.name, member.id, like.name, like.id, in));
  }
  return told;
}

Result<void> check_joinable(const Found& found, const ClusterKey& key) {
  if (found.is_standby) return standby_error();
  if (!found.version) return bad("the cluster's engine has no tables of armgate: run armgate cluster init");
  if (*found.version < kSchemaVersion) {
    return bad(fmt::format("the cluster's tables are of version {}, this armgate's of {}: run armgate cluster upgrade",
                           *found.version, kSchemaVersion));
  }
  if (*found.version > kSchemaVersion) {
    return bad(fmt::format("the cluster's tables are of version {}, which this armgate ({}) does not know: use a newer one",
                           *found.version, kSchemaVersion));
  }
  if (found.fingerprint != key.fingerprint()) {
    return bad(fmt::format("cluster.key_file holds another key ({}) than the cluster was made with ({})", key.fingerprint(),
                           found.fingerprint));
  }
  return {};
}

Result<HashKey> hash_key_of(const Found& found, const ClusterKey& key) {
  if (found.hash_key.empty()) return key.hash_key();
  const auto opened = key.open(found.hash_key, kHashKeyPlace);
  const auto read = opened ? Hash128::from_hex(*opened) : std::nullopt;
  if (!read) return gateway_error(ErrorKind::Internal, "the cluster's hash key cannot be opened with cluster.key_file");
  return HashKey{read->high, read->low};
}

std::string seal_hash_key(HashKey hash_key, const ClusterKey& key) {
  return key.seal(Hash128{hash_key.first, hash_key.second}.hex(), kHashKeyPlace);
}

std::vector<std::string> warnings_of(const Found& found) {
  std::vector<std::string> warnings;
  const char* const lost =
      "what it acknowledged is forgotten with it, so that a write may go on an old read and an action may run twice";
  if (found.is_standby) return warnings;  // of the primary all of this is asked
  if (!found.waits_for_standby) {
    warnings.push_back(fmt::format("the cluster's engine has no synchronous standby (synchronous_standby_names): {}", lost));
  } else if (found.commits_locally) {
    warnings.push_back(fmt::format("the cluster's engine does not wait for its standby (synchronous_commit): {}", lost));
  } else if (!found.synchronous) {
    warnings.push_back(
        "whether a synchronous standby is connected to the cluster's engine cannot be told without pg_monitor: grant it to armgate's "
        "role (grant pg_monitor to ...)");
  } else if (*found.synchronous == 0) {
    warnings.push_back(kNoStandby);
  }
  return warnings;
}

bool waits_in_vain(const Found& found) { return found.waits_for_standby && !found.commits_locally && found.synchronous == 0; }

std::vector<std::string> changes_of(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  const auto has = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  std::vector<std::string> changes;
  for (const std::string& warning : after) {
    if (!has(before, warning)) changes.push_back(warning);
  }
  for (const std::string& warning : before) {
    if (!has(after, warning)) changes.push_back("no longer so: " + warning);
  }
  return changes;
}

Result<void> make_tables(PgConnection& connection, const ClusterKey& key, Duration membership_lease) {
  const auto found = look_at(connection);
  if (!found) return found.error();
  if (found->is_standby) return standby_error();
  if (found->version) return bad(fmt::format("the cluster's tables are there already, of version {}", *found->version));
  std::string script = "begin;";
  for (const char* step : kSchemaSteps) script += step;
  script +=
      fmt::format("insert into armgate.meta(version, fingerprint, lease) values ({}, '{}', make_interval(secs => {})); commit;",
                  kSchemaVersion, key.fingerprint(), std::chrono::duration<double>(membership_lease).count());
  return connection.run_script(script, kLongStatementMax);
}

Result<int> upgrade_tables(PgConnection& connection) {
  const auto found = look_at(connection);
  if (!found) return found.error();
  if (!found->version) return bad("the cluster's engine has no tables of armgate: run armgate cluster init");
  if (*found->version > kSchemaVersion)
    return bad(fmt::format("the cluster's tables are of version {}, which this armgate ({}) does not know", *found->version,
                           kSchemaVersion));
  if (*found->version == kSchemaVersion) return *found->version;
  std::string script = "begin;";
  for (int step = *found->version; step < kSchemaVersion; ++step) script += kSchemaSteps[step];
  script += fmt::format("update armgate.meta set version = {}; commit;", kSchemaVersion);
  if (auto done = connection.run_script(script, kLongStatementMax); !done) return std::move(done).error();
  return *found->version;
}

}  // namespace armgate::cluster
