// client_state.h – what armgate keeps of one client beside what it was shown: the list pages that were delivered to it, until a write
// asks for one of their items, and its sending ledger.
//
// Threads   any; one short mutex. Nothing is parsed or called out to under it.
// Limits    Options, and a budget of bytes that all clients share. Over either the client's oldest pages go first, which is remembered.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arm/resource_id.h"
#include "base/cache_line.h"
#include "base/hash.h"
#include "base/time.h"
#include "proxy/async/mutex.h"
#include "proxy/policy/history.h"
#include "proxy/state/sending_ledger.h"

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
  std::string request_id;
  uint64_t asked = 0;
  Moment shown;
  bool lost = false;
  policy::SharedBody body;
  std::shared_ptr<const PageIndex> index;  // null until a write needed it; then `body` is in plain bytes
  std::vector<Hash128> taken;              // resources whose item is in their history
};

class ClientState {
 public:
  struct Options {
    size_t page_bytes_max = 32u << 20;
    Duration observation_age = std::chrono::hours(12);
    SendingLedger::Options sendings;
  };

  // Bytes of kept pages over all clients, with their common bound.
  struct SharedBudget {
    alignas(kCacheLineBytes) std::atomic<size_t> page_bytes{0};
    alignas(kCacheLineBytes) size_t page_bytes_max = 512u << 20;
    std::atomic<uint64_t> pages_evicted{0};
    std::atomic<uint64_t> clients_evicted{0};
  };

  ClientState(const Options& options, SharedBudget& budget)
      : options_(options), budget_(budget), sendings_(options.sendings) {}
  ~ClientState();

  SendingLedger& sendings() { return sendings_; }

  // ---- list pages ----
  void record_page(KeptPage page);
  // The connection that the page was written to was reset.
  void page_lost(uint64_t shown);
  // Pages that may hold an item for the resource that is not in its history yet.
  std::vector<KeptPage> pages_for(const arm::ResourceId& resource, const Hash128& key) const;
  // The page has been read: from now on its items are found without reading it again.
  void index_page(uint64_t shown, policy::SharedBody plain, std::shared_ptr<const PageIndex> index);
  void note_taken(uint64_t shown, const Hash128& resource);
  // Pages that were shown up to this order may be missing.
  uint64_t pages_forgotten() const;

  struct Counts {
    size_t page_bytes = 0;
    size_t pages = 0;
    size_t sendings = 0;
  };
  Counts counts() const;

  // What people know it by.
  std::string label() const;
  void set_label(std::string_view label);

  TimePoint last_used() const { return last_used_.load(std::memory_order_relaxed); }
  void touch(TimePoint now) { last_used_.store(now, std::memory_order_relaxed); }
  // Whether something is still expected of the client. Forgets what is not any more.
  bool busy(TimePoint now) { return sendings_.expire(now); }

 private:
  void drop_oldest_page() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void add_bytes(size_t before, size_t after) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  KeptPage* find_page(uint64_t shown) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  SharedBudget& budget_;
  std::atomic<TimePoint> last_used_{TimePoint{}};
  SendingLedger sendings_;

  mutable Mutex mutex_;
  std::string label_ ABSL_GUARDED_BY(mutex_);
  std::list<KeptPage> pages_ ABSL_GUARDED_BY(mutex_);  // oldest first
  size_t page_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t pages_forgotten_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace armgate
