// client_state.h – everything armgate remembers about one client (DESIGN §3).
//
// Views of resources, kept list pages, bindings of bytes to bases, refusals, and writes in doubt. What it says is decided by
// proxy/policy; this class adds the mutex, the bounds and the order of things.
//
// Threads   any; one short mutex. No method suspends, parses JSON or calls out with the mutex held.
// Limits    Options. Over the budget kept bodies go first (least recently used resource first), then whole views; both are
//           counted.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/resource_id.h"
#include "base/cache_line.h"
#include "base/hash.h"
#include "base/time.h"
#include "proxy/async/mutex.h"
#include "proxy/policy/base.h"
#include "proxy/policy/view.h"
#include "proxy/state/bindings.h"
#include "proxy/state/unanswered.h"

namespace armgate {

// Where the items of a page stand in its body, by the keyed hash of their canonical ids.
struct PageIndex {
  struct Span {
    size_t offset = 0;
    size_t size = 0;
  };
  absl::flat_hash_map<Hash128, Span> items;
};

// A list answer that was delivered, indexed when a write needs it.
struct KeptPage {
  arm::ResourceId scope;  // id: what was listed; type: of the items
  std::string api_version;
  policy::Delivery delivery;
  std::shared_ptr<const policy::KeptBody> body;
  std::shared_ptr<const PageIndex> index;  // null until a write needed it; then `body` is in plain bytes
  std::vector<Hash128> taken;              // resources whose item has become a version
};

// A write of the client as it arrives.
struct ArrivingWrite {
  Hash128 resource{};
  Hash128 bytes{};      // method, URL and body
  bool begins = false;  // unless it is a re-send it is under way from the choice of its base on, until end_write()
  policy::WriteFacts facts;
};

// The outcome of bind(): the base, and what earlier arrivals of the same bytes left behind.
struct Bound {
  uint64_t binding = 0;
  policy::Base base;
  Moment first_arrival;
  bool resend = false;
  std::optional<uint64_t> under_way{};  // for end_write()
  int visibility_tries = 0;
};

class ClientState {
 public:
  struct Options {
    size_t views_max = 100'000;
    size_t body_bytes_max = 32u << 20;
    size_t pages_max = 64;
    size_t refusals_max = 10'000;
    Duration observation_age = std::chrono::hours(12);
    Duration in_doubt_max = std::chrono::minutes(5);
    policy::BaseLimits base;
    Bindings::Options bindings;
    UnansweredWrites::Options unanswered;
  };

  // Bytes of kept bodies over all clients, with their common bound.
  struct SharedBudget {
    alignas(kCacheLineBytes) std::atomic<size_t> body_bytes{0};
    alignas(kCacheLineBytes) size_t body_bytes_max = 512u << 20;
    std::atomic<uint64_t> views_evicted{0};
    std::atomic<uint64_t> bodies_evicted{0};  // of views, and whole pages
    std::atomic<uint64_t> clients_evicted{0};
  };

  ClientState(const Options& options, SharedBudget& budget);
  ~ClientState();

  // ---- what was delivered ----

  // The versions of a resource, for comparing bodies outside the mutex; nothing if there are fewer than `at_least`.
  std::vector<policy::Version> versions(const Hash128& resource, size_t at_least = 1) const;
  // The version that was delivered with this ETag, without copying anything; 0: none.
  uint64_t version_with_etag(const Hash128& resource, std::string_view etag) const;
  uint64_t record(const Hash128& resource, policy::Observation observation, std::optional<uint64_t> same_as);
  // The resource was deleted at `order`, see policy::View::bury().
  void bury(const Hash128& resource, uint64_t order);
  void record_absent(const Hash128& resource, policy::Delivery delivery);
  void record_page(KeptPage page);
  void record_not_modified(const Hash128& resource, std::string_view etag, std::string_view api_version,
                           policy::Delivery delivery);
  void confirm(const Hash128& resource, uint64_t order);
  void confirm_page(uint64_t order);

  // Pages that may hold an item for the resource and whose item is not among its versions yet.
  std::vector<KeptPage> pages_for(const arm::ResourceId& resource, const Hash128& key) const;
  // The page delivered at `order` has been read: from now on its items are found without reading it again.
  void index_page(uint64_t order, std::shared_ptr<const policy::KeptBody> plain, std::shared_ptr<const PageIndex> index);

  // ---- which state a write was built from ----

