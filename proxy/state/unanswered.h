// unanswered.h – writes whose answer their client does not have yet: who asks for the same again gets that answer, instead of
// a second write (DESIGN §7, "usually once").
//
// Why: a client whose connection broke sends its bytes again. Forwarded, they would run a restart twice, or meet the ETag that
// their own first sending has made.
//
// What joins what. Two requests are the same only if method, host, target, body and credential are. Under one request id they
// are one request by the client's own word. Without ids the later one joins an orphan only: the earlier one was sent, its
// client is gone, and its answer was not delivered; while that client listens, the same bytes are a second write (two actors
// may both count from 2 to 3). Requests with different ids never join.
//
// Of requests that come at once, on whatever threads, one runs and the others join it.
//
// Threads   any; one short mutex. Joiners' waiters are signalled under it, so that none can die meanwhile.
// Limits    Options; beyond them the oldest answers are forgotten, and a re-send is then an ordinary write.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/http.h"
#include "base/hash.h"
#include "base/time.h"
#include "proxy/async/mutex.h"
#include "proxy/async/waiter.h"
#include "proxy/seams/client_link.h"

namespace armgate {

class UnansweredWrites {
 public:
  struct Options {
    Duration keep = std::chrono::minutes(5);  // how long an undelivered answer waits for a re-send
    size_t writes_max = 10'000;
    size_t bytes_max = 8u << 20;  // of the answers' bodies
  };

  // One write as it arrives.
  struct Arrival {
    Hash128 request{};       // keyed hash of all that makes two requests the same
    std::string request_id;  // may be empty
    Hash128 resource{};
    std::shared_ptr<const Presence> asker;
  };

  // What a write came to.
  struct Ending {
    bool accepted = false;                        // ARM took it: kept until it was delivered
    std::shared_ptr<const arm::Response> answer;  // null: nothing was sent, or the client is expected again
    std::string reason;                           // what its headers say was done; empty if nothing was
    uint64_t binding = 0;
  };

  explicit UnansweredWrites(Options options) : options_(options) {}

  // ---- the exchange that runs the write ----

  void sent(uint64_t write);
  // Wakes those who joined.
  void end(uint64_t write, Ending ending, Moment now);
  // Whether the answer arrived. What was not accepted need not be kept: sent again, it is decided again.
  void delivered(uint64_t write);
  void undelivered(uint64_t write, TimePoint now);

  // ---- a request that arrives, and may ask for the same as an earlier one ----

  // Whether an earlier write is the same, also one whose answer cannot be given again.
  bool knows(const Arrival& arrival, TimePoint now);
  // A write of its own, whatever came before.
  uint64_t add(const Arrival& arrival);
  // The same, unless the request is an earlier one's re-send: its client is gone without the answer, or it runs under the same id.
  std::optional<uint64_t> add_if_new(const Arrival& arrival, TimePoint now);

  struct Joined {
    uint64_t write = 0;
    bool to_earlier = false;  // else it is its own
  };
  // Joins the write whose answer `arrival` gets; if there is none, adds one. Joined: signals `waiter` with `bits` when it has
  // ended, until leave(). Takes the place of an asker who is gone; who leaves without the answer gives it up again.
  Joined join_or_add(const Arrival& arrival, Waiter* waiter, uint32_t bits, TimePoint now);
  enum class With { Answer, Nothing };
  void leave(uint64_t write, Waiter* waiter, With with);
  // Null while it runs. A write that is not known any more has ended without an answer.
  std::optional<Ending> ending(uint64_t write) const;

  // A read of the resource, asked for at `asked`, is delivered: its client has seen what became of the writes that ended
  // before. Without request ids, the same bytes are a new intention then.
  void resolve(const Hash128& resource, Moment asked);

  void expire(TimePoint now);
  size_t size() const;

 private:
  struct Joiner {
    Waiter* waiter;
    uint32_t bits;
    bool is_asker;
  };
  struct Write {
    uint64_t id = 0;
    Hash128 request{};
    std::string request_id;
    Hash128 resource{};
    std::shared_ptr<const Presence> asker;
    bool sent = false;
    bool undelivered = false;
    std::optional<Ending> ending;
    Moment ended;
    std::vector<Joiner> joiners;
  };
  using Place = std::list<Write>::iterator;

  enum class Wanted { Any, WithAnswer, Unanswered };  // of those that have ended; Unanswered: whose client is gone without it
  Write* earlier(const Arrival& arrival, Wanted wanted, TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint64_t add_locked(const Arrival& arrival) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Write* find_locked(uint64_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void forget(Place place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void expire_locked(TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void keep_within_bounds() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  mutable Mutex mutex_;
  std::list<Write> in_order_ ABSL_GUARDED_BY(mutex_);  // oldest first
  absl::flat_hash_map<uint64_t, Place> by_id_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Hash128, std::vector<uint64_t>> by_request_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace armgate
