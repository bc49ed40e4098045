// shown_entries.h – what a client was shown of a resource before a write of its own came, and what of that it may have in hand.
//
// Why: which states are possible bases (bases.cc) and whether a client has the right of one that has read again (right.cc) are
// two questions to the same observations. For these two alone. Pure; the pointers live as long as the history is not changed.
#pragma once

#include <cstdint>
#include <vector>

#include "proxy/policy/bases.h"

namespace armgate::policy {

// An observation and what it showed.
struct ShownEntry {
  const Observation* observation;
  const Entry* entry;
  bool late = false;  // perhaps shown after the write was built
};

// It may not have arrived, an accepted write is missing in it, or it was perhaps shown after the write was built: possible, but
// it replaces nothing.
bool is_pending(const ShownEntry& seen);

// Whether it is a read that the write may be built on: one that is known, however old it is, or else no older than
// observation_age.
bool is_read_to_build_on(const Observation& o, const History& history, const HistoryLimits& limits, const WriteFacts& write);

// What the client was shown before the write came, oldest first. Its own answers alone count for observation_age; what a client
// has read is what it builds on, however old that is.
struct ShownBefore {
  std::vector<ShownEntry> known;
  bool forgotten = false;                    // something of it is not known any more
  bool read_forgotten = false;               // and it is what the client has read last, perhaps: so many states came after it
  TimePoint forgotten_at{TimePoint::min()};  // when the last read that is not known any more was shown
};
ShownBefore shown_before(const History& history, const ClientRecord& record, const HistoryLimits& limits,
                         const WriteFacts& write);

// The states without what was replaced for the client so long ago that nobody builds on it any more, and what ARM has taken
// back; `born` as born_at() gives it. Preferred: without what came at other api-versions after the client's last read at the
// write's own.
enum class OwnVersion { Preferred, OneOfMany };
std::vector<ShownEntry> live_of(const std::vector<ShownEntry>& seen, const History& history, const HistoryLimits& limits,
                                const WriteFacts& write, Actors actors, uint64_t born,
                                OwnVersion own_version = OwnVersion::Preferred);

// Whether the client was shown it of an own write whose operation failed, has not read since, and nobody else has written: what
// is there is that, or what was there before.
bool may_be_taken_back(const ShownEntry& one, const History& history, const WriteFacts& write);

// A copy that outlives the history; `born` as above.
BaseState state_of(const ShownEntry& seen, const WriteFacts& write, uint64_t born);

// Order: what was known before lies before a deletion.
uint64_t born_at(const History& history, const WriteFacts& write);

// How many actors the client is taken for when the write comes.
Actors effective_actors(const ClientRecord& record, const WriteFacts& write);

// Of the same entry, at the same api-version.
bool is_same_state(const BaseState& a, const BaseState& b);

// Each state once, the newest first.
std::vector<BaseState> states_of(const std::vector<ShownEntry>& seen, const WriteFacts& write, uint64_t born);
// Marks the state that was shown last as the last read, if that read was under way while a write was accepted. Such a read may
// show the state before or after the write, so it supersedes nothing unless it turns out to be what is there. `shown`: oldest
// first.
void note_last_read(std::vector<BaseState>& states, const std::vector<ShownEntry>& shown);

// ---- its own writes: a client that goes on from what it has made itself reads nothing in between ----

// Since that state the client has written the resource, nobody else has, and the client was shown nothing but its own answers.
bool only_own_since(const History& history, const ClientRecord& record, const WriteFacts& write, uint64_t since);

// Whether all its writes since that state are of one actor, which is that of a write with this ETag in its body: the state was
// shown once, so it is in one actor's hands, and all of them carry its ETag. It goes on from the object that it read, and knows
// what it has made of it.
bool is_in_one_hand(const History& history, const ClientRecord& record, const WriteFacts& write, uint64_t since);

// Whether the client knew of the refusal when it sent the write.
bool was_told(const Refusal& r, const WriteFacts& write);
// The last refusal of this very write that its client knew of; null: it was told of none.
const Refusal* told_refusal_of(const ClientRecord& record, const WriteFacts& write);

// The client repeats what it was refused as stale, nobody has written since its own last write, and it has read nothing since
// then: there is nothing newer that it could lack. One that had read an older state reads again before it goes on.
bool repeats_refused(const History& history, const ClientRecord& record, const WriteFacts& write);

// Whether the client has read, after the end of everything that was written since that delete, that there is no such resource:
// also where such a read may only have lagged. Own: and nobody else has written since. Of several actors the read may be
// another's.
enum class Writers { Any, Own };
bool has_seen_it_gone(const History& history, const WriteFacts& write, uint64_t deleted, Writers writers);

}  // namespace armgate::policy
