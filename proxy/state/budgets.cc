#include "proxy/state/budgets.h"

#include <algorithm>
#include <tuple>

#include "arm/throttle.h"
#include "base/text.h"

namespace armgate {

Hash128 Budgets::key_of(const Asker& asker) const {
  return hasher_.chain(asker.principal, lower_text(arm::subscription_of(asker.target)));
}

void Budgets::make_room() {
  if (kept_.size() < kKeptMax) return;
  kept_.erase(std::min_element(kept_.begin(), kept_.end(),
                               [](const auto& a, const auto& b) { return a.second.heard < b.second.heard; }));
  ++forgotten_;
}

void Budgets::note(const Asker& asker, arm::Method method, const arm::ResponseHead& answer, Time time) {
  const auto told = arm::budgets_left(answer.fields);
  const bool is_throttled = answer.status == 429;
  if (!told.any && told.unreadable == 0 && !is_throttled) return;
  MutexLock lock(&mutex_);
  unreadable_ += told.unreadable;
  if (asker.principal.is_zero() || (!told.any && !is_throttled)) return;
  const Hash128 key = key_of(asker);
  auto at = kept_.find(key);
  if (at == kept_.end()) {
    make_room();
    at = kept_.try_emplace(key).first;
    at->second.subscription = lower_text(arm::subscription_of(asker.target));
    at->second.principal = asker.principal;
  }
  Kept& kept = at->second;
  kept.heard = time.now;
  for (size_t i = 0; i < arm::kBudgets; ++i) {
    if (told.left[i]) kept.budgets[i].told(*told.left[i], time.now);
  }
  if (!is_throttled) return;
  const Duration pause = std::min(arm::retry_after(answer.fields, time.wall).value_or(kPauseWithoutWord), kPauseMax);
  kept.come_again_at = std::max(kept.come_again_at, time.now + pause);
  const bool is_read = method == arm::Method::Get || method == arm::Method::Head;
  if (is_read) kept.pause_until = std::max(kept.pause_until, time.now + pause);
}

TimePoint Budgets::from(const Kept& kept, TimePoint now) {
  TimePoint from = std::max(now, kept.pause_until);
  for (size_t i = 0; i < arm::kBudgets; ++i) {
    if (arm::is_of_reads(static_cast<arm::Budget>(i))) from = std::max(from, kept.budgets[i].may_ask_from(now));
  }
  return from;
}

TimePoint Budgets::may_ask_from(const Asker& asker, TimePoint now) const {
  const Hash128 key = key_of(asker);
  MutexLock lock(&mutex_);
  const auto at = kept_.find(key);
  return at == kept_.end() ? now : from(at->second, now);
}

TimePoint Budgets::ask(const Asker& asker, TimePoint now) {
  const Hash128 key = key_of(asker);
  MutexLock lock(&mutex_);
  const auto at = kept_.find(key);
  const TimePoint when = at == kept_.end() ? now : from(at->second, now);
  if (when > now) return when;
  ++asked_;
  if (at == kept_.end()) return now;
  for (auto& budget : at->second.budgets) budget.spend(now);
  return now;
}

BudgetReport Budgets::report(TimePoint now) const {
  BudgetReport report;
  MutexLock lock(&mutex_);
  report.asked = asked_;
  report.unreadable = unreadable_;
  report.forgotten = forgotten_;
  for (const auto& [key, kept] : kept_) {
    BudgetReport::Row row{
        kept.subscription, kept.principal.tag(), {}, std::max(Duration::zero(), Duration(kept.come_again_at - now))};
    for (size_t i = 0; i < arm::kBudgets; ++i) {
      const policy::ReadBudget& budget = kept.budgets[i];
      const bool is_shown = budget.is_known() && now - budget.when() <= kShownMax;
      if (is_shown) row.told.push_back({static_cast<arm::Budget>(i), budget.left(), budget.most()});
    }
    if (!row.told.empty() || row.come_again > Duration::zero()) report.rows.push_back(std::move(row));
  }
  std::sort(report.rows.begin(), report.rows.end(), [](const BudgetReport::Row& a, const BudgetReport::Row& b) {
    return std::tie(a.subscription, a.principal) < std::tie(b.subscription, b.principal);
  });
  return report;
}

}  // namespace armgate
