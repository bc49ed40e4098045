// deadline_timer.h – a deadline that is set and cleared often and passes rarely.
//
// Why: every read and write has a deadline. Arming a timer for each would cost more than the read; here set() and
// clear() store a time point, and one timer follows lazily: when it fires too early, it is armed again for what is
// left.
// Threads   one event loop.
#pragma once

#include <functional>
#include <memory>

#include "proxy/seams/clock.h"

namespace armgate::net {

class DeadlineTimer {
 public:
  DeadlineTimer(Clock& clock, const Executor& executor, std::function<void()> expired)
      : clock_(clock), executor_(executor), expired_(std::move(expired)) {}

  void set(TimePoint when) {
    wanted_ = when;
    if (when < armed_for_) arm();
  }
  void clear() { wanted_ = kNever; }
  // The same, and lets nothing wait for it.
  void stop() {
    wanted_ = armed_for_ = kNever;
    handle_.reset();
  }

 private:
  void arm() {
    armed_for_ = wanted_;
    handle_ = clock_.call_at(executor_, wanted_, [this] { fire(); });
  }
  void fire() {
    armed_for_ = kNever;
    if (wanted_ == kNever) return;
    if (clock_.now() < wanted_) return arm();
    wanted_ = kNever;
    expired_();
  }

  Clock& clock_;
  const Executor executor_;
  const std::function<void()> expired_;
  TimePoint wanted_ = kNever;
  TimePoint armed_for_ = kNever;
  std::unique_ptr<TimerHandle> handle_;
};

}  // namespace armgate::net
