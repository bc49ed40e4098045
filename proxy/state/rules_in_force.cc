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

enum class Of { FormerRules, AnotherReplica };

// What other rules ask for beside the plan: older ones, whose writes are not all finished, or another replica's.
void add_from(const rules::Ruleset& more, Of whom, rules::Mode mode, arm::Method method, std::string_view target,
              rules::Plan& plan) {
  auto also = rules::make_plan(more, mode, method, target);
  if (!also || also->kind == rules::PlanKind::Pass) return;
  const bool writes = also->kind == rules::PlanKind::Write;
  if (plan.kind == rules::PlanKind::Pass) {
    // What no rule touches any more waits for the last write that one did. What another replica protects its clients must have
    // been shown here, too.
    if (writes || whom == Of::AnotherReplica) plan = *std::move(also);
  } else if (writes) {
    add_keys(plan.keys, std::move(also->keys));
    plan.referring.insert(plan.referring.end(), also->referring.begin(), also->referring.end());
  }
}

using Rules = std::shared_ptr<const rules::Ruleset>;

// The rules, which keep the others alive.
Rules held_with(const Rules& rules, const std::shared_ptr<const RulesInForce::Others>& others) {
  if (!others) return rules;
  auto both = std::make_shared<const std::pair<Rules, std::shared_ptr<const RulesInForce::Others>>>(rules, others);
  return {both, both->first.get()};
}

}  // namespace

void RulesInForce::replace(std::shared_ptr<const rules::Ruleset> next, rules::Mode mode) {
  MutexLock lock(&mutex_);
  if (is_shared_) older_.push_back({.generation = generation_, .until_told = current_});
  current_ = std::move(next);
  mode_ = mode;
  for (Slot& slot : slots_) {
    MutexLock slot_lock(&slot.mutex);
    if (slot.rules) older_.push_back({.generation = generation_, .rules = slot.rules});
    slot.rules.reset();
    slot.made_under.reset();
    slot.kept.clear();
  }
  ++generation_;
  std::erase_if(older_, [](const Older& one) { return !one.counts(); });
  any_older_.store(!older_.empty(), std::memory_order_release);
}

ptrdiff_t RulesInForce::set_of(arm::Method method, std::string_view target) {
  return static_cast<ptrdiff_t>(absl::HashOf(method, target) % (kKeptPlans / kSetPlaces) * kSetPlaces);
}

RulesInForce::Slot& RulesInForce::own_slot() { return slots_[thread_number() % kSlots]; }

RulesInForce::Current RulesInForce::current(Slot& slot) {
  {
    MutexLock slot_lock(&slot.mutex);
    if (slot.rules) return {slot.rules, slot.mode, slot.others, slot.made_under};
  }
  MutexLock lock(&mutex_);
  MutexLock slot_lock(&slot.mutex);
  if (!slot.rules) slot.rules = current_->for_one_thread();
  slot.mode = mode_;
  slot.others = others_;
  slot.made_under = held_with(slot.rules, others_);
  return {slot.rules, slot.mode, slot.others, slot.made_under};
}

std::vector<std::shared_ptr<const rules::Ruleset>> RulesInForce::older(Whose whose) const {
  std::vector<std::shared_ptr<const rules::Ruleset>> all;
  if (!any_older_.load(std::memory_order_acquire)) return all;
  MutexLock lock(&mutex_);
  std::erase_if(older_, [](const Older& one) { return !one.counts(); });
  const Older* last = nullptr;
  for (const Older& one : older_) {
    if (last != nullptr && last->generation == one.generation) continue;
    if (whose == Whose::Own && one.is_anothers) continue;
    if (auto rules = one.until_told ? one.until_told : one.rules.lock()) {
      all.push_back(std::move(rules));
      last = &one;
    }
  }
  any_older_.store(!older_.empty(), std::memory_order_release);
  return all;
}

size_t RulesInForce::draining() const { return older().size(); }

void RulesInForce::be_shared() {
  MutexLock lock(&mutex_);
  is_shared_ = true;
}

std::vector<std::shared_ptr<const rules::RuleSource>> RulesInForce::in_use() const {
  const auto overlapping = older(Whose::Own);
  MutexLock lock(&mutex_);
  std::vector sources{current_->source()};
  for (const auto& rules : overlapping) sources.push_back(rules->source());
  return sources;
}

void RulesInForce::use_others(const Hash128& told, Others others) {
  MutexLock lock(&mutex_);
  if (current_->source()->hash == told) {
    for (Older& one : older_) one.until_told.reset();
  }
  const auto former = others_ ? others_ : std::make_shared<const Others>();
  if (others == *former) return;
  // Of writes that were planned with them.
  for (const auto& rules : *former) {
    if (std::ranges::find(others, rules) == others.end())
      older_.push_back({.generation = generation_++, .rules = rules, .is_anothers = true});
  }
  others_ = others.empty() ? nullptr : std::make_shared<const Others>(std::move(others));
  for (Slot& slot : slots_) {
    MutexLock slot_lock(&slot.mutex);
    slot.others = others_;
    slot.made_under = slot.rules ? held_with(slot.rules, others_) : nullptr;
    slot.kept.clear();
  }
  any_older_.store(!older_.empty(), std::memory_order_release);
}

rules::Mode RulesInForce::mode() const {
  MutexLock lock(&mutex_);
  return mode_;
}

size_t RulesInForce::rules() const {
  MutexLock lock(&mutex_);
  return current_->rules().size();
}

bool RulesInForce::is_current(Slot& slot, const Current& made_under) const {
  MutexLock lock(&slot.mutex);
  return slot.rules == made_under.rules && slot.others == made_under.others;
}

// Only what rules touch: the rest is planned at once, and may be anything.
void RulesInForce::keep(Slot& slot, const Current& made_under, Kept plan) {
  if (plan.plan->kind == rules::PlanKind::Pass || plan.target.size() > kKeptTargetMax) return;
  MutexLock lock(&slot.mutex);
  if (slot.rules != made_under.rules || slot.others != made_under.others) return;  // changed meanwhile
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
  return {kept->plan, kept->plan->kind == rules::PlanKind::Write ? slot.made_under : nullptr};
}

Result<Planned> RulesInForce::make_plan(arm::Method method, std::string_view target) {
  Slot& slot = own_slot();
  // Older rules are looked for after it is known which rules are held: those of a replacement in between are among them then.
  Planned planned = find_kept(slot, method, target);
  if (planned.plan && older().empty()) return planned;

  Current now = current(slot);
  auto overlapping = older();
  // The others' new rules and the end of former ones come together: neither without the other.
  while (!is_current(slot, now)) {
    now = current(slot);
    overlapping = older();
  }
  auto plan = rules::make_plan(*now.rules, now.mode, method, target);
  if (!plan) return std::move(plan).error();
  if (plan->mode != rules::Mode::Off) {
    for (const auto& rules : overlapping) add_from(*rules, Of::FormerRules, now.mode, method, target, *plan);
    if (now.others) {
      for (const auto& rules : *now.others) add_from(*rules, Of::AnotherReplica, now.mode, method, target, *plan);
    }
  }
  planned.plan = with_keys(*std::move(plan));
  planned.made_under = planned.plan->kind == rules::PlanKind::Write ? now.made_under : nullptr;
  if (overlapping.empty()) keep(slot, now, {method, std::string(target), planned.plan});
  return planned;
}

}  // namespace armgate
