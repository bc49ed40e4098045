#include "proxy/cluster/cluster_store.h"

#include <utility>

namespace armgate::cluster {

Task<Result<IntentId>> ClusterStore::record_intent(const IntentRecord& record) {
  Intended intended;
  intended.claim = record.claim;
  describe(record, intended.write);
  const auto id = co_await replica_.intend(std::move(intended), record.executor, clock_.now() + write_max_);
  if (!id) co_return gateway_error(ErrorKind::TimedOut, "the cluster's engine does not take the record in time");
  under_way_.begin(*id, record.method, record.resource, record.client_label);
  co_return *id;
}

void ClusterStore::record_outcome(IntentId id, const WriteOutcome& outcome) {
  under_way_.forget(id);
  replica_.post(Settled{id, outcome});
}

void ClusterStore::record_end(IntentId id, WallTime when, EndSeen seen, const OperationResult& result) {
  replica_.post(Finished{id, when, seen, result});
}

}  // namespace armgate::cluster
