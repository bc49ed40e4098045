// budgets.h – what ARM says is left of the requests that it takes: for each subscription and principal, as the answers that pass tell it.
//
// Why: people want to see whose budget is low before it is used up, and armgate's own questions must not be what uses it up
// (proxy/policy/read_budget.h).
//
// Invariants  what is not known holds nobody back.
// Threads     any; one short mutex.
// Limits      kKeptMax pairs of subscription and principal; the one that was heard of longest ago is forgotten first (counted).
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/budget.h"
#include "arm/http.h"
#include "base/hash.h"
#include "base/time.h"
#include "proxy/async/mutex.h"
#include "proxy/policy/read_budget.h"

namespace armgate {

// Who asks: the token's bearer (a keyed hash of what the token says about its bearer), and the target that he asks for.
struct Asker {
  Hash128 principal{};  // zero: nobody, of whom nothing is noted
  std::string_view target;
};

// All of it at one moment.
struct BudgetReport {
  struct Told {
    arm::Budget budget;
    uint32_t left = 0;
    uint32_t most = 0;  // that was told lately
  };
  struct Row {
    std::string subscription;  // lower case; empty: of the tenant
    std::string principal;     // Hash128::tag()
    std::vector<Told> told;
    Duration come_again{};  // ARM answered 429, and this long is still to pass
  };
  std::vector<Row> rows;    // what is not too old, by subscription and principal
  uint64_t asked = 0;       // own questions
  uint64_t unreadable = 0;  // values of these headers that are no count
  uint64_t forgotten = 0;
};

class Budgets {
 public:
  static constexpr size_t kKeptMax = 100;
  static constexpr Duration kShownMax = std::chrono::minutes(10);         // what was told longer ago is not shown
  static constexpr Duration kPauseMax = std::chrono::minutes(5);          // that a 429 holds armgate's own questions back
  static constexpr Duration kPauseWithoutWord = std::chrono::seconds(5);  // the same if it does not say how long

  explicit Budgets(Hasher hasher) : hasher_(hasher) {}

  struct Time {
    TimePoint now;
    WallTime wall;
  };

  // An answer of ARM's passes by.
  void note(const Asker& asker, arm::Method method, const arm::ResponseHead& answer, Time time);

  // From when on armgate may ask a question of its own; `now` or earlier: it may.
  TimePoint may_ask_from(const Asker& asker, TimePoint now) const;
  // The same for whoever asks at once if it may.
  TimePoint ask(const Asker& asker, TimePoint now);

  BudgetReport report(TimePoint now) const;

 private:
  struct Kept {
    std::string subscription;
    Hash128 principal;
    std::array<policy::ReadBudget, arm::kBudgets> budgets{};
    TimePoint heard{};
    TimePoint pause_until{};    // for armgate's own reads
    TimePoint come_again_at{};  // whatever was asked
  };

  static TimePoint from(const Kept& kept, TimePoint now);
  Hash128 key_of(const Asker& asker) const;
  void make_room() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Hasher hasher_;
  mutable Mutex mutex_;
  absl::flat_hash_map<Hash128, Kept> kept_ ABSL_GUARDED_BY(mutex_);
  uint64_t asked_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t unreadable_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t forgotten_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace armgate
