#include "proxy/request/timed_wait.h"

namespace armgate {

Task<void> wait_until(const Parts& parts, Waiter& waiter, TimePoint due, uint32_t bits) {
  Waiter* const woken = &waiter;
  const auto timer = parts.clock.call_at(parts.executor, due, [woken, bits] { woken->signal(bits); });
  co_await waiter.wait();
}

}  // namespace armgate
