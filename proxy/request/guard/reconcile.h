// reconcile.h – what a write should lead to, given all that it may have been built from and what is there now.
//
// Why here: what is there is read with the client's token, bodies are unpacked, and the history is told what the read has
// shown. The decision itself is proxy/policy/verdict.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/shown_entries.h"
#include "proxy/policy/verdict.h"
#include "proxy/request/read_again.h"
#include "proxy/request/write/write.h"

namespace armgate {

// Where what is there can be read, and the api-version that it shows then.
struct View {
  std::string_view target;
  std::string_view api_version;
};
// How to read the resource so that it can be compared: as the possible bases were read, newest first, each api-version once.
// Bases with the ETag of what is there need no comparing. If none is left: the write's own view. Valid as long as the write.
std::vector<View> views(const Write& write, std::string_view etag_there = {});

// What becomes of a write whose client may not read.
enum class Unreadable { TryLater, Returned };
inline Unreadable unreadable_for(const Write& write) {
  return write.plan.rule->guard.kind == rules::GuardKind::Auto ? Unreadable::Returned : Unreadable::TryLater;
}

// What is there, as the newest possible base was read (or at the write's own api-version, if an earlier sending of it may have
// been carried out), and at a few other api-versions if it takes that; or how the write ends because that is not to be known. A
// read in which an accepted write is missing is made again, within the client's queue timeout. With Returned: also an answer
// that says that the client may not read. Suspends.
Task<Step<SeenState>> read_current(const Write& write, std::string_view why_not, Unreadable unreadable);

// Bases that were read at other api-versions, and that no ETag proves to be what is there, can be compared only at those: reads
// what is there so, too. Each is one more GET under the lock.
Task<void> read_other_versions(const Write& write, SeenState& there);

// Whether a read, asked for at that order, lacks a write that was accepted before. It is made again then, after a pause.
bool lags(const Write& write, const SeenState& seen, uint64_t asked);
inline constexpr Duration kLagPause = std::chrono::seconds(1);

// Whether the write goes, now that this is there, and as what.
policy::Verdict reconcile(const Write& write, const SeenState& there);

// Makes the request what the verdict says: what its client asks for, or that merged with what is there.
void compose_body(const Write& write, policy::Verdict& verdict);
void send_as_asked(const Write& write);
void send_merged(const Write& write, std::string body, policy::SharedBody base);

// Order of the last moment at which the resource is known to have been gone: an ETag from before may have been given out anew,
// and a wait in the queue is long.
uint64_t last_absence(const Write& write);
uint64_t last_delete(const Write& write);  // of it or what contains it, by a DELETE that passed by

// Whether its client was told that it is gone, after all that these have written.
bool has_seen_it_gone(const Write& write, policy::Writers writers);

// Stands at the end of Report::guard then.
inline constexpr std::string_view kForced = ", forced";
// A write that was refused came again, nothing has moved since, and its client does not read: it goes, and the answer says so.
void note_forced(const Write& write);

// The end of a write that may not go. `found`: what is there; null: not known.
Outcome refused(const Write& write, std::string_view why, std::string_view reason, const policy::Verdict& verdict,
                const SeenState* found = nullptr);
// The same with ARM's own 412.
Outcome refused_by_arm(const Write& write, arm::Response answer, std::string_view reason, const SeenState* found = nullptr);

}  // namespace armgate
