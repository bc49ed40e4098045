// import.h – puts what another process had begun at the beginning of a cluster's log, once.
//
// Invariant  all of it or nothing: one transaction. The same again does nothing.
// Threads   any; one connection each.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "proxy/cluster/engine/pg.h"
#include "proxy/cluster/engine/seal.h"
#include "proxy/cluster/event.h"

namespace armgate::cluster {

struct ToImport {
  std::string name;  // of where it comes from, for people
  HashKey hash_key;  // of its hashes: it becomes the cluster's
  // As if that replica had told it.
  std::function<std::vector<Event>(ReplicaId id)> events;
  std::function<std::pair<size_t, size_t>()> counts;  // after that: writes that are open, that have ended
};

// The id of an intent at that place in the events.
IntentId id_of_imported(size_t place);

// Whether a replica with that key could join it. Errors as of check_joinable().
Result<void> check_importable(PgConnection& connection, const ClusterKey& key);
// False: it was there already. BadInput: replicas have begun, or another journal was imported.
Result<bool> import_events(PgConnection& connection, const ClusterKey& key, const ToImport& given);

}  // namespace armgate::cluster
