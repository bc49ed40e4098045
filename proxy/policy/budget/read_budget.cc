#include "proxy/policy/budget/read_budget.h"

#include <algorithm>

namespace armgate::policy {

uint32_t ReadBudget::most() const { return std::max(most_now_, most_before_); }

void ReadBudget::note_left(uint32_t left, TimePoint now, double share) {
  if (!known_ || now - window_ >= kMemory) {
    most_before_ = known_ && now - window_ < 2 * kMemory ? most_now_ : 0;
    most_now_ = 0;
    window_ = now;
  }
  most_now_ = std::max(most_now_, left);
  const double cap = std::max(1.0, kSaved * most());
  // The request that was answered took one itself. What others took in between hides some of what was refilled, never adds to
  // it.
  const double refilled = known_ ? std::max(0.0, static_cast<double>(left) - left_ + 1) : 0;
  allowance_ = left >= kPlenty * most() ? cap : std::min(cap, allowance_ + share * refilled);
  left_ = left;
  told_ = now;
  known_ = true;
}

TimePoint ReadBudget::may_ask_from(TimePoint now) const {
  const bool is_old = !known_ || now - told_ >= kBelieved;
  const bool was_long_silent = asked_ == TimePoint::min() || now - asked_ >= kEvery;
  if (is_old || was_long_silent) return now;
  if (left_ > kFewest && left_ >= kPlenty * most()) return now;
  const bool is_scarce = left_ <= kFewest || left_ <= kScarce * most();
  if (!is_scarce && allowance_ >= 1) return now;
  return std::min(told_ + kBelieved, asked_ + kEvery);
}

void ReadBudget::spend(TimePoint now) {
  asked_ = now;
  allowance_ = std::max(0.0, allowance_ - 1);
}

}  // namespace armgate::policy
