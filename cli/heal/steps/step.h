// step.h – a step of the runbook: a pure function from what is there to what is to be done next.
//
// A step is asked again and again, each time with a fresh look at the cluster, until it says Done or Stop. So a run that was
// killed goes on by asking the same questions: whether a request has arrived shows in the cluster. What would not show (an
// abort, a delete of something that came back) the journal has (progress.h).
//
// Each write names what it expects to find (If-Match, If-None-Match): should it come twice, the second has no effect.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "arm/http.h"
#include "base/time.h"
#include "cli/heal/facts/cluster.h"
#include "cli/heal/facts/guards.h"
#include "cli/heal/progress.h"

namespace armgate::heal {

// What is known when a step is asked.
struct Known {
  const Target& target;
  const Progress& progress;
  const Snapshot& snapshot;
  Cluster cluster;
  std::optional<Pool> pool{};      // nothing: ARM says that there is none
  std::optional<Pool> stand_in{};  // the same
  bool stand_in_may_come = false;  // it is not there, but may be on its way
  bool lease_held = true;
  Duration left{};  // of the whole run's time
  WallTime now{};
  std::optional<WallTime> operation_started{};  // for the abort: of the operation that runs; nothing: it is not logged
  std::optional<std::string>
      nodes_not_ready{};             // of the pool that the step waits for; nothing: they are, or were not looked at
  std::optional<Guard> objection{};  // for the delete: of a guard that was asked once more; nothing: none has any
  std::string run{};                 // this one's id, as its stand-in is tagged
};

struct Write {
  arm::Method method = arm::Method::Put;
  std::string target;  // with its api-version
  std::string body{};
  std::string if_match{};
  std::string if_none_match{};
};

struct Move {
  enum class Kind {
    Done,
    Wait,
    Send,
    Renew,  // the snapshot is not what the pool is: it is written anew
    Stop
  } kind = Kind::Done;
  std::string why;               // for people
  Write write{};                 // Send
  std::optional<Phase> phase{};  // Send: under which it is written down, if not the step's own
  bool is_again = false;         // Send: the one before came to nothing, and the step's time begins anew
};

inline Move done(std::string why) { return {Move::Kind::Done, std::move(why)}; }
inline Move wait(std::string why) { return {Move::Kind::Wait, std::move(why)}; }
inline Move stop(std::string why) { return {Move::Kind::Stop, std::move(why)}; }
inline Move send(std::string why, Write write) { return {Move::Kind::Send, std::move(why), std::move(write)}; }
inline Move renew(std::string why) { return {Move::Kind::Renew, std::move(why)}; }

Move abort_operation(const Known& known);  // abort.cc
Move add_stand_in(const Known& known);     // stand_in.cc
Move delete_pool(const Known& known);      // delete_pool.cc
Move recreate_pool(const Known& known);    // recreate_pool.cc
Move remove_stand_in(const Known& known);  // remove_stand_in.cc
Move mark_cluster(const Known& known);     // mark.cc
Move check_result(const Known& known);     // final_check.cc
Move undo(const Known& known);             // remove_stand_in.cc

// The tag's value that mark_cluster() leaves.
std::string mark_of(const Progress& progress);

// Whether the pool is this runbook's stand-in for the target's pool. `why` not, for people.
std::optional<std::string> why_not_ours(const Pool& pool, const Target& target);

// Whether AKS has left the pool in a state of which nothing comes any more.
bool came_to_nothing(const Pool& pool);

// Why a pool that shows no ETag is not written: ARM would do it whatever has become of the pool meanwhile.
std::string no_etag_text(const Pool& pool);

// How to take back what the drain did to the pool's nodes; empty: there was none.
std::string cordoned_text(const Progress& progress);

// Why a run ends whose pool is well before it was deleted, with a stand-in beside it.
std::string not_needed_text(const std::string& why, const Progress& progress);

struct Step {
  Phase phase;
  std::string_view title;
  Move (*decide)(const Known& known);
  Duration deadline;
};

// In their order. After the abort, and by whoever takes a run up before the delete, the guards are asked again (runbook.cc).
std::span<const Step> all_steps();
const Step& undo_step();

// Before the pool is deleted so much of the run's time must be left: to make it anew.
inline constexpr Duration kReservedForRecreate = std::chrono::minutes(20);

// So often a pool is made until a person has to look: what makes it fail may pass, or may not.
inline constexpr int kTriesMax = 3;

// A pool that was just made may be unknown for minutes (docs/arm.md, "Lag"), and its PUT may still be on its way, also to an
// armgate that has the lease for this run. One of which ARM may have taken the PUT is believed to be gone after so many looks
// in a row, and not sooner than this.
inline constexpr int kLooksUntilGone = 10;
inline constexpr Duration kUnseenUntilGone = std::chrono::seconds(30);

inline constexpr std::string_view kEarlierWrite = "a write that began earlier still runs on the cluster";

}  // namespace armgate::heal
