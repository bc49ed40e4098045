#include "proxy/cluster/engine/shared_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace armgate::cluster {
namespace {

template <class Values>
PgValue pg_array(const Values& values) {
  return pg_text(fmt::format("{{{}}}", fmt::join(values, ",")));
}

std::string place_of_rules(std::string_view hash) { return fmt::format("rules {}", hash); }

Result<void> add(PgConnection& connection, const ClusterKey& key, const RulesToShare::Own& own) {
  const std::string hash = own.hash.hex();
  const auto fresh =
      connection.run("select from armgate.rules where hash = $1 and used > clock_timestamp() - interval '1 hour'",
                     {pg_text(hash)}, kStatementMax);
  if (!fresh) return fresh.error();
  if (fresh->size() > 0) return {};
  const auto added = connection.run(
      "insert into armgate.rules(hash, document) values ($1, $2) on conflict (hash) do update set used = clock_timestamp()",
      {pg_text(hash), pg_bytes(key.seal(own.document, place_of_rules(hash)))}, kStatementMax);
  if (!added) return added.error();
  return {};
}

// All documents first: whoever is told of a hash may ask for it at once.
Result<void> tell(PgConnection& connection, const ClusterKey& key, ReplicaId id, const std::vector<RulesToShare::Own>& all) {
  std::vector<std::string> hashes;
  for (const RulesToShare::Own& own : all) {
    if (auto added = add(connection, key, own); !added) return added;
    hashes.push_back(own.hash.hex());
  }
  const auto told = connection.run(
      fmt::format(
          "with told as (update armgate.replica set rules = $1::text[] where id = $2 and rules <> $1::text[] returning id) "
          "select pg_notify('armgate', '{}') from told",
          kRulesNotice),
      {pg_array(hashes), pg_number(id)}, kStatementMax);
  if (!told) return told.error();
  return {};
}

Result<void> learn(PgConnection& connection, const ClusterKey& key, const Hash128& hash, RulesToShare& rules) {
  const auto found = connection.run("select document from armgate.rules where hash = $1", {pg_text(hash.hex())}, kStatementMax);
  if (!found) return found.error();
  rules.learn(hash, found->size() == 0 ? std::nullopt : key.open(found->bytes(0, 0), place_of_rules(hash.hex())));
  return {};
}

}  // namespace

Result<void> share_rules(PgConnection& connection, const ClusterKey& key, ReplicaId id, const std::vector<ReplicaId>& keep_keys,
                         RulesToShare& rules) {
  const auto own = rules.own();
  if (auto told = tell(connection, key, id, own); !told) return told;
  const auto rows = connection.run(
      "select distinct unnest(rules) from armgate.replica where id <> $1 and ((not dead and not clean) or id = any($2::int[])) "
      "order by 1",
      {pg_number(id), pg_array(keep_keys)}, kStatementMax);
  if (!rows) return rows.error();
  std::vector<Hash128> others;
  for (size_t i = 0; i < rows->size(); ++i) {
    const auto hash = Hash128::from_hex(rows->text(i, 0));
    if (!hash) continue;
    others.push_back(*hash);
    if (rules.knows(*hash) || *hash == own.front().hash) continue;
    if (auto learned = learn(connection, key, *hash, rules); !learned) return learned;
  }
  rules.use(own.front().hash, others);
  return {};
}

Result<void> forget_rules(PgConnection& connection) {
  const auto forgotten = connection.run(
      "delete from armgate.rules r where used < clock_timestamp() - interval '1 day' "
      "and not exists (select from armgate.replica p where r.hash = any(p.rules))",
      {}, kStatementMax);
  if (!forgotten) return forgotten.error();
  return {};
}

}  // namespace armgate::cluster
