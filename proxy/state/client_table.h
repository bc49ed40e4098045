// client_table.h – the clients, by their keyed hash.
//
// Threads   any. A ClientState stays alive as long as somebody holds it, also after it was forgotten here.
// Limits    clients_max; over it the least recently used idle one is forgotten, but not that it may have been shown lists.
//           Where list pages take too many bytes, the client that has been idle for longest loses its pages first. What is left
//           of a client that never comes back is removed within minutes, as long as any client comes.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>

#include "base/hash.h"
#include "base/time.h"
#include "proxy/async/mutex.h"
#include "proxy/state/aged_map.h"
#include "proxy/state/client_state.h"

namespace armgate {

class ClientTable {
 public:
  struct Options {
    size_t clients_max = 10'000;
    size_t page_bytes_max = 512u << 20;  // kept list pages over all clients
    ClientState::Options client;
  };
  explicit ClientTable(const Options& options) : options_(options) { budget_.page_bytes_max = options.page_bytes_max; }

  std::shared_ptr<ClientState> find_or_add(const Hash128& client, TimePoint now);
  std::shared_ptr<ClientState> find(const Hash128& client) const;
  const ClientState::SharedBudget& budget() const { return budget_; }
  size_t size() const;

 private:
  struct Shard {
    mutable Mutex mutex;
    AgedMap<Hash128, std::shared_ptr<ClientState>> clients ABSL_GUARDED_BY(mutex);
    uint64_t pages_forgotten ABSL_GUARDED_BY(mutex) = 0;  // of those that were forgotten
    uint64_t first_sending ABSL_GUARDED_BY(mutex) =
        0;  // of whoever comes: histories still know those of the forgotten by number
  };
  static constexpr size_t kShards = 16;
  static constexpr Duration kLookEvery = std::chrono::seconds(4);  // at the next shard: at all of them each minute
  void make_room(Shard& shard, TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  void take_pages_from_idle();
  void expire_some(TimePoint now);

  const Options options_;
  ClientState::SharedBudget budget_;
  std::array<Shard, kShards> shards_;
  std::atomic<bool> is_taking_pages_{false};
  std::atomic<TimePoint> next_look_{TimePoint{}};
  std::atomic<size_t> looks_{0};
};

}  // namespace armgate
