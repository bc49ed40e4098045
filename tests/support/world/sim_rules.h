// sim_rules.h – how the replicas of a simulated world tell each other the rules that they go by.
//
// What is modelled: proxy/cluster/engine/shared_rules.cc at an engine. Each replica tells its own rules, then reads those of
// the others, which takes a way there and back each; it does so before it serves, every ten seconds, and after a word that
// somebody's have changed, which may get lost.
// Threads   the simulation's one loop.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "base/rng.h"
#include "rules/plan.h"
#include "tests/support/world/sim_log.h"

namespace armgate::world {

class Gate;

class SimRules {
 public:
  using Rules = std::shared_ptr<const rules::Ruleset>;
  SimRules(SimClock& clock, SimLog& log, uint64_t seed) : clock_(clock), log_(log), rng_(seed) {}

  // Rules that have a hash now, for one replica.
  Rules add(const rules::Ruleset& rules);
  // Before its first request. The gate must outlive the world's time.
  void join(Gate& gate);
  // Its rules were replaced.
  void look_soon(Gate& gate);

 private:
  struct Member {
    std::vector<Hash128> told;
    std::map<Hash128, Rules> known;  // of the others
    bool looks = false;
    bool looks_again = false;
  };
  void tell(Gate& gate);
  void learn(Gate& gate, const Hash128& told);
  void look(Gate& gate);
  void look_every(Gate& gate);
  void tell_others(Gate& author);
  bool counts(const Gate& asking, cluster::ReplicaId id) const;
  Duration way() { return log_.way(rng_); }

  SimClock& clock_;
  SimLog& log_;
  Rng rng_;
  std::map<Hash128, Rules> all_;
  std::map<cluster::ReplicaId, Member> members_;
  std::vector<Gate*> gates_;
};

}  // namespace armgate::world
