#include "tests/support/checkers/checkers_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "arm/budget.h"
#include "arm/throttle.h"
#include "arm/url.h"
#include "base/text.h"
#include "proxy/policy/budget/fair_share.h"

namespace armgate::world {
namespace {

using policy::FairShare;

constexpr size_t kTurnsOfOthers = 2;

}  // namespace

std::string BudgetChecker::key_of(const arm::RequestHead& head) {
  return fmt::format("{} {}", lower_text(arm::subscription_of(head.target)), head.fields.get("Authorization"));
}

bool BudgetChecker::is_paused(const Budget& budget, TimePoint now) { return now > budget.refused && now < budget.pause_until; }

// Whether a read that comes now may find that something else goes first.
bool BudgetChecker::is_low(const Budget& budget, TimePoint now) {
  if (now <= std::max(budget.pause_until, budget.in_the_dark_until)) return true;
  if (budget.told.empty() || now - budget.told.back().at >= FairShare::kBelieved) return false;
  const TimePoint last = budget.told.back().at;
  return std::any_of(budget.told.begin(), budget.told.end(), [&](const Told& told) {
    if (last - told.at > FairShare::kOvertaken) return false;
    double gone = static_cast<double>(budget.waiting);
    for (const auto& [client, times] : budget.sent)
      gone += static_cast<double>(times.end() - std::lower_bound(times.begin(), times.end(), told.at));
    return told.left - gone < 1 + FairShare::kReserve;
  });
}

void BudgetChecker::came(Read read, const arm::RequestHead& head, TimePoint now) {
  Known known{std::move(read), key_of(head), now};
  Budget& budget = budgets_[known.key];
  known.may_wait = is_low(budget, now);
  ++budget.waiting;
  const uint64_t id = known.read.id;
  reads_.emplace(id, std::move(known));
}

// Of those who went since its client last did.
void BudgetChecker::check_turn(const Known& known, TimePoint now) const {
  const Budget& budget = budgets_.at(known.key);
  const auto own = budget.sent.find(known.read.client);
  const TimePoint from = own == budget.sent.end() ? known.came : std::max(known.came, own->second.back());
  for (const auto& [client, times] : budget.sent) {
    if (client == known.read.client) continue;
    const auto before = std::count_if(times.begin(), times.end(), [&](TimePoint at) { return at > from && at < now; });
    if (static_cast<size_t>(before) > kTurnsOfOthers)
      violated_(fmt::format("{} of {} waited while {} went {} times", known.read.what, known.read.client, client, before));
  }
}

void BudgetChecker::sent(uint64_t id, TimePoint now) {
  const auto at = reads_.find(id);
  if (at == reads_.end()) return;
  Known& known = at->second;
  Budget& budget = budgets_.at(known.key);
  if (is_paused(budget, now)) violated_(known.read.what + " went although ARM had asked all to wait");
  if (now > known.came && !known.may_wait) violated_(known.read.what + " waited although there was something left");
  check_turn(known, now);
  known.is_sent = true;
  --budget.waiting;
  ++budget.under_way;
  budget.sent[known.read.client].push_back(now);
}

void BudgetChecker::ended(uint64_t id, TimePoint now) {
  const auto at = reads_.find(id);
  if (at == reads_.end()) return;
  Budget& budget = budgets_.at(at->second.key);
  if (!at->second.is_sent && options_.fair) check_turn(at->second, now);
  --(at->second.is_sent ? budget.under_way : budget.waiting);
  reads_.erase(at);
}

void BudgetChecker::armgate_asks(const arm::RequestHead& head, TimePoint now) {
  const auto at = budgets_.find(key_of(head));
  if (at != budgets_.end() && is_paused(at->second, now))
    violated_("armgate asked for itself although ARM had asked to wait: " + head.target);
}

void BudgetChecker::told(const arm::RequestHead& head, const arm::Response* answer, TimePoint now) {
  Budget& budget = budgets_[key_of(head)];
  if (answer == nullptr) {
    budget.in_the_dark_until = now + FairShare::kBelieved;
    return;
  }
  const auto left = arm::budgets_left(answer->head.fields).left[static_cast<size_t>(arm::Budget::Reads)];
  if (answer->head.status == 429) {
    const int seconds = std::atoi(std::string(answer->head.fields.get("Retry-After")).c_str());
    if (!is_paused(budget, now)) budget.refused = now;
    budget.pause_until = std::max<TimePoint>(budget.pause_until, now + std::chrono::seconds(seconds));
  }
  if (!left && answer->head.status != 429) return;
  const double under_way = std::max(0.0, static_cast<double>(budget.under_way) - 1);
  budget.told.push_back({now, left.value_or(0) - under_way});
  while (now - budget.told.front().at > FairShare::kBelieved) budget.told.pop_front();
  // What came at this very moment may have been looked at after this.
  const bool is_low_now = is_low(budget, now);
  for (auto& [id, known] : reads_) {
    if (known.came == now && known.key == key_of(head)) known.may_wait |= is_low_now;
  }
}

}  // namespace armgate::world
