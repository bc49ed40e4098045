// rules_of_others.h – the rules of a cluster's other replicas, beside this one's.
//
// Threads   the engine's own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proxy/cluster/engine/shared_rules.h"
#include "proxy/state/rules_in_force.h"

namespace armgate {

class RulesOfOthers final : public cluster::RulesToShare {
 public:
  using Alert = std::function<void(const std::string& text)>;
  // `rules` must outlive it. `alert`: of rules that cannot be read here.
  RulesOfOthers(RulesInForce& rules, Alert alert);

  std::vector<Own> own() override;
  bool knows(const Hash128& hash) const override { return known_.contains(hash); }
  void learn(const Hash128& hash, std::optional<std::string> document) override;
  void use(const Hash128& told, const std::vector<Hash128>& others) override;

 private:
  RulesInForce& rules_;
  const Alert alert_;
  std::map<Hash128, std::shared_ptr<const rules::Ruleset>> known_;  // null: they cannot be read
};

}  // namespace armgate
