#include "proxy/request/cluster/share_tables.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "proxy/async/spawn.h"
#include "proxy/request/operation/early_end.h"
#include "proxy/request/operation/polled.h"
#include "proxy/request/operation/restore.h"
#include "proxy/request/operation/unlock.h"
#include "proxy/request/write/changed_members.h"

namespace armgate {
namespace {

Task<void> call(std::function<void()> what) {
  what();
  co_return;
}

// What more than changes a table is done by the loop: the log's thread is not kept.
cluster::Replica::Tables tables_of(Parts& parts, SharingOptions options) {
  SharedState& shared = parts.shared;
  const auto on_loop = [&parts](std::function<void()> what) { spawn(parts.executor, call(std::move(what))); };
  cluster::Replica::Tables tables{.clock = parts.clock,
                                  .resources = shared.resources,
                                  .clients = shared.clients,
                                  .locks = shared.locks,
                                  .results = shared.results,
                                  .owned = shared.owned,
                                  .remote_operations = shared.remote_operations,
                                  .turns = shared.turns,
                                  .reservations = shared.reservations,
                                  .pass = std::move(options.pass)};
  tables.adopt = [&parts](cluster::AdoptedWrite undelivered) { spawn(parts.executor, adopt(parts, std::move(undelivered))); };
  tables.waited_for = [&shared](const std::vector<Hash128>& keys) { wake_watchers(shared, keys); };
  tables.ended = [&shared, on_loop](const std::vector<Hash128>& keys) {
    on_loop([&shared, keys] { end_adopted(shared, keys); });
  };
  tables.imported = [&shared](const cluster::Imported& imported, uint64_t order) {
    shared.former = order;
    if (imported.since) shared.recorded_from = std::min(shared.recorded_from.load(), *imported.since);
  };
  tables.unlock = [&parts, on_loop](const cluster::UnlockAsked& asked) {
    on_loop([&parts, asked] { unlock_here(parts, asked.key, asked.who); });
  };
  tables.abort_taken = [&parts, on_loop](const cluster::AbortTaken& taken) {
    on_loop([&parts, taken] { note_early_end_here(parts, taken.key); });
  };
  tables.end_told = [&parts, on_loop](const cluster::EndTold& told) {
    on_loop([&parts, told] { learn_from_another(parts, told); });
  };
  tables.owned_polled = [&parts, on_loop](const cluster::OwnedPolled& polled) {
    on_loop([&parts, polled] { note_poll_elsewhere(parts, polled); });
  };
  tables.history = options.history;
  if (options.history != nullptr) tables.name_members = changed_members;
  return tables;
}

}  // namespace

void share_tables(Parts& parts, cluster::Replica& replica, SharingOptions options) {
  replica.use(tables_of(parts, std::move(options)));
  SharedState& shared = parts.shared;
  shared.resources.set_sink(&replica);
  shared.results.set_sink(&replica);
  shared.owned.set_sink(&replica);
  shared.run_leases.claim_through([&replica](const std::vector<rules::LockKey>& keys, ClaimInfo info) {
    return replica.claim_to_poll(keys, std::move(info));
  });
}

}  // namespace armgate
