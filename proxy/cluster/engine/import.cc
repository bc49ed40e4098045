#include "proxy/cluster/engine/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "proxy/cluster/codec.h"
#include "proxy/cluster/engine/setup.h"
#include "proxy/cluster/replica.h"
#include "proxy/seams/real_clock.h"

namespace armgate::cluster {
namespace {

constexpr Duration kWithin = std::chrono::seconds(30);
constexpr size_t kEventsInRow = 1'000;
constexpr int64_t kAllSeen = int64_t{1} << 62;  // nothing of the log is asked for

// By it the journal is known again; tells nothing of its key.
std::string name_of_journal(HashKey key) { return Hasher(key).hash("journal").hex(); }

// False: it was imported. In the transaction that keeps everybody else from appending.
Result<bool> may_import(PgConnection& connection, HashKey hash_key) {
  const auto head = connection.run("select number from armgate.head for update", {}, kWithin);
  if (!head) return head.error();
  const auto before = connection.run("select count(*) filter (where journal = $1), count(*) from armgate.import",
                                     {pg_text(name_of_journal(hash_key))}, kWithin);
  if (!before) return before.error();
  if (before->number(0, 0) > 0) return false;
  const auto replicas = connection.run("select count(*) from armgate.replica", {}, kWithin);
  if (!replicas) return replicas.error();
  if (before->number(0, 1) > 0) {
    return gateway_error(
        ErrorKind::BadInput,
        "another journal was imported into this cluster, and their hashes are of different keys: a cluster takes "
        "over one journal");
  }
  if (head->number(0, 0) > 0 || replicas->number(0, 0) > 0) {
    return gateway_error(
        ErrorKind::BadInput,
        "replicas have begun in this cluster, and their hashes are of another key than the journal's: import before the first of "
        "them starts. To begin anew stop them, drop the schema \"armgate\", and run armgate cluster init");
  }
  return true;
}

Result<void> append(PgConnection& connection, const ClusterKey& key, ReplicaId id, const std::vector<Event>& events) {
  uint64_t batch = 0;
  for (size_t begin = 0; begin < events.size(); begin += kEventsInRow) {
    const auto from = events.begin() + static_cast<ptrdiff_t>(begin);
    const std::vector<Event> row(from, from + static_cast<ptrdiff_t>(std::min(kEventsInRow, events.size() - begin)));
    ++batch;
    const std::string sealed = key.seal(encode(row, RealClock().now()), place_of_row(id, batch));
    const auto added =
        connection.run("select count(*) from armgate.append($1, $2, $3, $4, false)",
                       {pg_number(id), pg_number(static_cast<int64_t>(batch)), pg_bytes(sealed), pg_number(kAllSeen)}, kWithin);
    if (!added) return added.error();
  }
  return {};
}

Result<bool> import_in_transaction(PgConnection& connection, const ClusterKey& key, const ToImport& given) {
  auto may = may_import(connection, given.hash_key);
  if (!may || !*may) return may;
  const auto author = connection.run(kAddReplica, {pg_text(given.name), pg_text(ARMGATE_VERSION)}, kWithin);
  if (!author) return author.error();
  const auto id = static_cast<ReplicaId>(author->number(0, 0));
  if (auto appended = append(connection, key, id, given.events(id)); !appended) return std::move(appended).error();
  // The first replica that begins finds this one dead. Nothing is known of what clients read before the import.
  const auto over =
      connection.run("update armgate.replica set alive_until = clock_timestamp() where id = $1", {pg_number(id)}, kWithin);
  if (!over) return over.error();
  const auto kept = connection.run("update armgate.meta set hash_key = $1, known_from = clock_timestamp()",
                                   {pg_bytes(seal_hash_key(given.hash_key, key))}, kWithin);
  if (!kept) return kept.error();
  const auto [open, ended] = given.counts();
  const auto noted = connection.run(
      "insert into armgate.import(journal, open_writes, ended_writes) values ($1, $2, $3)",
      {pg_text(name_of_journal(given.hash_key)), pg_number(static_cast<int64_t>(open)), pg_number(static_cast<int64_t>(ended))},
      kWithin);
  if (!noted) return noted.error();
  return true;
}

}  // namespace

IntentId id_of_imported(size_t place) { return order_in(place / kEventsInRow + 1, place % kEventsInRow + 1); }

Result<void> check_importable(PgConnection& connection, const ClusterKey& key) {
  const auto found = look_at(connection);
  if (!found) return found.error();
  return check_joinable(*found, key);
}

Result<bool> import_events(PgConnection& connection, const ClusterKey& key, const ToImport& given) {
  if (const auto begun = connection.run("begin", {}, kWithin); !begun) return begun.error();
  auto imported = import_in_transaction(connection, key, given);
  const bool is_new = imported && *imported;
  const auto ended = connection.run(is_new ? "commit" : "rollback", {}, kWithin);
  if (is_new && !ended) {
    return gateway_error(
        ErrorKind::TimedOut,
        fmt::format("{}; whether it was imported is not known: import it again, nothing is done twice", ended.error().context));
  }
  return imported;
}

}  // namespace armgate::cluster
