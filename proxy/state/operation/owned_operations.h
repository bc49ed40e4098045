// owned_operations.h – writes whose clients poll an operation URL of armgate's own (docs/decisions/0016).
//
// Why: a write that is sent again after its operation has failed has an operation URL for each sending. Its client was given
// one of armgate's, which stands for the newest, and what is in between is told as "InProgress".
//
// Invariants
//   1. What an operation is told about a sending that is not its newest changes nothing.
//   2. The body and the tokens are gone as soon as the write will not go again (promise P8, docs/design.md).
// Threads   any.
// Limits    Options; of what is over the oldest is forgotten first.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "arm/http.h"
#include "arm/long_running.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/time.h"
#include "proxy/async/mutex.h"
#include "proxy/policy/bases.h"
#include "proxy/seams/store.h"
#include "proxy/state/aged_map.h"
#include "rules/file/error_table.h"
#include "rules/rule.h"

namespace armgate::policy {
struct LateFailure;
}  // namespace armgate::policy

namespace armgate {

// A part of what all kept bodies may take; given back at its end.
class KeptBytes {
 public:
  KeptBytes(std::shared_ptr<std::atomic<size_t>> total, size_t bytes) : total_(std::move(total)), bytes_(bytes) {}
  KeptBytes(const KeptBytes&) = delete;
  KeptBytes& operator=(const KeptBytes&) = delete;
  ~KeptBytes() { total_->fetch_sub(bytes_, std::memory_order_relaxed); }

 private:
  const std::shared_ptr<std::atomic<size_t>> total_;
  const size_t bytes_;
};

// What it takes to send a write again; never changed.
struct SendAgain {
  arm::Request request;               // as its client sent it, without its token
  JournaledWrite record;              // what the journal says of each sending
  policy::BaseState base;             // what it was built from
  std::string read_target;            // where that is read
  Hash128 principal{};                // of its client
  Hash128 write_key{};                // the same for all its sendings (write_key_of)
  policy::SharedBody requested_body;  // its body
  bool knows_merges = false;          // its client does, of what was merged into its earlier writes
  bool carries_etag = false;          // If-Match may go along
  bool creates_only = false;          // it may not replace anything
  TimePoint taken{};                  // when ARM took the first sending
  std::unique_ptr<KeptBytes> share{};
};

class OwnedOperation {
 public:
  enum class Phase {
    Follows,  // ARM's operation is what there is to tell
    Again,    // that has failed, and the write is to go again
    Over,     // nothing will change any more
  };

  struct Known {
    Phase phase = Phase::Follows;
    IntentId newest = 0;            // the sending that it stands for
    arm::Tracking tracking;         // of that
    OperationResult result;         // Over
    bool in_doubt = false;          // whether the newest sending was taken is not known: nothing of ARM's tells how it ended
    bool is_led_elsewhere = false;  // in a cluster: another replica may send it again
  };

  // `target`: the write's own.
  OwnedOperation(const Hash128& id, std::string host, std::string target, IntentId first, arm::Tracking tracking,
                 std::shared_ptr<const SendAgain> again);

  const Hash128& id() const { return id_; }
  const std::string& host() const { return host_; }
  const std::string& target() const { return target_; }
  Known snapshot() const;
  // The first sending, under which its client knows the write, if that one is the newest; 0: it is not, and its end is not the
  // write's.
  IntentId stands_for(IntentId sending) const;

  // ---- its client ----
  // Somebody polls. Only a token of the write's principal is kept.
  void note_poll(const Hash128& principal, std::string_view authorization, TimePoint now);
  // The same through another replica, which keeps the token. False: nothing is kept of it here.
  bool note_poll_elsewhere(const Hash128& principal, TimePoint now);
  // The token that its write came with serves as long as no poll brings another.
  void keep_token(std::string_view authorization);
  // The newest token of a poll, if there was one since; empty: there is none, or ARM does not take it any more.
  std::string token(TimePoint since) const;
  void distrust(std::string_view authorization);
  TimePoint last_poll() const;

