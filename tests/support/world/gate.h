// gate.h – one life of armgate in a simulated world: its tables and its pipeline, from its start to its end.
//
// Why: a process dies at any moment. What it remembered is gone then, what it had sent may still take effect, and its clients
// find their connections broken. A gate that was cut stays in memory until the world ends, because its coroutines still run;
// nothing that they do reaches anybody any more.
// Threads   the simulation's one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "proxy/request/parts.h"
#include "proxy/request/pipeline.h"
#include "proxy/state/memory_store.h"
#include "tests/support/world/sim_journal.h"
#include "tests/support/world/sim_link.h"
#include "tests/support/world/sim_log.h"

namespace armgate::world {

struct GateOptions {
  uint64_t seed = 1;
  uint64_t life = 1;  // the first process is 1
  PipelineOptions pipeline;
  OperationResults::Options results;
  Budgets::Options budgets;
  size_t body_bytes_max = 0;  // of what clients were shown; 0: as it is by default
  std::shared_ptr<const rules::Ruleset> rules;
  double poll_skipped = 0;        // of the watchers' own polls
  SimJournal* journal = nullptr;  // null: what it remembers is in memory only
  SimLog* log = nullptr;          // of the cluster that it is one of; null: it is alone
};

class Gate {
 public:
  // What an operator hears.
  struct Voice {
    std::function<void(const std::string&)> alert;
    std::function<void(const ObserveFinding&)> report_finding;
    std::function<void(const SimLink&)> cut_off{};  // of an exchange that dies with its process
  };
  Gate(GateOptions options, SimClock& clock, Upstream& network, const Executor& executor, Voice voice);
  ~Gate() {
    if (replica_) replica_->let_go();
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // One exchange, from its entry to the receipt. Nothing comes of it if the gate was cut meanwhile.
  Task<Receipt> serve(std::shared_ptr<SimLink> link);

  uint64_t life() const { return life_; }
  SharedState& shared() { return shared_; }
  Parts& parts() { return parts_; }
  const std::set<Hash128>& clients() const { return clients_; }  // that it has served
  size_t running() const { return links_.size(); }

  // From now on it takes nothing new, but ends what it has begun.
  void drain() { accepts_ = false; }
  // What only waits is told to come again.
  void stop_waiting();
  bool accepts() const { return accepts_; }
  // The process is gone: its clients' connections break, and nothing that it does leaves it any more.
  void cut();
  bool is_cut() const { return cut_; }
  Clock& clock() { return clock_; }
  // In a cluster: it cannot reach the engine for so long.
  void cut_off(Duration how_long) { member_->cut_off(how_long); }
  // In a cluster: it stands still for so long.
  void freeze(Duration how_long) { own_clock_.freeze(how_long); }
  GateClock& process() { return own_clock_; }
  const cluster::Replica& replica() const { return *replica_; }  // in a cluster

 private:
  static std::unique_ptr<cluster::Replica> make_replica(const GateOptions& options);
  static SharedState::Options shared_options(GateOptions& options, cluster::Replica* replica);
  std::unique_ptr<Store> make_store(const GateOptions& options);
  void join(const GateOptions& options);

  // Its way to ARM.
  class Wire final : public Upstream {
   public:
    Wire(Gate& gate, SimClock& clock, Upstream& network)
        : gate_(gate), process_(gate.own_clock_), clock_(clock), network_(network) {}
    Task<Result<UpstreamAnswer>> send(const arm::Request& request, SendLimits limits) override;

   private:
    const Gate& gate_;
    GateClock& process_;
    SimClock& clock_;
    Upstream& network_;
  };
  class SkippedPolls final : public Faults {
   public:
    SkippedPolls(Rng rng, double chance) : rng_(rng), chance_(chance) {}
    bool fire(FaultPoint point) override { return point == FaultPoint::PollSkipped && chance_ > 0 && rng_.chance(chance_); }

   private:
    Rng rng_;
    const double chance_;
  };

  const uint64_t life_;
  GateClock own_clock_;
  Clock& clock_;
  const std::unique_ptr<cluster::Replica> replica_;
  SharedState shared_;
  const std::unique_ptr<Store> store_;
  Wire wire_;
  SkippedPolls faults_;
  Rng rng_;
  Parts parts_;
  Pipeline pipeline_;
  bool accepts_ = true;
  bool cut_ = false;
  uint64_t exchanges_ = 0;
  std::map<uint64_t, std::shared_ptr<SimLink>> links_;  // of running exchanges, in order of arrival
  std::set<Hash128> clients_;
  std::shared_ptr<SimLog::Member> member_;
  const std::function<void(const SimLink&)> tell_cut_off_;
};

}  // namespace armgate::world
