// resource_log.h – what is known about the writes of every resource, whoever made them.
//
// Why: three questions need an answer across clients. Did another write to this resource finish since these bytes first
// arrived (the blind rule, DESIGN §4)? Was it deleted since a version was delivered (a finished delete kills every client's
// versions of it and of all below)? Was this resource group created through armgate a moment ago (evidence that a 404 for it
// is a lag)?
//
// Invariants  forgetting is safe for versions (ARM's own 412 protects a guarded write); what is forgotten by the bound makes
//             the blind rule refuse, never send: see `horizon`.
// Threads     any.
// Limits      Options::resources_max; the least recently changed are forgotten.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "arm/resource_id.h"
#include "base/hash.h"
#include "base/time.h"
#include "proxy/async/mutex.h"

namespace armgate {

// Resources are named by the keyed hash of their canonical id.
class ResourceLog {
 public:
  struct Options {
    size_t resources_max = 1'000'000;
  };

  // A write as others must see it.
  struct Write {
    Hash128 bytes{};  // method, host, URL and body; not the client: the same bytes of another are no other write
    Hash128 client{};
    Hash128 origin{};                                 // of its binding and request id: all sendings of one write have the same
    enum class Of { Itself, Child } of = Of::Itself;  // Child: written below the resource, and on its key
    uint64_t accepted = 0;                            // order of ARM's 2xx
    uint64_t finished = 0;                            // order of its operation's end; 0 while it runs
  };

  ResourceLog(Options options, Hasher hasher);

  // ARM accepted a write.
  void accepted(const Hash128& resource, const Hash128& client, const Hash128& bytes, Moment when, const Hash128& origin = {},
                Write::Of of = Write::Of::Itself);
  // Its operation ended (for a synchronous write: at once).
  void finished(const Hash128& resource, const Hash128& bytes, Moment when);
  // A delete of the resource ended with success.
  void deleted(const Hash128& resource, const Hash128& client, Moment when);
  // A delete of the resource was accepted: that it was created is no evidence any more.
  void being_deleted(const Hash128& resource);
  // A create of the resource was answered 201 or 200 (kept for resource groups).
  void created(const Hash128& resource, Moment when);

  // Another write than `bytes` that finished after `since`; writes of `same_client` do not count if it is given.
  bool other_finished_since(const Hash128& resource, const Hash128& bytes, uint64_t since,
                            std::optional<Hash128> same_client) const;
  // The same for acceptance (a create is refused if somebody else's write was accepted since its 404).
  bool other_accepted_since(const Hash128& resource, const Hash128& bytes, uint64_t since,
                            std::optional<Hash128> same_client) const;

  // Whether anything was accepted since but the sendings of this one write: not even the same bytes of the same client, which
  // another of its actors may have sent.
  bool others_accepted_since(const Hash128& resource, const Hash128& client, const Hash128& origin, uint64_t since) const;

  // Whether a write to something below it was accepted since: its content is another then, and its ETag need not be.
  bool child_accepted_since(const Hash128& resource, uint64_t since) const;

  // The newest finished delete of the resource or of anything that contains it.
  struct Deletion {
    Moment when;       // order 0: never
    Hash128 client{};  // whose it was
  };
  Deletion last_delete(const arm::ResourceId& resource) const;

  // When it was created, if that was through armgate and it was not deleted since.
  std::optional<TimePoint> created_at(const Hash128& resource) const;

  size_t size() const;

 private:
  struct Entry {
    std::vector<Write> recent;     // the newest kRecentMax, oldest first
    uint64_t forgotten_until = 0;  // writes up to this order may be missing from `recent`
    Deletion deletion;
    std::optional<Moment> created;
    std::list<Hash128>::iterator age;
  };
  struct Shard {
    mutable Mutex mutex;
    absl::flat_hash_map<Hash128, Entry> entries ABSL_GUARDED_BY(mutex);
    std::list<Hash128> by_age ABSL_GUARDED_BY(mutex);  // least recently changed first
    uint64_t horizon ABSL_GUARDED_BY(mutex) = 0;       // entries forgotten by the bound knew nothing newer than this
  };
  static constexpr size_t kShards = 64;
  static constexpr size_t kRecentMax = 16;

  Entry& touch(Shard& shard, const Hash128& key) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  template <class Matches>
  bool any_since(const Hash128& resource, uint64_t since, Matches matches) const;
  Shard& shard_of(const Hash128& key) const { return shards_[key.high % kShards]; }

  const Options options_;
  const Hasher hasher_;
  mutable std::array<Shard, kShards> shards_;
  std::atomic<bool> any_deleted_{false};  // until then no request pays for looking through its ancestors
};

}  // namespace armgate
