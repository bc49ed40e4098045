#include "proxy/seams/real_clock.h"

#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <utility>

#include "proxy/async/asio_call.h"

namespace armgate {
namespace {

std::chrono::steady_clock::time_point to_steady(TimePoint when) {
  return std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(when.time_since_epoch()));
}

class SteadyTimer final : public TimerHandle {
 public:
  SteadyTimer(const Executor& executor, TimePoint when, std::function<void()> callback)
      : state_(std::make_shared<State>(executor, to_steady(when), std::move(callback))) {
    state_->timer.async_wait([state = state_](const boost::system::error_code&) {
      // A timer that fired and was then cancelled before its handler ran still ends here: the callback decides.
      if (const auto then = std::exchange(state->callback, nullptr)) then();
    });
  }
  ~SteadyTimer() override {
    state_->callback = nullptr;
    state_->timer.cancel();
  }

 private:
  struct State {
    State(const Executor& executor, std::chrono::steady_clock::time_point when, std::function<void()> then)
        : timer(executor, when), callback(std::move(then)) {}
    boost::asio::steady_timer timer;
    std::function<void()> callback;
  };
  std::shared_ptr<State> state_;
};

class NoTimer final : public TimerHandle {};

thread_local TimePoint now_in_iteration = kNever;  // kNever: not in one
thread_local std::optional<WallTime> wall_in_iteration;

TimePoint steady_now() { return TimePoint(std::chrono::steady_clock::now().time_since_epoch()); }
WallTime system_now() { return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now()); }

}  // namespace

RealClock::LoopIteration::LoopIteration() { now_in_iteration = steady_now(); }
RealClock::LoopIteration::~LoopIteration() {
  now_in_iteration = kNever;
  wall_in_iteration.reset();
}

TimePoint RealClock::now() const { return now_in_iteration != kNever ? now_in_iteration : steady_now(); }

TimePoint RealClock::exact_now() const { return steady_now(); }

WallTime RealClock::wall() const {
  if (now_in_iteration == kNever) return system_now();
  if (!wall_in_iteration) wall_in_iteration = system_now();
  return *wall_in_iteration;
}

Moment RealClock::next_moment() { return {moments_.fetch_add(1, std::memory_order_relaxed) + 1, now()}; }

void RealClock::pass(uint64_t order) {
  for (uint64_t last = moments_.load(); last < order && !moments_.compare_exchange_weak(last, order);) {
  }
}

std::unique_ptr<TimerHandle> RealClock::call_at(const Executor& executor, TimePoint when, std::function<void()> callback) {
  if (when == kNever) return std::make_unique<NoTimer>();
  return std::make_unique<SteadyTimer>(executor, when, std::move(callback));
}

Task<void> RealClock::sleep_until(TimePoint when) {
  boost::asio::steady_timer timer(co_await current_executor(), to_steady(when));
  boost::system::error_code ignored;
  co_await asio_call(ignored, [&timer](auto handler) { timer.async_wait(std::move(handler)); });
}

}  // namespace armgate
