// cluster_store.h – the Store of a process that is one of several: a write is recorded in the log that all of them read.
//
// Invariant  what is not in the log is not sent. Outcomes wait for the log as long as it takes.
//            It is always writable(), for there is no disk to fill: whether the engine answers ClusterView tells.
// Threads    any.
#pragma once

#include <vector>

#include "proxy/cluster/replica.h"
#include "proxy/seams/store.h"
#include "proxy/state/memory_store.h"

namespace armgate::cluster {

class ClusterStore final : public Store {
 public:
  ClusterStore(Replica& replica, Clock& clock, Duration write_max) : replica_(replica), clock_(clock), write_max_(write_max) {}

  Task<Result<IntentId>> record_intent(const IntentRecord& record) override;
  void record_outcome(IntentId id, const WriteOutcome& outcome) override;
  void record_end(IntentId id, WallTime when, EndSeen seen, const OperationResult& result) override;
  void record_replay(IntentId id) override { replica_.post(Replayed{id}); }
  void record_state(const ResourceState&) override {}  // StateSeen tells it
  std::vector<Unfinished> unfinished() const override { return under_way_.unfinished(); }
  size_t unfinished_count() const override { return under_way_.unfinished_count(); }

 private:
  Replica& replica_;
  Clock& clock_;
  const Duration write_max_;
  MemoryStore under_way_;  // of this replica's own
};

}  // namespace armgate::cluster
