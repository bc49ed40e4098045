#include "tests/support/world/sim_clock.h"

#include <algorithm>
#include <utility>

#include "proxy/async/waiter.h"

namespace armgate::world {

class SimClock::Timer final : public TimerHandle {
 public:
  Timer(SimClock& clock, Key key) : clock_(clock), key_(key) {}
  ~Timer() override { clock_.events_.erase(key_); }

 private:
  SimClock& clock_;
  Key key_;
};

namespace {
class NoTimer final : public TimerHandle {};
}  // namespace

SimClock::SimClock(boost::asio::io_context& loop, uint64_t seed) : loop_(loop), rng_(seed) {
  now_ = TimePoint(std::chrono::hours(1000));  // not the zero of anything
}

WallTime SimClock::wall() const {
  constexpr auto kStart = std::chrono::sys_days(std::chrono::year(2026) / 1 / 1);
  return kStart + std::chrono::duration_cast<std::chrono::milliseconds>(now_.time_since_epoch() + wall_offset_);
}

SimClock::Key SimClock::add(TimePoint when, std::function<void()> event) {
  if (grid_ > Duration{} && when > now_) {
    const auto rest = when.time_since_epoch() % grid_;
    if (rest > Duration{}) when += grid_ - rest;
  }
  const Key key{std::max(when, now_), rng_.next(), ++sequence_};
  events_.emplace(key, std::move(event));
  return key;
}

std::unique_ptr<TimerHandle> SimClock::call_at(const Executor&, TimePoint when, std::function<void()> callback) {
  if (when == kNever) return std::make_unique<NoTimer>();
  return std::make_unique<Timer>(*this, add(when, std::move(callback)));
}

void SimClock::at(TimePoint when, std::function<void()> event) { add(when, std::move(event)); }

Task<void> SimClock::sleep_until(TimePoint when) {
  Waiter waiter(co_await current_executor());
  const auto timer = call_at(loop_.get_executor(), when, [&waiter] { waiter.signal(1); });
  co_await waiter.wait();
}

void SimClock::settle() {
  do {
    loop_.restart();
  } while (loop_.poll() > 0);
}

void SimClock::fire_first() {
  auto first = events_.extract(events_.begin());
  now_ = std::max(now_, std::get<0>(first.key()));
  first.mapped()();
}

bool SimClock::step() {
  settle();
  if (events_.empty()) return false;
  fire_first();
  const auto more_now = [this] { return !events_.empty() && std::get<0>(events_.begin()->first) <= now_; };
  while (grid_ > Duration{} && more_now() && rng_.chance(0.5)) fire_first();
  settle();
  return true;
}

}  // namespace armgate::world
