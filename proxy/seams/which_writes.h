// which_writes.h – which records of writes somebody asks for: all, or what may have changed a resource.
//
// Why: who asks for the last N gets N of what was asked for, so a store leaves out the others before it counts.
// Threads   any.
#pragma once

#include <cstdint>
#include <string_view>

#include "arm/http.h"
#include "proxy/seams/store.h"

namespace armgate {

enum class WhichWrites : uint8_t {
  All,             // the default: to the resource and what is below it
  MayHaveWritten,  // to the resource itself, but for what did not take effect, as far as is known
};

// ARM answered, did not take it, and nothing of it may run.
inline bool is_refused(const JournaledWrite& write) {
  const auto& outcome = write.outcome;
  if (write.given_up || write.is_open() || !outcome || outcome->kind != OutcomeKind::Answered) return false;
  return !arm::is_success(outcome->status) && outcome->tracking.by == arm::TrackedBy::Nothing;
}

inline bool may_have_written(const JournaledWrite& write) {
  const bool not_sent = !write.given_up && write.outcome && write.outcome->kind == OutcomeKind::NotSent;
  return !not_sent && !is_refused(write);
}

// `write` is to `resource` (a canonical id; empty: any) or to what is below it.
inline bool is_asked_for(WhichWrites which, const JournaledWrite& write, std::string_view resource) {
  if (which == WhichWrites::All) return true;
  return (resource.empty() || write.resource == resource) && may_have_written(write);
}

}  // namespace armgate
