// client_wait.h – how long a client can be kept waiting, and whether it is still there.
//
// Why: a write that waits (for its lock, for an operation, for a group to appear) must stop waiting when its client's queue
// timeout or its client is gone, and what has left must never be sent. One Waiter collects all reasons to wake up.
// Threads   the connection's event loop.
// Cancel    the destructor ends the watch of the client.
#pragma once

#include <functional>
#include <memory>

#include "base/time.h"
#include "proxy/async/waiter.h"
#include "proxy/seams/client_link.h"
#include "proxy/seams/clock.h"
#include "proxy/state/lock/lock_table.h"

namespace armgate {

struct Exchange;
struct Parts;

// How long the exchange's client can be kept waiting, by its User-Agent.
Duration queue_timeout_of(const Parts& parts, const Exchange& exchange);

class ClientWait {
 public:
  enum class End { Ready, TimeUp, Gone, Closing };
  // What a wait does when armgate is about to end: an answer that ARM may owe is worth waiting for.
  enum class AtClosing { WaitOn, Stop };
  static constexpr uint32_t kGranted = 1;
  static constexpr uint32_t kJoinedEnded = 8;

  // Waits end at `until`. `client` must outlive this.
  ClientWait(Clock& clock, const Executor& executor, ClientLink& client, TimePoint until);
  ~ClientWait();
  ClientWait(const ClientWait&) = delete;
  ClientWait& operator=(const ClientWait&) = delete;

  Waiter& waiter() { return waiter_; }
  bool client_gone() const { return client_.gone(); }
  bool closing() const { return client_.closing(); }
  TimePoint until() const { return until_; }
  // Whether what its client asked for may begin to be sent.
  bool may_begin() const;

  // Suspends until the position is granted. A grant wins over a deadline that passes at the same moment, and over closing, at
  // which this stops waiting; a client that is gone wins over all.
  Task<End> await_grant(const QueuePosition& position);

  // Suspends until `ready`, which is asked whenever the waiter is signalled; the same order of precedence.
  Task<End> await_ready(std::function<bool()> ready, AtClosing at_closing = AtClosing::WaitOn);

  // Suspends for `duration`. TimeUp at once if that would go beyond `until`.
  Task<End> pause(Duration duration, AtClosing at_closing = AtClosing::WaitOn);

 private:
  static constexpr uint32_t kTimer = 2;
  static constexpr uint32_t kClient = 4;

  Clock& clock_;
  const Executor executor_;
  ClientLink& client_;
  const TimePoint until_;
  Waiter waiter_;
};

}  // namespace armgate
