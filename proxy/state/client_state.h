// client_state.h – what armgate keeps of one client beside what it was shown: the list pages that were delivered to it, until a
// write asks for one of their items, and its sending ledger.
//
// Why pages are kept as they came: a list has a thousand items and the client writes one of them, or none. A tool that polls a
// list is shown the same bytes again and again: they are kept, and read, once, beside when they were shown.
//
// Threads   any; one short mutex. Nothing is parsed or called out to under it.
// Limits    Options, and a budget of bytes that all clients share. Over either the client's pages that were shown least
//           recently are dropped first, and it is remembered that some were. Of one page the first showing is kept, and as many
//           of the latest as a history keeps of a client.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

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

// A list answer that is about to be written to a client.
struct ListAnswer {
  arm::ResourceId scope;  // id: what was listed; type: of the items
  std::string api_version;
  std::string request_id;
  uint64_t asked = 0;
  Moment shown;
  policy::SharedBody body;
};

// A page in which nobody has looked for items yet.
struct UnreadPage {
  uint64_t shown = 0;  // its name: order of its first showing
  policy::SharedBody body;
};

// What a page showed of one resource.
struct ShownItem {
  std::string api_version;
  std::string request_id;
  uint64_t asked = 0;
  Moment shown;
  policy::SharedBody page;  // in plain bytes
  PageIndex::Span span;
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
    // Time to forget pages of clients that have not been here for long, before those that are lose theirs.
    bool is_scarce() const { return page_bytes.load(std::memory_order_relaxed) > page_bytes_max - page_bytes_max / 8; }
    std::atomic<uint64_t> pages_evicted{0};
    std::atomic<uint64_t> clients_evicted{0};
  };

  // `pages_forgotten`: of clients that were forgotten, of which this may have been one.
  ClientState(const Options& options, SharedBudget& budget, uint64_t pages_forgotten = 0, Hash128 client = {})
      : options_(options), budget_(budget), sendings_(options.sendings, client), pages_forgotten_(pages_forgotten) {}
  ~ClientState();

  SendingLedger& sendings() { return sendings_; }

  // ---- list pages ----
  void record_page(ListAnswer page);
  // A page was shown that is not kept.
  void note_page_missed(uint64_t shown);
  // The connection that the page was written to was reset. Gives the resources whose history had been told already of that
  // showing.
  std::vector<Hash128> page_lost(uint64_t shown);
  // Those that may hold an item for the resource.
  std::vector<UnreadPage> unread_pages(const arm::ResourceId& resource) const;
  // The page has been read: from now on its items are found without reading it again.
  void index_page(uint64_t shown, policy::SharedBody plain, std::shared_ptr<const PageIndex> index);
  // What pages that were read showed of the resource and its history was not told of yet, in the order in which it was shown.
  std::vector<ShownItem> items_of(const arm::ResourceId& resource, const Hash128& key) const;
  // The history has been told of it now. True if the connection of that showing was reset meanwhile, or before.
  bool note_taken(uint64_t shown, const Hash128& key);
  // Pages that were shown up to this order may be missing.
  uint64_t pages_forgotten() const;
  // The same if all were forgotten.
  uint64_t pages_known() const;
  // Forgets the oldest, for other clients' sake, until all clients together have no more than `most` bytes.
  void drop_pages(size_t most);

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
  bool expire(TimePoint now) { return sendings_.expire(now); }

 private:
  static constexpr size_t kShowingsMax = 64;  // of one page

  struct Showing {
    std::string request_id;
    uint64_t asked = 0;
    Moment shown;
    bool lost = false;
    uint64_t number = 0;  // in the order in which they became known here
  };
  struct Page {
    arm::ResourceId scope;
    std::string api_version;
    policy::SharedBody body;   // as received
    policy::SharedBody plain;  // the same bytes, or decoded; null until a write needed it
    std::shared_ptr<const PageIndex> index;
    std::vector<Showing> showings;
    absl::flat_hash_map<Hash128, uint64_t> taken;  // resources whose history was told, and of all showings up to which number
    size_t list_hash = 0;
    size_t content_hash = 0;
    size_t bytes = 0;
  };
  using Iterator = std::list<Page>::iterator;
  using Iterators = absl::InlinedVector<Iterator, 1>;

  static size_t hash_of_list(std::string_view type, std::string_view scope);
  static size_t hash_of_content(const ListAnswer& page);
  std::optional<Iterator> find_same(const ListAnswer& page, size_t content_hash) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  template <class Action>
  void for_each_page_of(const arm::ResourceId& resource, Action action) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void add_showing(Page& page, ListAnswer& answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void count_bytes(Page& page) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void set_bytes(Page& page, size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void drop_oldest_page() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void keep_within_budget() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  SharedBudget& budget_;
  std::atomic<TimePoint> last_used_{TimePoint{}};
  SendingLedger sendings_;

  mutable Mutex mutex_;
  std::string label_ ABSL_GUARDED_BY(mutex_);
  std::list<Page> pages_ ABSL_GUARDED_BY(mutex_);                              // least recently shown, or read, first
  absl::flat_hash_map<size_t, Iterators> by_list_ ABSL_GUARDED_BY(mutex_);     // by hash_of_list()
  absl::flat_hash_map<size_t, Iterators> by_content_ ABSL_GUARDED_BY(mutex_);  // by hash_of_content()
  absl::flat_hash_map<uint64_t, Iterator> by_shown_ ABSL_GUARDED_BY(mutex_);   // by the orders of their showings
  uint64_t showings_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t page_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t pages_forgotten_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armgate
