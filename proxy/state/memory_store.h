// memory_store.h – the Store that keeps its records in memory: no promise survives the process.
//
// Ended writes stay until their slot is needed. They hold only what `armgate history` shows, in few cache lines: every write
// pays for it. They do not keep bodies alive: the changed members of the last ones can be named as long as the histories have
// their bodies.
// Threads   any; each has a shard, because every write comes by twice.
// Limits    Options, in each shard; the oldest go.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cache_line.h"
#include "proxy/async/mutex.h"
#include "proxy/seams/store.h"

namespace armgate {

enum class WhichWrites : uint8_t;  // proxy/seams/which_writes.h

class MemoryStore final : public Store {
 public:
  struct Options {
    size_t open_max = 10'000;  // that may be at ARM, or whose operations may run
    size_t kept = 0;           // with those that have ended; 0: nobody asks for them
    size_t changes = 0;        // of these, of how many it is told what they asked for
  };
  MemoryStore() : MemoryStore(Options{}) {}
  explicit MemoryStore(Options options) : options_(options) {}

  Task<Result<IntentId>> record_intent(const IntentRecord& record) override;
  void record_outcome(IntentId id, const WriteOutcome& outcome) override;
  void record_end(IntentId id, WallTime when, EndSeen seen, const OperationResult& result) override;
  void record_replay(IntentId id) override;
  void record_state(const ResourceState&) override {}

  std::vector<Unfinished> unfinished() const override;
  size_t unfinished_count() const override;

  // A write as it is remembered, and what is left of what it asked for.
  struct Remembered {
    JournaledWrite write;
    AskedChange change;  // unless its members are named
  };
  // The newest `most` of those that are asked for, the newest first; with `resource` (a canonical id) only its own and those
  // below it.
  std::vector<Remembered> newest(size_t most, std::string_view resource, WhichWrites which = WhichWrites{}) const;

  // record_intent() for whoever cannot await.
  void keep(const IntentRecord& record);
  // The members that a write changed, where they were named elsewhere (JournaledWrite::touched).
  void keep_touched(IntentId id, std::string touched);

  // For a store that keeps more than this one: what is under way, and that it is no more.
  void begin(IntentId id, std::string_view method, std::string_view resource, std::string_view client);
  void forget(IntentId id);

 private:
  // The texts of a write, one behind the other.
  enum Text : size_t { kResource, kMethod, kClient, kTool, kHost, kPath, kApiVersion, kTexts };
  struct Ending {  // of one that did not simply succeed with its answer
    arm::Tracking tracking;
    arm::ErrorCodes error;
  };
  struct Slot {
    IntentId id = 0;
    WallTime begun{};
    WallTime known{};
    WallTime ended{};
    std::string texts;
    std::array<uint16_t, kTexts> lengths{};
    OutcomeKind kind = OutcomeKind::Answered;
    arm::Progress how = arm::Progress::Unknown;
    int status = 0;
    uint32_t merged = 0;
    uint32_t replays = 0;
    bool is_open = false;
    bool has_outcome = false;
    bool is_running = false;
    bool has_ended = false;
    bool given_up = false;
    std::unique_ptr<Ending> ending;

    void set(const std::array<std::string_view, kTexts>& given);
    std::string_view text(Text which) const;
    JournaledWrite write() const;
  };
  struct Change {
    IntentId id = 0;
    std::weak_ptr<const policy::KeptBody> before;
    std::weak_ptr<const policy::KeptBody> requested_body;
    AskedChange rest;                      // without these
    std::optional<std::string> touched{};  // in place of them
  };
  struct alignas(kCacheLineBytes) Shard {
    mutable Mutex mutex;
    std::vector<Slot> slots ABSL_GUARDED_BY(mutex);
    size_t next ABSL_GUARDED_BY(mutex) = 0;  // the one to be used again
    absl::flat_hash_map<IntentId, size_t> open ABSL_GUARDED_BY(mutex);
    std::vector<Change> changes ABSL_GUARDED_BY(mutex);
    size_t next_change ABSL_GUARDED_BY(mutex) = 0;
  };
  static constexpr size_t kShards = 32;
  Slot& place_for(Shard& shard, IntentId id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  Change* place_for_change(Shard& shard) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  void keep_change(Shard& shard, IntentId id, const AskedChange& change) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  // `change` gets the slot of a write that is open, and says whether it still is.
  template <class Apply>
  void change(IntentId id, const Apply& apply);

  const Options options_;
  std::array<Shard, kShards> shards_;
};

}  // namespace armgate