  // ---- its operations ----
  // With what the newest sending's operation failed.
  void note_failure(IntentId sending, const policy::LateFailure& failure);
  // That operation has ended as failed or canceled. Gives when the write goes again (the same for each call); nothing: never.
  // What was canceled goes only if a later write took its place: else somebody wanted it to end.
  std::optional<TimePoint> fail(IntentId sending, arm::Progress how, const rules::LateRetry& rule, TimePoint now, Rng& rng);
  // ARM refused the next sending for the moment: when it goes again; nothing: never.
  std::optional<TimePoint> refuse(const policy::LateFailure& failure, const rules::LateRetry& rule, TimePoint now, Rng& rng);
  std::optional<TimePoint> due() const;            // when it goes again; nothing: it is not to
  std::shared_ptr<const SendAgain> again() const;  // null: it will not go again
  // It goes.
  void note_sending();
  int sendings() const;
  // ARM took it, or may have.
  void follow(IntentId sending, arm::Tracking tracking);
  void doubt(IntentId sending);
  // It will not go again; what its operation was told as stands.
  void give_up();
  // In a cluster: whether another replica may send it again.
  void lead_elsewhere(bool is_led);
  void end(IntentId sending, const OperationResult& result);

 private:
  std::optional<TimePoint> schedule(const policy::LateFailure& failure, const rules::LateRetry& rule, TimePoint now, Rng& rng)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void forget_what_is_kept() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Hash128 id_;
  const std::string host_;
  const std::string target_;
  const IntentId first_;
  mutable Mutex mutex_;
  Known known_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const SendAgain> again_ ABSL_GUARDED_BY(mutex_);
  int sendings_ ABSL_GUARDED_BY(mutex_) = 1;
  int superseded_ ABSL_GUARDED_BY(mutex_) = 0;                                      // times
  rules::ErrorClass failed_as_ ABSL_GUARDED_BY(mutex_) = rules::ErrorClass::Final;  // the newest sending's operation
  std::optional<Duration> come_back_ ABSL_GUARDED_BY(mutex_);
  std::optional<TimePoint> due_ ABSL_GUARDED_BY(mutex_);
  std::string token_ ABSL_GUARDED_BY(mutex_);
  TimePoint last_poll_ ABSL_GUARDED_BY(mutex_){};
};

// Where what other replicas must know of them is told.
class OwnedSink {
 public:
  virtual ~OwnedSink() = default;
  virtual void tell_owned_poll(const Hash128& operation, const Hash128& principal) = 0;
  virtual void tell_owned_left(const Hash128& operation) = 0;
};

class OwnedOperations {
 public:
  struct Options {
    size_t operations_max = 10'000;
    size_t bytes_max = 32u << 20;
  };
  OwnedOperations() : OwnedOperations(Options{}) {}
  explicit OwnedOperations(Options options) : options_(options) {}

  // A share for a body of this size; null: all are given away.
  std::unique_ptr<KeptBytes> keep(size_t bytes);

  // False if there are too many that are not over.
  bool add(const std::shared_ptr<OwnedOperation>& operation);
  std::shared_ptr<OwnedOperation> find(const Hash128& id) const;  // null: unknown

  // In a cluster: from now on the others are told there.
  void set_sink(OwnedSink* sink) { sink_ = sink; }
  // Somebody polls.
  void note_poll(OwnedOperation& operation, const Hash128& principal, std::string_view authorization, TimePoint now) const;
  // It will not go again.
  void tell_left(const OwnedOperation& operation) const;

  bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }
  size_t bytes() const { return bytes_->load(std::memory_order_relaxed); }

 private:
  const Options options_;
  OwnedSink* sink_ = nullptr;
  const std::shared_ptr<std::atomic<size_t>> bytes_ = std::make_shared<std::atomic<size_t>>(0);
  std::atomic<size_t> count_{0};
  mutable Mutex mutex_;
  AgedMap<Hash128, std::shared_ptr<OwnedOperation>> all_ ABSL_GUARDED_BY(mutex_);  // by when they began
};

}  // namespace armgate
