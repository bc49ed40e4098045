// rules_in_force.h – the rules that requests are planned with, replaced as a whole while requests are under way.
//
// Why: an unfinished write has locked what the rules of its arrival named. A write that is planned with newer rules must not
// pass it by locking something else. So until the last such write is finished, plans take the keys of both (docs/design.md,
// "Locks"). The same holds for replicas whose rules differ: each takes the keys of all of them, and protects what one of them
// protects.
//
// Invariants
//   1. Rules count as long as anybody keeps a write's made_under: the exchange until its answer, the operation lease until its
//      end. So do those of other replicas.
//   2. A plan is the same whether it was kept or made anew.
//   3. Of two replicas at least one knows the other's rules: after a replacement the former rules count until the others can
//      know the new ones, and theirs have been looked at since.
// Threads     any. Each thread plans with a copy of the rules' reference counts: shared ones would be changed by all of them
//             with every request. It keeps its last plans: a client reads what it writes, and polls what it wrote, under the
//             same URL.
// Limits      one entry for each replacement whose writes are unfinished, and for each thread that planned them; kKeptPlans for
//             each thread.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cache_line.h"
#include "proxy/async/mutex.h"
#include "proxy/state/planned.h"

namespace armgate {

class RulesInForce {
 public:
  using Others = std::vector<std::shared_ptr<const rules::Ruleset>>;

  RulesInForce(std::shared_ptr<const rules::Ruleset> first, rules::Mode mode, Hasher hasher)
      : hasher_(hasher), current_(std::move(first)), mode_(mode) {}

  // For what arrives from now on.
  void replace(std::shared_ptr<const rules::Ruleset> next, rules::Mode mode);

  // rules::make_plan() with the rules and the mode of now, and with the keys that older rules ask for while writes of theirs
  // are unfinished. What is switched off now waits for none of them.
  Result<Planned> make_plan(arm::Method method, std::string_view target);

  rules::Mode mode() const;
  size_t rules() const;  // how many there are now

  // How many older sets of rules still count.
  size_t draining() const;

  // ---- several replicas ----
  // From now on former rules count until use_others() says that the current ones were told.
  void be_shared();
  // Of all that count and are this one's, the current ones first.
  std::vector<std::shared_ptr<const rules::RuleSource>> in_use() const;
  // The rules of other replicas, as they were after these (the hash of their source) had been told to them.
  void use_others(const Hash128& told, Others others);

 private:
  struct Kept {
    arm::Method method{};
    std::string target;
    std::shared_ptr<const KeyedPlan> plan;  // null: nothing is kept here
  };
  // State of the threads that use this slot; few share one.
  struct alignas(kCacheLineBytes) Slot {
    Mutex mutex;
    std::shared_ptr<const rules::Ruleset> rules ABSL_GUARDED_BY(mutex);  // null: not planned since the last replacement
    rules::Mode mode ABSL_GUARDED_BY(mutex) = rules::Mode::Protect;
    std::shared_ptr<const Others> others ABSL_GUARDED_BY(mutex);              // null: there are none
    std::shared_ptr<const rules::Ruleset> made_under ABSL_GUARDED_BY(mutex);  // `rules`, and keeps the others too
    std::vector<Kept> kept ABSL_GUARDED_BY(mutex);  // under `rules`; empty, or sets by hash of what was asked for
  };
  struct Older {
    uint64_t generation = 0;
    std::weak_ptr<const rules::Ruleset> rules{};         // a thread's copy, or another replica's
    std::shared_ptr<const rules::Ruleset> until_told{};  // the other replicas may not know what came after it
    bool is_anothers = false;                            // which tells them itself: two that told each other's would never end
    bool counts() const { return until_told || !rules.expired(); }
  };
  struct Current {
    std::shared_ptr<const rules::Ruleset> rules;
    rules::Mode mode;
    std::shared_ptr<const Others> others;
    std::shared_ptr<const rules::Ruleset> made_under;
  };
  static constexpr size_t kSlots = 32;
  static constexpr size_t kKeptPlans = 256;
  static constexpr size_t kSetPlaces = 4;        // of requests with one hash, so that two in turn do not drive each other out
  static constexpr size_t kKeptTargetMax = 512;  // longer ones are signed, and not to be kept

  Slot& own_slot();
  static ptrdiff_t set_of(arm::Method method, std::string_view target);  // its first place
  Current current(Slot& slot);
  std::shared_ptr<const KeyedPlan> with_keys(rules::Plan plan) const;
  Planned find_kept(Slot& slot, arm::Method method, std::string_view target);  // without a plan if there is none
  bool is_current(Slot& slot, const Current& made_under) const;
  void keep(Slot& slot, const Current& made_under, Kept plan);
  enum class Whose { Own, Anybodys };
  // One of each generation that still counts.
  std::vector<std::shared_ptr<const rules::Ruleset>> older(Whose whose = Whose::Anybodys) const;

  const Hasher hasher_;
  std::array<Slot, kSlots> slots_;
  alignas(kCacheLineBytes) mutable std::atomic<bool> any_older_{false};
  mutable Mutex mutex_;  // before that of any slot
  std::shared_ptr<const rules::Ruleset> current_ ABSL_GUARDED_BY(mutex_);
  rules::Mode mode_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const Others> others_ ABSL_GUARDED_BY(mutex_);
  bool is_shared_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t generation_ ABSL_GUARDED_BY(mutex_) = 0;
  mutable std::vector<Older> older_ ABSL_GUARDED_BY(mutex_);  // in the order of their generations
};

}  // namespace armgate
