#include "tests/support/world/sim_rules.h"

#include <algorithm>
#include <utility>

#include "base/mutant.h"
#include "tests/support/world/gate.h"

namespace armgate::world {
namespace {

constexpr Duration kLookEvery = std::chrono::seconds(10);  // as replicas at an engine

}  // namespace

SimRules::Rules SimRules::add(const rules::Ruleset& rules) {
  const Rules own = rules.for_one_thread();
  all_.emplace(own->source()->hash, own->for_one_thread());
  return own;
}

void SimRules::join(Gate& gate) {
  gates_.push_back(&gate);
  gate.shared().rules.be_shared();
  tell(gate);
  learn(gate, gate.shared().rules.in_use().front()->hash);
  look_every(gate);
}

void SimRules::look_every(Gate& gate) {
  clock_.at(clock_.now() + kLookEvery, [this, &gate] {
    if (gate.is_cut()) return;
    look(gate);
    look_every(gate);
  });
}

void SimRules::look_soon(Gate& gate) {
  clock_.at(clock_.now() + way(), [this, &gate] { look(gate); });
}

// One look at a time, as one thread does it.
void SimRules::look(Gate& gate) {
  Member& member = members_[gate.replica().id()];
  if (gate.is_cut()) return;
  if (std::exchange(member.looks, true)) {
    member.looks_again = true;
    return;
  }
  gate.process().when_it_runs([this, &gate] {
    const Hash128 told = gate.shared().rules.in_use().front()->hash;
    tell(gate);
    clock_.at(clock_.now() + way() + way(), [this, &gate, told] {
      gate.process().when_it_runs([this, &gate, told] {
        learn(gate, told);
        Member& own = members_[gate.replica().id()];
        own.looks = false;
        if (std::exchange(own.looks_again, false)) look(gate);
      });
    });
  });
}

void SimRules::tell(Gate& gate) {
  Member& member = members_[gate.replica().id()];
  std::vector<Hash128> hashes;
  for (const auto& source : gate.shared().rules.in_use()) hashes.push_back(source->hash);
  if (std::exchange(member.told, hashes) != hashes) tell_others(gate);
}

void SimRules::tell_others(Gate& author) {
  for (Gate* gate : gates_) {
    if (gate == &author || gate->is_cut() || rng_.chance(log_.faults().lost_signal)) continue;
    look_soon(*gate);
  }
}

// Of those that may be at work, and of those whose writes keep keys still.
bool SimRules::counts(const Gate& asking, cluster::ReplicaId id) const {
  return log_.lives(id) || std::ranges::count(asking.replica().claimants(), id) > 0;
}

void SimRules::learn(Gate& gate, const Hash128& told) {
  const cluster::ReplicaId own = gate.replica().id();
  Member& member = members_[own];
  std::map<Hash128, Rules> known;
  for (const auto& [id, other] : members_) {
    if (id == own || !counts(gate, id) || is_mutant(Mutant::OwnRulesAlone)) continue;
    for (const Hash128& hash : other.told) {
      if (hash == told) continue;
      const auto before = member.known.find(hash);
      known.emplace(hash, before != member.known.end() ? before->second : all_.at(hash)->for_one_thread());
    }
  }
  member.known = std::move(known);
  RulesInForce::Others others;
  for (const auto& [hash, rules] : member.known) others.push_back(rules);
  gate.shared().rules.use_others(told, std::move(others));
}

}  // namespace armgate::world
