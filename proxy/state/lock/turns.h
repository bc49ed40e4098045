// turns.h – who comes next on a resource, because it was refused again and again.
//
// Why: a client that reads, thinks and writes is refused if somebody else writes meanwhile, and under load somebody always
// does. So who was refused twice in a row gets a turn: the resource's key is reserved for it before all that wait, from its
// next read until its write, each for a moment at most. Turns follow each other, first come first served.
//
// A turn is a claim of the lock table before all that wait but earlier turns. Its client's write takes the claim over; one that
// needs other keys as well makes a claim of its own, before everybody, and the turn is given up.
//
// Invariants
//   1. A client has one turn on a resource at most.
//   2. A turn ends when it was taken, or when `turn_max` has passed after its grant without a read, or after that read without
//      a write.
// Threads   any; one short mutex. A turn's waiter is its keeper's (proxy/request/queue/turn.h).
// Limits    Options; beyond them nobody gets one.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "base/time.h"
#include "proxy/async/mutex.h"
#include "proxy/async/waiter.h"
#include "proxy/state/lock/lock_table.h"

namespace armgate {

class Turn {
 public:
  static constexpr uint32_t kGranted = 1;
  static constexpr uint32_t kRead = 2;
  static constexpr uint32_t kOver = 4;

  Turn(QueuePosition position, const Executor& executor);

  Waiter& waiter() { return waiter_; }
  // When nobody else is let in any more because of it; nothing: it waits, or it is over.
  bool granted() const;
  bool over() const;
  // Its client reads. Only the first read while nothing is being sent counts: from then on it has `turn_max`.
  void note_read();
  bool has_read() const;
  // Gives the key to whoever comes next.
  void end();
  // The turn is over, and its position somebody else's; nothing if it was over.
  std::optional<QueuePosition> take_position();

 private:
  Waiter waiter_;
  mutable Mutex mutex_;
  bool has_read_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<QueuePosition> position_ ABSL_GUARDED_BY(mutex_);
};

class Turns {
 public:
  struct Options {
    Duration turn_max = std::chrono::seconds(2);
    size_t turns_max = 10'000;
  };
  explicit Turns(Options options) : options_(options) {}

  const Options& options() const { return options_; }

  // Null if there are too many, or the client has one there.
  std::shared_ptr<Turn> give(const Hash128& resource, const Hash128& client, QueuePosition position, const Executor& executor);
  void note_read(const Hash128& resource, const Hash128& client);
  // The client's write has come: its turn, which the caller ends when the write stands in line.
  std::shared_ptr<Turn> take(const Hash128& resource, const Hash128& client);
  // Its keeper gives it up.
  void end(const Hash128& resource, const std::shared_ptr<Turn>& turn);

  size_t size() const;

 private:
  struct Given {
    Hash128 client{};
    std::shared_ptr<Turn> turn;
  };

  const Options options_;
  std::atomic<size_t> count_{0};  // nearly always none: then a request passes without the mutex
  mutable Mutex mutex_;
  absl::flat_hash_map<Hash128, std::vector<Given>> by_resource_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armgate
