#include "proxy/state/rules_in_force.h"

#include <absl/hash/hash.h>

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

// What older rules, whose writes are not all finished, ask for beside the plan.
void add_from(const rules::Ruleset& older, rules::Mode mode, arm::Method method, std::string_view target, rules::Plan& plan) {
  auto also = rules::make_plan(older, mode, method, target);
  if (!also || also->kind != rules::PlanKind::Write) return;
  if (plan.kind == rules::PlanKind::Write) {
    add_keys(plan.keys, std::move(also->keys));
    plan.referring.insert(plan.referring.end(), also->referring.begin(), also->referring.end());
  } else {
    plan = *std::move(also);  // what no rule touches any more waits for the last write that one did
  }
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
    slot.kept.clear();
  }
  ++generation_;
  std::erase_if(older_, [](const Older& one) { return one.rules.expired(); });
  any_older_.store(!older_.empty(), std::memory_order_release);
}

ptrdiff_t RulesInForce::set_of(arm::Method method, std::string_view target) {
  return static_cast<ptrdiff_t>(absl::HashOf(method, target) % (kKeptPlans / kSetPlaces) * kSetPlaces);
}

RulesInForce::Slot& RulesInForce::own_slot() { return slots_[thread_number() % kSlots]; }

RulesInForce::Current RulesInForce::current(Slot& slot) {
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

std::vector<std::shared_ptr<const rules::Ruleset>> RulesInForce::older() const {
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

size_t RulesInForce::draining() const { return older().size(); }

rules::Mode RulesInForce::mode() const {
  MutexLock lock(&mutex_);
  return mode_;
}

size_t RulesInForce::rules() const {
  MutexLock lock(&mutex_);
  return current_->rules().size();
}

// Only what rules touch: the rest is planned at once, and may be anything.
void RulesInForce::keep(Slot& slot, const Current& made_under, Kept plan) {
  if (plan.plan->kind == rules::PlanKind::Pass || plan.target.size() > kKeptTargetMax) return;
  MutexLock lock(&slot.mutex);
  if (slot.rules != made_under.rules) return;  // replaced meanwhile
  slot.kept.resize(kKeptPlans);
  const auto first = slot.kept.begin() + set_of(plan.method, plan.target);
  std::move_backward(first, first + kSetPlaces - 1, first + kSetPlaces);  // the oldest of the set goes
  *first = std::move(plan);
}

std::shared_ptr<const KeyedPlan> RulesInForce::with_keys(rules::Plan plan) const {
  auto keyed = std::make_shared<KeyedPlan>(KeyedPlan{std::move(plan)});
  keyed->resource_key = hasher_.hash(keyed->target.resource.id);
  for (const auto& key : keyed->keys) keyed->lock_keys.push_back(hasher_.hash(key.id));
  return keyed;
}

Planned RulesInForce::find_kept(Slot& slot, arm::Method method, std::string_view target) {
  MutexLock lock(&slot.mutex);
  if (slot.kept.empty()) return {};
  const auto first = slot.kept.begin() + set_of(method, target);
  const auto kept = std::find_if(first, first + kSetPlaces,
                                 [&](const Kept& one) { return one.plan && one.method == method && one.target == target; });
  if (kept == first + kSetPlaces) return {};
  return {kept->plan, kept->plan->kind == rules::PlanKind::Write ? slot.rules : nullptr};
}

Result<Planned> RulesInForce::make_plan(arm::Method method, std::string_view target) {
  Slot& slot = own_slot();
  // Older rules are looked for after it is known which rules are held: those of a replacement in between are among them then.
  Planned planned = find_kept(slot, method, target);
  if (planned.plan && older().empty()) return planned;

  const Current now = current(slot);
  auto plan = rules::make_plan(*now.rules, now.mode, method, target);
  if (!plan) return std::move(plan).error();
  const auto overlapping = older();
  if (plan->mode != rules::Mode::Off) {
    for (const auto& rules : overlapping) add_from(*rules, now.mode, method, target, *plan);
  }
  planned.plan = with_keys(*std::move(plan));
  planned.made_under = planned.plan->kind == rules::PlanKind::Write ? now.rules : nullptr;
  if (overlapping.empty()) keep(slot, now, {method, std::string(target), planned.plan});
  return planned;
}

}  // namespace armgate
