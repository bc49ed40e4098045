// import_journal.h – what the journal of a process that was alone tells, as the beginning of a cluster's log.
//
// Why: what that process had sent may be at ARM still, and what it had answered may be asked for again. It is told as if a
// replica had begun all of it and died: the first real one finds that dead, and all of them take over what it had open.
// Threads   any; nothing is sent, and nothing waited for.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "proxy/cluster/event.h"
#include "proxy/request/operation/restore.h"
#include "proxy/request/parts.h"
#include "rules/plan.h"

namespace armgate {

struct ImportedJournal {
  std::vector<cluster::Event> events;
  Restored open;
  size_t ended = 0;  // writes that ended lately
};

// `key`: of the journal's hashes. `id`: of the replica that is to have told it. `id_at`: the id of an intent, by its place in
// `events`.
ImportedJournal import_journal(const PreviousProcess& former, SharedState::Options options, HashKey key,
                               std::shared_ptr<const rules::Ruleset> rules, Clock& clock, cluster::ReplicaId id,
                               const std::function<IntentId(size_t place)>& id_at);

}  // namespace armgate
