#include "proxy/gateway/cluster/tables.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <memory>
#include <utility>

#include "proxy/async/spawn.h"
#include "proxy/request/operation/polled.h"
#include "proxy/request/operation/restore.h"
#include "proxy/request/operation/unlock.h"
#include "proxy/request/write/changed_members.h"

namespace armgate {

// What more than changes a table is done by the loop: the log's thread is not kept.
cluster::Replica::Tables tables_of(Parts& parts, RealClock& clock, MemoryStore& history, Duration quiet) {
  SharedState& shared = parts.shared;
  const auto on_loop = [&parts](auto what) { boost::asio::post(parts.executor, std::move(what)); };
  return {.clock = clock,
          .resources = shared.resources,
          .clients = shared.clients,
          .locks = shared.locks,
          .results = shared.results,
          .owned = shared.owned,
          .remote_operations = shared.remote_operations,
          .turns = shared.turns,
          .reservations = shared.reservations,
          .pass = [&clock](uint64_t order) { clock.pass(order); },
          .adopt =
              [&parts, on_loop, quiet](cluster::AdoptedWrite undelivered) {
                auto kept = std::make_shared<cluster::AdoptedWrite>(std::move(undelivered));
                on_loop([&parts, kept, quiet] { spawn(parts.executor, adopt(parts, std::move(*kept), quiet)); });
              },
          .waited_for = [&shared](const std::vector<Hash128>& keys) { wake_watchers(shared, keys); },
          .ended = [&shared,
                    on_loop](const std::vector<Hash128>& keys) { on_loop([&shared, keys] { end_adopted(shared, keys); }); },
          .imported =
              [&shared](const cluster::Imported& imported, uint64_t order) {
                shared.former = order;
                if (imported.since) shared.recorded_from = std::min(shared.recorded_from, *imported.since);
              },
          .unlock =
              [&parts, on_loop](const cluster::UnlockAsked& asked) {
                on_loop([&parts, asked] { unlock_here(parts, asked.key, asked.who); });
              },
          .end_told = [&parts,
                       on_loop](const cluster::EndTold& told) { on_loop([&parts, told] { learn_from_another(parts, told); }); },
          .owned_polled =
              [&parts, on_loop](const cluster::OwnedPolled& polled) {
                on_loop([&parts, polled] { note_poll_elsewhere(parts, polled); });
              },
          .history = &history,
          .name_members = changed_members};
}

}  // namespace armgate
