// told_bodies.h – the bodies that stand in the log, known by hashes: a replica that shows one of them again tells only its
// hash.
//
// Why: a client that polls is shown the same body again and again, and each time all of it would go into the log.
//
// Invariants
//   1. A hash stands for exactly these bytes and what is kept with them, or for nothing: never for another body.
//   2. A body is told by its hash only if the whole body stands earlier in the log or in the same row, and only for
//      kToldByHashMax after that. Rows are kept longer than what was shown counts, by at least twice kToldByHashMax. So a
//      replica that begins later has both rows or needs neither.
//   3. No body is kept for this: one that no table keeps any more is told as a whole again. A replica that has dropped a body
//      which others still keep knows only the ETag of that state for a while, as every replica does of states beyond its
//      budget.
// Threads   the log's alone.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <memory>

#include "base/hash.h"
#include "base/time.h"
#include "proxy/policy/history.h"

namespace armgate::cluster {

class ToldBodies {
 public:
  // Smaller ones than `least` bytes are told as a whole.
  ToldBodies(HashKey key, size_t least) : hasher_(key), least_(least) {}

  bool is_worth_it(const policy::SharedBody& body) const { return body && body->bytes.size() >= least_; }
  Hash128 hash_of(const policy::KeptBody& body) const;

  // It stands in the log as a whole, from then on. Gives the one to keep: the same bytes are one body.
  policy::SharedBody remember(policy::SharedBody body, TimePoint told);
  // Whether the hash may stand for it in the next row.
  bool is_told(const Hash128& hash, TimePoint now) const;
  // Null: it is not known here.
  policy::SharedBody find(const Hash128& hash) const;

  size_t size() const { return told_.size(); }

 private:
  static constexpr size_t kFirstSweep = 1'024;
  struct One {
    std::weak_ptr<const policy::KeptBody> body;
    TimePoint told{};
  };
  void sweep();

  const Hasher hasher_;
  const size_t least_;
  absl::flat_hash_map<Hash128, One> told_;
  size_t sweep_at_ = kFirstSweep;
};

}  // namespace armgate::cluster
