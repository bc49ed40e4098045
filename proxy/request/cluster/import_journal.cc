#include "proxy/request/cluster/import_journal.h"

#include <map>
#include <utility>

#include "base/rng.h"
#include "proxy/request/operation/leased_write.h"
#include "proxy/seams/faults.h"
#include "proxy/state/memory_store.h"

namespace armgate {
namespace {

class Collector final : public cluster::Teller {
 public:
  void post(cluster::Event event) override { events.push_back(std::move(event)); }
  std::vector<cluster::Event> events;
};

// Nobody is asked.
class NoUpstream final : public Upstream {
 public:
  Task<Result<UpstreamAnswer>> send(const arm::Request&, SendLimits) override {
    co_return upstream_error(ErrorKind::Unreachable, Sent::No, "a journal is imported, and nothing is sent");
  }
};

// Of restore() nothing else comes here than the ends of what the rules of now would not hold.
class EndsOnly final : public Store {
 public:
  explicit EndsOnly(Collector& collector) : collector_(collector) {}
  Task<Result<IntentId>> record_intent(const IntentRecord& record) override { co_return record.started.order; }
  void record_outcome(IntentId, const WriteOutcome&) override {}
  void record_end(IntentId id, WallTime when, EndSeen seen, const OperationResult& result) override {
    collector_.post(cluster::Finished{id, when, seen, result});
  }
  void record_replay(IntentId) override {}
  void record_state(const ResourceState&) override {}
  std::vector<Unfinished> unfinished() const override { return {}; }
  size_t unfinished_count() const override { return 0; }

 private:
  Collector& collector_;
};

// The records themselves. From then on a write has the id under which the cluster knows it.
class Records {
 public:
  Records(Collector& collector, cluster::ReplicaId id, const std::function<IntentId(size_t place)>& id_at)
      : collector_(collector), id_(id), id_at_(id_at) {}

  void post(JournaledWrite& write) {
    const cluster::ClaimId claim = (uint64_t{id_} << 32) | ++claims_;
    collector_.post(cluster::Intended{claim, write, true});
    write.id = id_at_(collector_.events.size() - 1);
    claim_of_.emplace(write.id, claim);
    if (write.outcome) {
      WriteOutcome outcome = *write.outcome;
      outcome.is_running = true;               // its end is told by itself
      if (write.ended) outcome.tracking = {};  // without what its URLs were signed with
      collector_.post(cluster::Settled{write.id, std::move(outcome), write.touched});
    }
    if (write.ended) {
      const EndSeen seen = write.given_up ? EndSeen::No : EndSeen::Yes;
      collector_.post(cluster::Finished{write.id, *write.ended, seen, write.result});
    }
  }
  cluster::ClaimId claim_of(IntentId id) const { return claim_of_.at(id); }

 private:
  Collector& collector_;
  const cluster::ReplicaId id_;
  const std::function<IntentId(size_t place)>& id_at_;
  uint64_t claims_ = 0;
  std::map<IntentId, cluster::ClaimId> claim_of_;
};

}  // namespace

ImportedJournal import_journal(const PreviousProcess& former, SharedState::Options options, HashKey key,
                               std::shared_ptr<const rules::Ruleset> rules, Clock& clock, cluster::ReplicaId id,
                               const std::function<IntentId(size_t place)>& id_at) {
  Collector collector;
  auto& sendings = options.clients.client.sendings;
  sendings.first_id = (uint64_t{id} << 40) + 1;
  sendings.sink = &collector;
  SharedState shared(std::move(options), Hasher(key), std::move(rules));
  shared.resources.set_sink(&collector);
  shared.results.set_sink(&collector);
  shared.begin(clock);
  NoUpstream upstream;
  EndsOnly store(collector);
  NoFaults faults;
  Rng rng(1);
  Parts parts{shared, clock, upstream, store, faults, rng, Executor(), {}, {}};

  Records records(collector, id, id_at);
  PreviousProcess told = former;
  for (JournaledWrite* write : in_order_of_begin(told)) records.post(*write);
  ImportedJournal imported;
  const auto keep = [&](const LeasedWrite& leased, const std::vector<rules::LockKey>& keys, const ClaimInfo& info) {
    collector.post(cluster::Claimed{records.claim_of(leased.intent), keys, info});
    const bool admits = leased.because == LeasedBecause::Accepted && may_run_beside_its_own(*leased.planned.plan);
    if (admits) collector.post(cluster::OwnAdmitted{records.claim_of(leased.intent)});
  };
  imported.open = restore(parts, told, keep);
  collector.post(cluster::Imported{former.since});
  imported.events = std::move(collector.events);
  imported.ended = former.recent.size();
  return imported;
}

}  // namespace armgate
