// progress.h – how far a run has come, as its journal tells.
//
// Why: a run that ended in the middle is taken up again by looking at the cluster, never by assuming. What the journal adds is
// what no look can show: what the pool was like, what was sent, and what an answer was.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "cli/heal/facts/cluster.h"

namespace armgate::heal {

// Discard: a stand-in that came to nothing is deleted, to be made again.
enum class Phase { Guards, Abort, Recheck, StandIn, Discard, Drain, Delete, Recreate, Remove, Mark, Check, Undo };
inline constexpr size_t kPhases = 12;
std::string_view to_text(Phase phase);

// For people: "20", "0.05".
std::string minutes_text(Duration duration);

// What was kept of the pool before anything was touched.
struct Snapshot {
  std::string pool_id;   // of the pool; a snapshot of another one is refused
  std::string etag;      // empty: none was shown
  std::string again;     // PoolBodies::again
  std::string stand_in;  // PoolBodies::stand_in
};
std::string to_text(const Snapshot& snapshot);
Result<Snapshot> read_snapshot(std::string_view json, const Target& target);

// How a run gets at Kubernetes. It is written down, so that whoever takes the run up guards it as whoever began it.
struct NodeAccess {
  std::string kubeconfig{};  // for kubectl; empty: nodes are not looked at
  bool drains = false;
  Duration drain = std::chrono::minutes(10);  // until pods that do not go are left to go with their nodes
  bool operator==(const NodeAccess&) const = default;
};

struct Event {
  enum class Kind {
    Begin,      // of a run; the first line
    Access,     // to Kubernetes, from here on
    Taken,      // the pool was written down
    Intend,     // a request is about to be sent
    Answer,     // of ARM to it
    Done,       // with a phase
    Stopped,    // the run, before its end
    Finished,   // the pool is new
    Recovered,  // the cluster helped itself
    Undone,     // the stand-in is gone, the pool as it was
  };
  Kind kind = Kind::Begin;
  WallTime at{};
  Phase phase = Phase::Guards;
  std::string text{};         // Begin: the cluster's id. Taken: the file. Intend: what is sent. Stopped: why
  std::string pool{};         // Begin
  int status = 0;             // Answer; 0: none came
  std::string api_version{};  // Begin; empty: a run of before this was written down
  NodeAccess access{};        // Access
};
std::string to_line(const Event& event);
std::optional<Event> read_event(std::string_view line);  // nothing: it was not written to its end

struct Progress {
  struct Sent {
    bool intended = false;
    int status = 0;              // of the answer since the last stop; 0: none
    int times_taken = 0;         // by ARM, since the last stop
    bool unanswered = false;     // the last one
    bool perhaps_taken = false;  // one of them, ever: ARM took it, or nobody knows
    bool accepted() const { return status >= 200 && status < 300; }
    bool may_have_run() const { return unanswered || perhaps_taken; }
  };
  WallTime begun{};
  Target target;
  NodeAccess access;
  std::string snapshot_file;
  std::array<bool, kPhases> done{};
  std::array<Sent, kPhases> sent{};
  std::optional<Event> end;  // nothing: it was not ended, or is under way

  const Sent& of(Phase phase) const { return sent[static_cast<size_t>(phase)]; }
  bool is_done(Phase phase) const { return done[static_cast<size_t>(phase)]; }
  // Whether the pool may be gone or on its way out: there is no way back then.
  bool may_be_deleted() const { return of(Phase::Delete).may_have_run() || is_done(Phase::Delete); }
  bool may_be_cordoned() const { return of(Phase::Drain).intended || is_done(Phase::Drain); }
  // Whether it may be taken up again.
  bool is_open() const { return !end || end->kind == Event::Kind::Stopped; }
};
void apply(const Event& event, Progress& progress);

}  // namespace armgate::heal
