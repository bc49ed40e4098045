// settle.h – what becomes known to everybody when ARM has taken a write.
#pragma once

#include <memory>
#include <string_view>

#include "proxy/stages/write.h"
#include "proxy/state/hold_table.h"

namespace armgate {

// It may be met again by its own re-send; a delete has begun.
void note_accepted(const Write& write);

// What a write gives to its hold.
struct ToHold {
  WriteLease lease{};
  std::string_view authorization{};  // copied if there is a hold
  IntentId intent = 0;
};

// Opens the hold of a write that was accepted, or may have been: from now on it counts on all its keys, until its end is known.
// Null if the answer was its end: then it is finished, and the lease is free.
std::shared_ptr<Hold> hold_write(const Write& write, const Outcome& outcome, ToHold given, Moment now);

}  // namespace armgate
