// told_bodies.h – the bodies that stand in the log, known by hashes: who shows one of them again tells no more than its hash.
//
// Why: whoever polls is shown the same again and again, and each time the whole of it would go into the log.
//
// Invariants
//   1. A hash stands for exactly these bytes and what is kept with them, or for nothing: never for another body.
//   2. Only what stands earlier in the log, or in the same row, is told by its hash, and for kToldByHashMax after it was told as a whole:
//      rows stay longer than what was shown counts by at least twice that, so that who begins later has both, or needs neither.
//   3. No body is kept for this: one that no table keeps any more is told as a whole again. Who let go of one that others still have
//      knows of a state for a while what those know of all beyond their budgets: its ETag alone.
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
  policy::SharedBody note(policy::SharedBody body, TimePoint told);
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
