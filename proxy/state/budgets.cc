#include "proxy/state/budgets.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>

#include "arm/throttle.h"
#include "base/mutant.h"
#include "base/text.h"
#include "proxy/policy/budget/fair_share.h"

namespace armgate {
namespace {

enum RequestKind : size_t { kReads, kWrites, kDeletes };
constexpr std::array kBudgetOf{arm::Budget::Reads, arm::Budget::Writes, arm::Budget::Deletes};

RequestKind kind_of(arm::Method method) {
  if (method == arm::Method::Get || method == arm::Method::Head) return kReads;
  return method == arm::Method::Delete ? kDeletes : kWrites;
}

}  // namespace

Hash128 Budgets::key_of(const Asker& asker) const {
  return hasher_.chain(asker.principal, lower_text(arm::subscription_of(asker.target)));
}

struct Budgets::Shared {
  struct WaitingRequest {
    std::string label;
    std::string what;
    TimePoint since{};
    Waiter* waiter = nullptr;
    uint32_t bits = 0;
  };
  explicit Shared(Duration full_in) : share(full_in) {}
  policy::FairShare share;
  std::map<uint64_t, WaitingRequest> waiting{};  // in line
};

bool Budgets::make_room() {
  if (kept_.size() >= kKeptMax) ++forgotten_;
  return kept_.make_room(kKeptMax, [](const Hash128&, const Kept& kept) {
    return std::all_of(kept.all_shared->begin(), kept.all_shared->end(), [](const Shared& one) { return one.waiting.empty(); });
  });
}

void Budgets::note(const Asker& asker, arm::Method method, const arm::ResponseHead& answer, Time time) {
  const auto told = arm::budgets_left(answer.fields);
  const bool is_throttled = answer.status == 429;
  if (!told.any && told.unreadable == 0 && !is_throttled) return;
  MutexLock lock(&mutex_);
  unreadable_ += told.unreadable;
  if (asker.principal.is_zero() || (!told.any && !is_throttled)) return;
  const Hash128 key = key_of(asker);
  Kept* known = kept_.use(key);
  if (known == nullptr) {
    if (!make_room()) return;
    known = &kept_.add(key);
    using std::chrono::seconds;
    known->all_shared = std::make_shared<AllShared>(AllShared{Shared(seconds(10)), Shared(seconds(20)), Shared(seconds(20))});
    known->subscription = lower_text(arm::subscription_of(asker.target));
    known->principal = asker.principal;
  }
  Kept& kept = *known;
  for (size_t i = 0; i < arm::kBudgets; ++i) {
    if (told.left[i]) kept.budgets[i].note_left(*told.left[i], time.now, options_.own_share);
  }
  Duration pause{};
  if (is_throttled) {
    pause = std::min(arm::retry_after(answer.fields, time.wall).value_or(kPauseWithoutWord), kPauseMax);
    kept.come_again_at = std::max(kept.come_again_at, time.now + pause);
    const bool is_read = method == arm::Method::Get || method == arm::Method::Head;
    if (is_read) kept.pause_until = std::max(kept.pause_until, time.now + pause);
  }
  if (!options_.fair) return;
  const RequestKind kind = kind_of(method);
  const auto left = told.left[static_cast<size_t>(kBudgetOf[kind])];
  // A provider's own 429 passes with what ARM says is left, and says nothing about that: it may be busy with one resource.
  if (is_throttled && (!left || *left <= policy::FairShare::kReserve)) {
    (*kept.all_shared)[kind].share.pause_for(pause, time.now);
  } else {
    note_shared(kept, told, time.now);
  }
}

void Budgets::note_shared(Kept& kept, const arm::BudgetsLeft& told, TimePoint now) {
  for (const RequestKind kind : {kReads, kWrites, kDeletes}) {
    const auto left = told.left[static_cast<size_t>(kBudgetOf[kind])];
    if (!left) continue;
    (*kept.all_shared)[kind].share.note_left(*left, now);
    let_go((*kept.all_shared)[kind], now);
  }
}

void Budgets::let_go(Shared& shared, TimePoint now) {
  for (const uint64_t number : shared.share.grant(now)) {
    const auto at = shared.waiting.find(number);
    at->second.waiter->signal(at->second.bits);
    shared.waiting.erase(at);
    --waiting_;
  }
}

std::optional<Budgets::Ticket> Budgets::join(const Asker& asker, Joining joining, Waiter* waiter, uint32_t bits,
                                             TimePoint now) {
  if (!options_.fair || asker.principal.is_zero()) return Ticket();
  const Hash128 key = key_of(asker);
  MutexLock lock(&mutex_);
  Kept* const kept = kept_.find(key);
  if (kept == nullptr) return Ticket();
  const size_t kind = kind_of(joining.method);
  Shared& shared = (*kept->all_shared)[kind];
  const uint64_t number = ++numbers_;
  shared.share.join(number, joining.client, joining.can_wait ? policy::FairShare::Rank::Later : policy::FairShare::Rank::First);
  shared.waiting[number] = {std::move(joining.label), std::move(joining.what), now, waiter, bits};
  ++waiting_;
  let_go(shared, now);
  const bool may_wait = waiting_ <= options_.waiters_max;
  if (may_wait || !shared.waiting.contains(number)) return Ticket(this, {key, kind, number});
  shared.share.leave(number);
  waiting_ -= shared.waiting.erase(number);
  return std::nullopt;
}

// There as long as a Ticket of it is in line; who was let go may outlive it.
Budgets::Shared* Budgets::find(const Ticket::At& at) {
  Kept* const found = kept_.find(at.key);
  return found == nullptr ? nullptr : &(*found->all_shared)[at.kind];
}

bool Budgets::is_granted(const Ticket::At& at) {
  MutexLock lock(&mutex_);
  const Shared* const shared = find(at);
  return shared == nullptr || !shared->waiting.contains(at.number);
}

TimePoint Budgets::due(const Ticket::At& at, TimePoint now) {
  MutexLock lock(&mutex_);
  const Shared* const shared = find(at);
  return shared == nullptr ? now : shared->share.due(at.number, now);
}

void Budgets::let_go_due(const Ticket::At& at, TimePoint now) {
  MutexLock lock(&mutex_);
  if (Shared* const shared = find(at)) let_go(*shared, now);
}

void Budgets::leave(const Ticket::At& at) {
  MutexLock lock(&mutex_);
  Shared* const shared = find(at);
  if (shared == nullptr) return;
  shared->share.leave(at.number);
  waiting_ -= shared->waiting.erase(at.number);
}

TimePoint Budgets::from(const Kept& kept, TimePoint now) {
  TimePoint from = is_mutant(Mutant::OwnQuestionsFirst) ? now : std::max(now, kept.pause_until);
  for (size_t i = 0; i < arm::kBudgets; ++i) {
    if (arm::is_of_reads(static_cast<arm::Budget>(i))) from = std::max(from, kept.budgets[i].may_ask_from(now));
  }
  return from;
}

TimePoint Budgets::may_ask_from(const Asker& asker, TimePoint now) const {
  const Hash128 key = key_of(asker);
  MutexLock lock(&mutex_);
  const Kept* const kept = kept_.find(key);
  return kept == nullptr ? now : from(*kept, now);
}

TimePoint Budgets::ask(const Asker& asker, TimePoint now) {
  const Hash128 key = key_of(asker);
  MutexLock lock(&mutex_);
  Kept* const kept = kept_.find(key);
  const TimePoint when = kept == nullptr ? now : from(*kept, now);
  if (when > now) return when;
  ++own_reads_;
  if (kept == nullptr) return now;
  for (auto& budget : kept->budgets) budget.spend(now);
  return now;
}

BudgetReport Budgets::report(TimePoint now) const {
  BudgetReport report;
  MutexLock lock(&mutex_);
  report.own_reads = own_reads_;
  report.unreadable = unreadable_;
  report.forgotten = forgotten_;
  for (const auto& [key, kept] : kept_) {
    BudgetReport::Row row{
        kept.subscription, kept.principal.tag(), {}, std::max(Duration::zero(), Duration(kept.come_again_at - now)), {}};
    for (size_t i = 0; i < arm::kBudgets; ++i) {
      const policy::ReadBudget& budget = kept.budgets[i];
      const bool is_shown = budget.is_known() && now - budget.when() <= kShownMax;
      if (is_shown) row.told.push_back({static_cast<arm::Budget>(i), budget.left(), budget.most()});
    }
    for (const Shared& shared : *kept.all_shared) {
      for (const auto& [number, request] : shared.waiting) {
        row.waiting.push_back({request.label, request.what, Duration(now - request.since)});
      }
    }
    if (!row.waiting.empty() || !row.told.empty() || row.come_again > Duration::zero()) report.rows.push_back(std::move(row));
  }
  std::sort(report.rows.begin(), report.rows.end(), [](const BudgetReport::Row& a, const BudgetReport::Row& b) {
    return std::tie(a.subscription, a.principal) < std::tie(b.subscription, b.principal);
  });
  return report;
}

}  // namespace armgate
