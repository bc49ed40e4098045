// right.h – what a refusal gives its client: the right to be sent once it has read again, and when reading is of no use to it.
//
// Why: a refusal must have a way out (docs/design.md, law L3). Pure: questions to a History, answered with copies that outlive
// it.
#pragma once

#include <optional>
#include <vector>

#include "base/hash.h"
#include "proxy/policy/bases.h"

namespace armgate::policy {

// The right of a client that has read again since it was refused: its write counts as built on what it read last, if no other
// content was there since then. Content that was there before and is back does not do.
struct Right {
  bool may_send = false;              // it has one
  BaseState last_read;                // and this is the state
  std::vector<BaseState> newer;       // what became known after it
  bool written_since = false;         // others may have, here or below, after it was asked for
  std::vector<BaseState> superseded;  // against which its write may look stale
  std::vector<Refusal> same_change;   // refusals that came after such a read already
};

// `rule`: of the write's bases. A command that names the reads it was built from has the right by its own reads only. An old
// ETag in a body does not count against it: exported files keep theirs, and their clients could never get through.
Right right_of(const History& history, const HistoryLimits& limits, const WriteFacts& write, BaseRule rule);

// Whether the client sends again what was refused to it and nothing has happened since: it does not read, and means it.
bool is_forced(const History& history, const HistoryLimits& limits, const WriteFacts& write);

// The last refusal of a client that was refused, read again, was refused again and has read once more, while no write was
// accepted: what moves between its reads and its writes moves by itself, and no further read would be of any use. But a name
// may be several actors, so the write has to try the same (tries_the_same()).
std::optional<Refusal> refused_in_vain(const History& history, const WriteFacts& write, BaseRule rule);

}  // namespace armgate::policy
