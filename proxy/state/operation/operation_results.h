// operation_results.h – how the operations of accepted writes have ended, and which resources are sick of it.
//
// Why: ARM takes a write, and fails it minutes later. A client that sends it again and again sees a success each time; only a
// party that sees all of them knows that the resource needs something else (docs/monitoring.md, "Sick resources"). So failures
// are counted by resource and error, each operation once.
//
// A resource is failing once Options::failures of its operations ended with the same error within Options::window, until one
// succeeds, it is deleted, or nobody has tried for so long (judge()). It is stuck if its provisioningState, as far as it was
// seen, has not been terminal for Options::stuck_after and no operation of it is known to run. In a cluster all that changes it
// goes through the log (set_sink()), so that every replica knows the same.
// Threads   any; one short mutex.
// Limits    Options; resources that are well make room first. Each keeps kFailuresKept failures.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/time.h"
#include "proxy/async/mutex.h"
#include "proxy/seams/store.h"
#include "proxy/state/aged_map.h"

namespace armgate {

class ResultSink;

class OperationResults {
 public:
  struct Options {
    size_t failures = 10;
    Duration window = std::chrono::minutes(15);
    Duration stuck_after = std::chrono::hours(1);
    size_t resources_max = 10'000;
    size_t kinds_max = 500;  // counts by type, result and code; all others are one
  };
  static constexpr size_t kFailuresKept = 100;
  static constexpr size_t kLastKept = 50;
  static constexpr size_t kFailedWritesKept = 10'000;

  OperationResults() : OperationResults(Options{}) {}
  explicit OperationResults(Options options) : options_(options) {}

  // From now on changes go there, and come back by the functions that end in _here.
  void set_sink(ResultSink* sink) { sink_ = sink; }

  // When, by both clocks.
  struct Time {
    TimePoint at{};
    WallTime wall{};
  };

  // The end of what an accepted write began.
  struct Ended {
    Hash128 resource{};
    std::string_view id;  // the resource's
    std::string_view type;
    std::string_view method;
    std::string_view client;
    Hash128 request_hash{};  // of the write
    const OperationResult& result;
    IntentId intent = 0;  // under which the write is recorded; 0: it is not
    IntentId first =
        0;  // its first sending's, if this was its last one (OwnedOperation::stands_for); 0: its client is told elsewhere
  };
  // True if the resource was seen at work, or failed, and whether it still is so is not known any more. Of a success `now` does
  // not matter.
  bool note(const Ended& ended, Time now);
  enum class Counted { Yes, No };  // No: by another process
  bool note_here(const Ended& ended, Time now, Counted counted);
  // The same of an earlier process, in the order of the ends; not counted in counts(). Its record is not asked for.
  void remember(const Ended& ended, Time then);

  // The resource was seen with this provisioningState. True if that is another than it had.
  bool note_state(const Hash128& resource, std::string_view id, std::string_view state, Time now);
  bool note_state_here(const Hash128& resource, std::string_view id, std::string_view state, Time now);
  bool is_known_as(const Hash128& resource, std::string_view state) const;
  // Whether a read of the resource may tell more: what is known of it is not well.
  bool is_watched(const Hash128& resource) const;
  std::optional<ResourceState> state_of(const Hash128& resource) const;

  struct Sick {
    enum class Why { Failing, Stuck };
    std::string resource;
    Why why = Why::Failing;
    arm::ErrorCodes error;  // Failing
    size_t failures = 0;    // Failing: within the window
    WallTime since;         // the first of them, or since when it is stuck
    WallTime last;          // Failing: the last of them
    std::string state;      // provisioningState; empty: not known
  };
  // By age. `runs` tells whether an operation of the resource is known to run.
  std::vector<Sick> sick(TimePoint now, const std::function<bool(const Hash128&)>& runs) const;

