// waiter.h – one coroutine parks, anybody wakes it.
//
// Why: a write that waits for its lock must be woken by a grant, by its deadline, or by its client's leaving, whichever
// comes first, and from any thread. All three signal one Waiter and the coroutine looks at what happened; there is no
// race of awaitables to cancel, and no signal can be lost.
//
// Invariants
//   1. A signal sent before wait() is not lost: wait() returns at once.
//   2. At most one coroutine waits at a time (checked).
// Threads   signal() from any thread; wait() on the executor given, where it also resumes.
#pragma once

#include <cstdint>
#include <memory>

#include "proxy/async/task.h"

namespace armgate {

class Waiter {
 public:
  explicit Waiter(const Executor& executor);
  ~Waiter();
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // Adds `bits` to what wait() will return and wakes the waiting coroutine, if any.
  void signal(uint32_t bits);

  // Suspends until some bit is set, then returns all set bits and clears them.
  Task<uint32_t> wait();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace armgate
