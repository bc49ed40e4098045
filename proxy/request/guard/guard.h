// guard.h – decides whether a write goes, and what goes along as If-Match.
//
// Invariant  a Guarded is made here alone, from the lease of all of its keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "proxy/async/task.h"
#include "proxy/request/write/write.h"

namespace armgate {

// What armgate adds to a request: at most one of them, and neither to a request that has a precondition of its own.
struct Precondition {
  std::string if_match;         // empty: none
  bool must_be_absent = false;  // "If-None-Match: *"
  uint64_t known_since = 0;     // order at which the state that the write goes on was known to stand; 0: that of its bases
};

class Guarded {
 public:
  const Precondition& precondition() const { return precondition_; }
  WriteLease take_lease() && { return std::move(lease_); }
  uint64_t kept_as() const { return lease_.kept_as(); }
  bool is_to_be_sent() const { return !found_done_; }

 private:
  friend Task<Step<Guarded>> guard(const Write& write, WriteLease lease);
  friend class Intent;
  Guarded(WriteLease lease, Precondition precondition, std::optional<Outcome> found_done = {})
      : lease_(std::move(lease)), precondition_(std::move(precondition)), found_done_(std::move(found_done)) {}
  WriteLease lease_;
  Precondition precondition_;
  std::optional<Outcome> found_done_;  // an earlier sending of these bytes turned out to have taken effect
};

// Ended: Refused, Left or TryLater. Suspends where what is there has to be read.
Task<Step<Guarded>> guard(const Write& write, WriteLease lease);

}  // namespace armgate
