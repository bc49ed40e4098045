// credentials_gate.h – who may show our user name and password to the parent proxy, and when.
//
// Why: an account is often locked after a few refusals, and many requests run through armgate at once. So until the proxy has
// taken the credentials, one connection at a time asks, and the others wait for what becomes of it. After a refusal all are
// told that one, and one asks again after half a minute, then each time after twice as long, ten minutes at most.
// Threads   any: the proxy is the same for all event loops.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "proxy/async/mutex.h"
#include "proxy/async/waiter.h"
#include "proxy/seams/clock.h"

namespace armgate::net {

class CredentialsGate {
 public:
  // What to tell whoever would ask now; nothing: nobody was refused, or it is time to ask again.
  std::optional<Error> refusal(TimePoint now);

  // Waits until it may ask, and then must say one of the three below. Errors: a refusal; TimedOut.
  Task<Result<void>> enter(Clock& clock, TimePoint deadline);
  void taken();
  void note_refusal(Error refusal, TimePoint now);
  void unanswered();

 private:
  std::optional<Result<void>> check(TimePoint now, Waiter& waiter);  // nothing: it waits
  void leave(Waiter& waiter);
  std::optional<Error> refusal_in_force(TimePoint now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void wake_all() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  bool are_taken_ ABSL_GUARDED_BY(mutex_) = false;
  bool one_asks_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<Error> refusal_ ABSL_GUARDED_BY(mutex_);
  TimePoint until_ ABSL_GUARDED_BY(mutex_){};
  Duration pause_ ABSL_GUARDED_BY(mutex_){};
  std::vector<Waiter*> waiting_ ABSL_GUARDED_BY(mutex_);  // signalled under the mutex, so that none can die meanwhile
};

}  // namespace armgate::net
