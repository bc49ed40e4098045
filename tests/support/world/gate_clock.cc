#include "tests/support/world/gate_clock.h"

#include <utility>

#include "proxy/async/waiter.h"

namespace armgate::world {

class GateClock::Timer final : public TimerHandle {
 public:
  Timer(GateClock& clock, Executor executor, std::function<void()> callback)
      : clock_(clock), executor_(std::move(executor)), callback_(std::move(callback)) {}
  void begin(TimePoint when) {
    timer_ = clock_.world_.call_at(executor_, when, [this] { fire(); });
  }

 private:
  // The callback may destroy its timer.
  void fire() {
    if (clock_.is_frozen()) return begin(clock_.frozen_until_);
    const auto callback = std::move(callback_);
    callback();
  }

  GateClock& clock_;
  const Executor executor_;
  std::function<void()> callback_;
  std::unique_ptr<TimerHandle> timer_;
};

std::unique_ptr<TimerHandle> GateClock::call_at(const Executor& executor, TimePoint when, std::function<void()> callback) {
  auto timer = std::make_unique<Timer>(*this, executor, std::move(callback));
  timer->begin(when);
  return timer;
}

Task<void> GateClock::sleep_until(TimePoint when) {
  const Executor executor = co_await current_executor();
  Waiter waiter(executor);
  const auto timer = call_at(executor, when, [&waiter] { waiter.signal(1); });
  co_await waiter.wait();
}

void GateClock::when_it_runs(std::function<void()> event) {
  if (!is_frozen()) return event();
  world_.at(frozen_until_, [this, event = std::move(event)]() mutable { when_it_runs(std::move(event)); });
}

Task<void> GateClock::until_it_runs() {
  if (is_frozen()) co_await sleep_until(frozen_until_);
}

}  // namespace armgate::world
