#include "proxy/cluster/cluster_store.h"

#include <utility>

namespace armgate::cluster {

Task<Result<IntentId>> ClusterStore::record_intent(const IntentRecord& record) {
  Intended intended;
  intended.claim = record.claim;
  describe(record, intended.write);
  const auto id = co_await replica_.intend(std::move(intended), record.executor, clock_.now() + write_max_);
  if (!id) co_return gateway_error(ErrorKind::TimedOut, "the cluster's engine does not take the record in time");
  IntentRecord kept = record;
  kept.started.order = *id;
  co_return co_await memory_.record_intent(kept);
}

void ClusterStore::record_outcome(IntentId id, const WriteOutcome& outcome) {
  memory_.record_outcome(id, outcome);
  replica_.post(Settled{id, outcome});
}

void ClusterStore::record_end(IntentId id, WallTime when, EndSeen seen, const OperationResult& result) {
  memory_.record_end(id, when, seen, result);
  replica_.post(Finished{id});
}

}  // namespace armgate::cluster
