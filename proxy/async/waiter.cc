#include "proxy/async/waiter.h"

#include <absl/base/thread_annotations.h>

#include <utility>

#include "base/check.h"
#include "proxy/async/frame_pool.h"
#include "proxy/async/mutex.h"
#include "proxy/async/resume_later.h"

namespace armgate {

struct Waiter::State {
  explicit State(const Executor& on) : executor(on) {}

  const Executor executor;
  Mutex mutex;
  uint32_t bits ABSL_GUARDED_BY(mutex) = 0;
  Parked parked ABSL_GUARDED_BY(mutex);

  uint32_t take() {
    MutexLock lock(&mutex);
    return std::exchange(bits, 0);
  }

  void add(uint32_t more) {
    Parked resume;
    {
      MutexLock lock(&mutex);
      bits |= more;
      resume.swap(parked);
    }
    if (resume) resume_later(executor, std::move(resume));
  }

  void keep(Parked waiting) {
    {
      MutexLock lock(&mutex);
      GATE_CHECK(!parked, "two coroutines wait on one Waiter");
      if (bits == 0) {
        parked.swap(waiting);
        return;
      }
    }
    resume_later(executor, std::move(waiting));
  }
};

Waiter::Waiter(const Executor& executor) : state_(make_pooled<State>(executor)) {}
// A root task that is parked here for ever is destroyed, here and now: parked, it keeps the state that keeps it. Only its own
// thread may do that, or whoever takes everything down.
Waiter::~Waiter() {
  Parked abandoned;  // destroyed after the mutex is free
  MutexLock lock(&state_->mutex);
  abandoned.swap(state_->parked);
}

void Waiter::signal(uint32_t bits) { state_->add(bits); }

Task<uint32_t> Waiter::wait() {
  const auto state = state_;
  uint32_t bits = state->take();
  while (bits == 0) {
    co_await park([&state](Parked parked) { state->keep(std::move(parked)); });
    bits = state->take();
  }
  co_return bits;
}

}  // namespace armgate