  Bound bind(const ArrivingWrite& write, const policy::Liveness& liveness);
  // An earlier process had sent these bytes with this base: when they come again, that is a re-send of what may have been applied.
  // Gives the number of their binding.
  uint64_t expect_again(const Hash128& bytes, std::string_view request_id, policy::Base base, Moment when);
  // One more exchange answers for a binding: its client sent the bytes again and gets the answer of their first sending.
  void join_binding(uint64_t binding);
  void note_maybe_applied(uint64_t binding);
  void note_visibility_try(uint64_t binding);
  // Whether an attempt of these bytes may have taken effect by now, also one of an earlier request.
  bool maybe_applied(uint64_t binding) const;
  // How the exchange's answer went; see BindingPhase. `Written` becomes final by confirm_written().
  void leave(uint64_t binding, BindingPhase phase, TimePoint now);
  // The connection broke after the final answer was written.
  void note_undelivered(uint64_t binding, TimePoint now);
  // The final answer arrived. With `refused`, the same bytes count as a new intention from `when` on.
  enum class Final { Plain, Refused };
  void confirm_written(uint64_t binding, Final final, Moment when);

  // The bytes of a binding were accepted. Once for all of their sendings.
  void consume(const Hash128& resource, const Bound& bound, const policy::Builder& write);
  void refuse(const Hash128& resource, const policy::Base& base);

  // ---- overlapping writes (rules 3 and 7) ----

  uint64_t begin_write(const Hash128& resource, std::string_view request_id, TimePoint now);
  void end_write(const Hash128& resource, uint64_t write);

  // ---- in doubt (DESIGN §6) ----

  void note_in_doubt(const Hash128& bytes, std::string_view request_id, const Hash128& resource, Moment when);
  enum class Doubt { None, InDoubt, Expired };
  // A read of the resource that was asked for after the doubt arose is delivered: its client knows the state now. Not so whoever
  // sends the very same request again, by its id: it never saw that read, another actor of the same name did.
  void resolve_doubts(const Hash128& resource, Moment asked);
  bool has_doubts() const;
  // Whether these bytes are a re-send of a write whose outcome is unknown. Expired is told once.
  Doubt doubt_of(const Hash128& bytes, std::string_view request_id, TimePoint now);

  // ---- answers that have not arrived ----

  UnansweredWrites& unanswered() { return unanswered_; }

  // What is kept, against the bounds of Options.
  struct Counts {
    size_t views = 0;
    size_t body_bytes = 0;
    size_t pages = 0;
    size_t bindings = 0;
    size_t refusals = 0;
    size_t doubts = 0;
  };
  Counts counts() const;

  TimePoint last_used() const { return last_used_.load(std::memory_order_relaxed); }
  void touch(TimePoint now) { last_used_.store(now, std::memory_order_relaxed); }
  // Whether something is still expected of the client. Forgets what is not any more.
  bool busy(TimePoint now);

 private:
  struct Slot {
    policy::View view;
    struct Active {
      uint64_t write;
      std::string request_id;
    };
    std::vector<Active> active;
    std::list<Hash128>::iterator age;
  };
  struct Refusal {
    Moment delivered;
    TimePoint first{};
    std::string request_id;
  };
  struct Doubtful {
    std::string request_id;
    Hash128 resource{};
    Moment since;
    bool is_settled = false;  // by a read, for all but who sends the same request again by its own word
  };

  Slot& slot(const Hash128& resource) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The write that arrives now overlaps with those that are under way, and already counts as such for its own base.
  uint64_t begin_write(Slot& place, std::string_view request_id, TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void note_overlap(Slot& place, std::string_view request_id, TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void adjust_bytes(size_t before, size_t after) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void keep_within_budget(const Hash128& keep) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void drop_oldest_page() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  SharedBudget& budget_;
  std::atomic<TimePoint> last_used_{TimePoint{}};
  UnansweredWrites unanswered_;

  mutable Mutex mutex_;
  absl::flat_hash_map<Hash128, std::unique_ptr<Slot>> slots_ ABSL_GUARDED_BY(mutex_);
  std::list<Hash128> by_age_ ABSL_GUARDED_BY(mutex_);  // least recently used first
  std::list<KeptPage> pages_ ABSL_GUARDED_BY(mutex_);  // oldest first
  size_t body_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  Bindings bindings_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Hash128, Refusal> refusals_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Hash128, Doubtful> doubts_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_write_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace armgate
