// read_budget.h – how much of a budget for reads armgate's own questions may take.
//
// Why: armgate asks with its clients' tokens: it looks whether operations have ended, and compares what is there with what
// writes were built from. ARM counts these reads against the same budget as the clients' own, so when that becomes scarce
// armgate must be the first to stop, before anybody is told 429 because of it.
//
// How: what ARM says is left is held against the most that it said lately.
//   plenty (from kPlenty of that on)  armgate asks as it likes
//   between                           its questions take at most a share of what is seen to be refilled
//   scarce (kScarce, or kFewest)      it asks nothing
// One question in each kEvery is allowed all the same, since only an answer shows a refill. What an answer told is believed for
// kBelieved.
// Pure: time is handed in. Threads: none.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace armgate::policy {

class ReadBudget {
 public:
  static constexpr double kPlenty = 7.0 / 8;
  static constexpr double kScarce = 1.0 / 4;
  static constexpr double kSaved = 1.0 / 20;  // of the most: what may be left over of that share for later
  static constexpr uint32_t kFewest = 10;
  static constexpr Duration kEvery = std::chrono::seconds(10);  // ARM's small buckets fill up in as long (docs/arm.md)
  static constexpr Duration kBelieved = std::chrono::minutes(1);
  static constexpr Duration kMemory = std::chrono::hours(1);  // of the most that was told

  // An answer of ARM's said what is left. `share`: of what is refilled, for armgate's own questions.
  void note_left(uint32_t left, TimePoint now, double share);

  // From when on armgate may ask, if nothing else is told until then; `now` or earlier: it may.
  TimePoint may_ask_from(TimePoint now) const;

  // armgate asks.
  void spend(TimePoint now);

  bool is_known() const { return known_; }
  uint32_t left() const { return left_; }
  uint32_t most() const;
  TimePoint when() const { return told_; }

 private:
  bool known_ = false;
  uint32_t left_ = 0;
  uint32_t most_now_ = 0;     // since window_
  uint32_t most_before_ = 0;  // in the window before
  TimePoint window_{};
  TimePoint told_{};
  TimePoint asked_ = TimePoint::min();
  double allowance_ = 0;
};

}  // namespace armgate::policy
