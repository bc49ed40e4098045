#include "proxy/request/budget.h"

#include <algorithm>

#include "proxy/request/identify.h"

namespace armgate {
namespace {

constexpr Duration kBudgetPause = std::chrono::seconds(1);  // what is told meanwhile may shorten the wait

}  // namespace

TimePoint may_ask_from(const Parts& parts, std::string_view target, std::string_view authorization) {
  return parts.shared.budgets.may_ask_from({principal_of(parts.shared.hasher, authorization), target}, parts.clock.now());
}

void note_budgets(const Parts& parts, const Asker& asker, arm::Method method, const arm::ResponseHead& answer) {
  parts.shared.budgets.note(asker, method, answer, {parts.clock.now(), parts.clock.wall()});
}

Task<Result<void>> wait_for_budget(const Parts& parts, const Asker& asker, TimePoint deadline) {
  bool is_counted = false;
  while (true) {
    const TimePoint now = parts.clock.now();
    const TimePoint from = parts.shared.budgets.ask(asker, now);
    if (from <= now) co_return Result<void>();
    if (!is_counted) parts.shared.counters.questions_held_back.fetch_add(1, std::memory_order_relaxed);
    is_counted = true;
    if (from > deadline) {
      co_return gateway_error(ErrorKind::TimedOut, "what ARM lets this token's bearer read is scarce, and left to clients");
    }
    co_await parts.clock.sleep_for(std::min<Duration>(from - now, kBudgetPause));
  }
}

}  // namespace armgate
