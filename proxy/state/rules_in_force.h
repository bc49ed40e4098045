// rules_in_force.h – the rules that requests are planned with, replaced as a whole while requests are under way.
//
// Why: an unfinished write has locked what the rules of its arrival named. Who is planned with newer rules must not pass it by
// locking something else, so until the last such write is finished, plans take the keys of both (DESIGN §4).
//
// Invariants  rules count as long as anybody keeps a plan's made_under: the exchange until its answer, the hold until its end.
// Threads     any.
// Limits      one entry for each replacement whose writes are unfinished.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "proxy/async/mutex.h"
#include "rules/plan.h"

namespace armgate {

class RulesInForce {
 public:
  RulesInForce(std::shared_ptr<const rules::Ruleset> first, rules::Mode mode) : current_(std::move(first)), mode_(mode) {}

  // For what arrives from now on.
  void replace(std::shared_ptr<const rules::Ruleset> next, rules::Mode mode);

  // rules::make_plan() with the rules and the mode of now, and with the keys that older rules ask for while writes of theirs are
  // unfinished. What is switched off now waits for none of them.
  Result<rules::Plan> make_plan(arm::Method method, std::string_view target);

  rules::Mode mode() const;
  size_t rules() const;  // how many there are now

  // How many older rules still count.
  size_t draining();

 private:
  struct Snapshot {
    std::vector<std::shared_ptr<const rules::Ruleset>> rules;  // the current ones first
    rules::Mode mode;
  };
  Snapshot snapshot();

  mutable Mutex mutex_;
  std::shared_ptr<const rules::Ruleset> current_ ABSL_GUARDED_BY(mutex_);
  rules::Mode mode_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<const rules::Ruleset>> older_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armgate
