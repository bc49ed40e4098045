// budgets.h – what ARM says is left of the requests that it takes: for each subscription and principal, as the answers that
// pass tell it.
//
// Why: people want to see whose budget is low before it is used up, armgate's own questions must not be what uses it up
// (proxy/policy/budget/read_budget.h), and clients that share one may be let go one after the other (Options::fair;
// proxy/policy/budget/fair_share.h).
//
// Invariants  what is not known holds nobody back.
// Threads     any; one short mutex. A Ticket must not outlive the Budgets.
// Limits      kKeptMax pairs of subscription and principal; of those that nobody waits for, the one that was heard of longest
//             ago is forgotten first (counted). Options::waiters_max requests wait.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arm/budget.h"
#include "arm/http.h"
#include "base/hash.h"
#include "base/time.h"
#include "proxy/async/mutex.h"
#include "proxy/async/waiter.h"
#include "proxy/policy/budget/read_budget.h"
#include "proxy/state/aged_map.h"

namespace armgate {

// The sender of a request: the token's bearer (a keyed hash of what the token says about it), and the target.
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
    struct Waiting {
      std::string client;
      std::string what;
      Duration waited{};
    };
    std::vector<Waiting> waiting;  // for their part of it, the oldest first
  };
  std::vector<Row> rows;    // what is not too old, by subscription and principal
  uint64_t own_reads = 0;   // of armgate itself
  uint64_t unreadable = 0;  // values of these headers that are no count
  uint64_t forgotten = 0;
};

class Budgets {
 public:
  static constexpr size_t kKeptMax = 100;
  static constexpr Duration kShownMax = std::chrono::minutes(10);         // what was told longer ago is not shown
  static constexpr Duration kPauseMax = std::chrono::minutes(5);          // that a 429 holds armgate's own questions back
  static constexpr Duration kPauseWithoutWord = std::chrono::seconds(5);  // the same if it does not say how long

  struct Options {
    double own_share = 0.2;  // of what is refilled, for armgate's own questions
    bool fair = false;       // clients are let go one after the other
    size_t waiters_max = 1000;
  };

  Budgets(Options options, Hasher hasher) : options_(options), hasher_(hasher) {}

  struct Time {
    TimePoint now;
    WallTime wall;
  };

  // An answer of ARM's passes by.
  void note(const Asker& asker, arm::Method method, const arm::ResponseHead& answer, Time time);

  // From when on armgate may ask a question of its own; `now` or earlier: it may.
  TimePoint may_ask_from(const Asker& asker, TimePoint now) const;
  // Asks now if that is allowed, and counts it.
  TimePoint ask(const Asker& asker, TimePoint now);

  BudgetReport report(TimePoint now) const;

  // A client's request that is about to be sent: first in line, then under way until this goes.
  class Ticket {
   public:
    Ticket() = default;  // let go at once
    Ticket(Ticket&& other) noexcept : budgets_(std::exchange(other.budgets_, nullptr)), at_(other.at_) {}
    Ticket& operator=(Ticket&& other) noexcept {
      std::swap(budgets_, other.budgets_);
      std::swap(at_, other.at_);
      return *this;
    }
    ~Ticket() {
      if (budgets_ != nullptr) budgets_->leave(at_);
    }
    bool granted() const { return budgets_ == nullptr || budgets_->is_granted(at_); }
    // When to ask let_go_due() at the latest, which lets those go that may.
    TimePoint due(TimePoint now) const { return budgets_ == nullptr ? now : budgets_->due(at_, now); }
    void let_go_due(TimePoint now) {
      if (budgets_ != nullptr) budgets_->let_go_due(at_, now);
    }

   private:
    friend class Budgets;
    struct At {
      Hash128 key;
      size_t kind = 0;
      uint64_t number = 0;
    };
    Ticket(Budgets* budgets, const At& at) : budgets_(budgets), at_(at) {}
    Budgets* budgets_ = nullptr;
    At at_;
  };
  struct Joining {
    arm::Method method;
    bool can_wait;  // nobody waits for what it shows: of its client's requests, those that can go last
    Hash128 client;
    std::string label;  // of the client, for people
    std::string what;
  };
  bool is_fair() const { return options_.fair; }
  // Nothing: too many wait. `waiter` is signalled with `bits` when it is let go, and must outlive the Ticket.
  std::optional<Ticket> join(const Asker& asker, Joining joining, Waiter* waiter, uint32_t bits, TimePoint now);

 private:
  // Reads, writes and deletes each have a bucket (docs/arm.md).
  struct Shared;
  using AllShared = std::array<Shared, 3>;
  struct Kept {
    std::string subscription;
    Hash128 principal;
    std::array<policy::ReadBudget, arm::kBudgets> budgets{};
    TimePoint pause_until{};    // for armgate's own reads
    TimePoint come_again_at{};  // whatever was asked
    std::shared_ptr<AllShared> all_shared;
  };

  static TimePoint from(const Kept& kept, TimePoint now);
  Hash128 key_of(const Asker& asker) const;
  bool make_room() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void note_shared(Kept& kept, const arm::BudgetsLeft& told, TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void let_go(Shared& shared, TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Shared* find(const Ticket::At& at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool is_granted(const Ticket::At& at);
  TimePoint due(const Ticket::At& at, TimePoint now);
  void let_go_due(const Ticket::At& at, TimePoint now);
  void leave(const Ticket::At& at);

  const Options options_;
  const Hasher hasher_;
  mutable Mutex mutex_;
  AgedMap<Hash128, Kept> kept_ ABSL_GUARDED_BY(mutex_);  // by when they were heard of
  uint64_t own_reads_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t unreadable_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t forgotten_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t numbers_ ABSL_GUARDED_BY(mutex_) = 0;  // of requests, whatever they take of
};

}  // namespace armgate