  // Whether a write of `bytes` should be sent. To a failing resource one goes in each `probe_every`; and so does, if the
  // resource is `Failed`, what is none of the writes that have failed: it may be what repairs it.
  enum class Goes { Yes, AsProbe, No };
  struct Judged {
    Goes goes = Goes::Yes;
    Sick sick{};  // unless Yes
  };
  // It stays sick for max(Options::window, 2 * probe_every) after its last failure or probe: refused writes are no failures,
  // and must not make it well.
  Judged judge(const Hash128& resource, const Hash128& bytes, Duration probe_every, TimePoint now);
  // A write that was judged at that order goes as the probe. False: another one has gone since. What goes through a sink is
  // taken for the first.
  bool probe(const Hash128& resource, uint64_t judged, Moment now);
  bool probe_here(const Hash128& resource, uint64_t judged, Moment now);

  // Since the start, by this process.
  struct Count {
    std::string type;
    arm::Progress how = arm::Progress::Unknown;
    std::string code;
    uint64_t count = 0;
  };
  std::vector<Count> counts() const;

  // How what that write began has failed, or was canceled; nothing: that is not known of it.
  std::optional<OperationResult> failure_of(IntentId write) const;

  // Failed and canceled operations, the newest first.
  struct Last {
    WallTime when;
    std::string resource;
    std::string method;
    std::string client;
    OperationResult result;
  };
  std::vector<Last> last() const;

 private:
  struct Failure {
    Time when;
    arm::ErrorCodes error;
    Hash128 request_hash{};
  };
  // Since it was sick, and until when unless more is heard.
  struct Failing {
    arm::ErrorCodes error;
    TimePoint from;  // of the failures that count
    TimePoint until;
  };
  struct Known {
    std::string id;
    std::deque<Failure> failures;                       // the oldest first
    std::optional<Failing> failing;                     // may be over
    std::string state;                                  // empty: not known
    arm::Progress progress = arm::Progress::Succeeded;  // what that says; of what is not known nothing bad
    Time state_since;
    Moment probed{0, TimePoint::min()};

    bool is_well() const { return failures.empty() && progress == arm::Progress::Succeeded; }
    bool is_at_work() const { return !arm::is_terminal(progress); }
    void set_state(std::string_view seen);
  };
  struct Kind {
    std::string type;
    std::string code;
    arm::Progress how = arm::Progress::Unknown;
  };
  struct KindView {
    std::string_view type;
    std::string_view code;
    arm::Progress how;
    KindView(std::string_view of, std::string_view with, arm::Progress ended) : type(of), code(with), how(ended) {}
    KindView(const Kind& kind) : type(kind.type), code(kind.code), how(kind.how) {}  // NOLINT: implicit by design
    bool operator==(const KindView&) const = default;
  };
  struct KindHash {
    using is_transparent = void;
    size_t operator()(const KindView& kind) const;
  };
  struct KindEqual {
    using is_transparent = void;
    bool operator()(const KindView& a, const KindView& b) const { return a == b; }
  };

  void keep_failed(const Ended& ended, WallTime when) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void count(const Ended& ended) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Known* find_or_add(const Hash128& resource, std::string_view id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool learn(const Ended& ended) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void add_failure(Known& known, const Ended& ended, Time when) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void judge_failing(Known& known, TimePoint now) const;
  static std::optional<Sick> failing(const Known& known, TimePoint now);

  const Options options_;
  ResultSink* sink_ = nullptr;
  mutable Mutex mutex_;
  absl::flat_hash_map<Hash128, Known> known_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Kind, uint64_t, KindHash, KindEqual> counts_ ABSL_GUARDED_BY(mutex_);
  std::deque<Last> last_ ABSL_GUARDED_BY(mutex_);
  AgedMap<IntentId, OperationResult> failed_writes_ ABSL_GUARDED_BY(mutex_);
  std::atomic<size_t> unwell_{0};  // resources in known_ that are not well
};

// Tells all replicas of a cluster what changes the table, in place of its being changed at once (proxy/cluster).
class ResultSink {
 public:
  virtual ~ResultSink() = default;
  virtual void tell_result(const OperationResults::Ended& ended, OperationResults::Time when) = 0;
  virtual void tell_state(const Hash128& resource, std::string_view id, std::string_view state, WallTime when) = 0;
  virtual void tell_probe(const Hash128& resource, uint64_t judged) = 0;
};

}  // namespace armgate
