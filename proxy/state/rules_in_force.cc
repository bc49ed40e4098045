#include "proxy/state/rules_in_force.h"

#include <algorithm>
#include <utility>

namespace armgate {
namespace {

using rules::LockKey;

void add_keys(std::vector<LockKey>& keys, std::vector<LockKey> more) {
  keys.insert(keys.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  // Of two modes for one key the stronger comes first, and stays.
  std::sort(keys.begin(), keys.end(),
            [](const LockKey& a, const LockKey& b) { return a.id != b.id ? a.id < b.id : a.mode < b.mode; });
  const auto same_id = [](const LockKey& a, const LockKey& b) { return a.id == b.id; };
  keys.erase(std::unique(keys.begin(), keys.end(), same_id), keys.end());
}

}  // namespace

void RulesInForce::replace(std::shared_ptr<const rules::Ruleset> next, rules::Mode mode) {
  MutexLock lock(&mutex_);
  mode_ = mode;
  older_.push_back(std::exchange(current_, std::move(next)));
  std::erase_if(older_, [](const auto& rules) { return rules.expired(); });
}

RulesInForce::Snapshot RulesInForce::snapshot() {
  MutexLock lock(&mutex_);
  Snapshot all{{current_}, mode_};
  for (const auto& weak : older_) {
    if (auto rules = weak.lock()) all.rules.push_back(std::move(rules));
  }
  if (all.rules.size() <= older_.size()) std::erase_if(older_, [](const auto& rules) { return rules.expired(); });
  return all;
}

size_t RulesInForce::draining() { return snapshot().rules.size() - 1; }

rules::Mode RulesInForce::mode() const {
  MutexLock lock(&mutex_);
  return mode_;
}

size_t RulesInForce::rules() const {
  MutexLock lock(&mutex_);
  return current_->rules().size();
}

Result<rules::Plan> RulesInForce::make_plan(arm::Method method, std::string_view target) {
  const Snapshot all = snapshot();
  auto plan = rules::make_plan(*all.rules.front(), all.mode, method, target);
  if (!plan || plan->mode == rules::Mode::Off) return plan;
  for (size_t i = 1; i < all.rules.size(); ++i) {
    auto older = rules::make_plan(*all.rules[i], all.mode, method, target);
    if (!older || older->kind != rules::PlanKind::Write) continue;
    if (plan->kind == rules::PlanKind::Write) {
      add_keys(plan->keys, std::move(older->keys));
      plan->referring.insert(plan->referring.end(), older->referring.begin(), older->referring.end());
    } else {
      *plan = *std::move(older);  // what no rule touches any more waits for the last write that one did
    }
  }
  if (plan->kind == rules::PlanKind::Write) plan->made_under = all.rules.front();
  return plan;
}

}  // namespace armgate
