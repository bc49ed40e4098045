#include "proxy/state/rules_in_force.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "proxy/async/thread_number.h"

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
  current_ = std::move(next);
  mode_ = mode;
  for (Slot& slot : slots_) {
    MutexLock slot_lock(&slot.mutex);
    if (slot.rules) older_.push_back({generation_, slot.rules});
    slot.rules.reset();
  }
  ++generation_;
  std::erase_if(older_, [](const Older& one) { return one.rules.expired(); });
  any_older_.store(!older_.empty(), std::memory_order_release);
}

RulesInForce::Current RulesInForce::current() {
  Slot& slot = slots_[thread_number() % kSlots];
  {
    MutexLock slot_lock(&slot.mutex);
    if (slot.rules) return {slot.rules, slot.mode};
  }
  MutexLock lock(&mutex_);
  MutexLock slot_lock(&slot.mutex);
  if (!slot.rules) slot.rules = current_->for_one_thread();
  slot.mode = mode_;
  return {slot.rules, slot.mode};
}

std::vector<std::shared_ptr<const rules::Ruleset>> RulesInForce::older() {
  std::vector<std::shared_ptr<const rules::Ruleset>> all;
  if (!any_older_.load(std::memory_order_acquire)) return all;
  MutexLock lock(&mutex_);
  std::erase_if(older_, [](const Older& one) { return one.rules.expired(); });
  const Older* last = nullptr;
  for (const Older& one : older_) {
    if (last != nullptr && last->generation == one.generation) continue;
    if (auto rules = one.rules.lock()) {
      all.push_back(std::move(rules));
      last = &one;
    }
  }
  any_older_.store(!older_.empty(), std::memory_order_release);
  return all;
}

size_t RulesInForce::draining() { return older().size(); }

rules::Mode RulesInForce::mode() const {
  MutexLock lock(&mutex_);
  return mode_;
}

size_t RulesInForce::rules() const {
  MutexLock lock(&mutex_);
  return current_->rules().size();
}

Result<rules::Plan> RulesInForce::make_plan(arm::Method method, std::string_view target) {
  const Current now = current();
  auto plan = rules::make_plan(*now.rules, now.mode, method, target);
  if (!plan || plan->mode == rules::Mode::Off) return plan;
  for (const auto& rules : older()) {
    auto also = rules::make_plan(*rules, now.mode, method, target);
    if (!also || also->kind != rules::PlanKind::Write) continue;
    if (plan->kind == rules::PlanKind::Write) {
      add_keys(plan->keys, std::move(also->keys));
      plan->referring.insert(plan->referring.end(), also->referring.begin(), also->referring.end());
    } else {
      *plan = *std::move(also);  // what no rule touches any more waits for the last write that one did
    }
  }
  if (plan->kind == rules::PlanKind::Write) plan->made_under = now.rules;
  return plan;
}

}  // namespace armgate
