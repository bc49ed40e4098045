// checkers_liveness.h – who is refused without need, and how often (docs/design.md, "Getting through"): safety alone could be had
// by refusing everybody.
//
//   L1        a lone actor is not refused. `single`: never; `unknown`: only if the write takes a value back, and then at most
//             kTakenBackRefusalsMax times in a row
//   L2        no state stays unusable: who was refused on it and has read it again is not refused on it for a third time
//   L3        who reads after a refusal, and whose last read is what is there, is sent. `unknown`: one refusal more for each change
//             that looks stale against that read
//   L4        nobody is refused more than kRefusedInARowMax times in a row on one resource
//   L4-total  and in all not more often than others have changed it, plus the client's own faults
//   U1        (counted only) refused although the very state that the write was built from is what is there
//
// Everything is judged by what clients asked and were told, by what they say a write was built from, and by ARM's own log of
// states; of armgate's answers only the status counts, and ARM's 412 is a refusal like armgate's own. A state counts as there only if it was from
// the write's arrival until the answer began: what moved meanwhile may have been decided on.
//
// A client's own faults, each of which may cost one refusal: a write that took effect without its client being told 2xx, and a
// refused write that was not built on a read of its own since the refusal before. An armgate that died may cost kLifeRefusalsMax.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "arm/http.h"
#include "base/time.h"
#include "sim/judge/leaves.h"
#include "sim/state_log.h"
#include "tests/support/checkers/liveness_laws.h"

namespace armgate::world {

using sim::Leaves;

class LivenessChecker {
 public:
  struct Options {
    std::map<std::string, ClientKind> kinds;  // by name; who is not in it is Unknown
    Duration think_max = std::chrono::minutes(5);
  };
  struct World {
    std::function<sim::States(const std::string& path)> states_of;
    std::function<void(Law law, std::string what)> broken;
  };
  // A request as its client sends it.
  struct Asked {
    uint64_t exchange = 0;
    std::string client;  // who really sends
    std::string name;    // as whom
    arm::Method method = arm::Method::Get;
    std::string target;
    std::string body;
    std::string write_id;
    std::string base_version;            // of the state that the write was built from; empty: nobody knows
    std::optional<TimePoint> base_read;  // when its client had that
    TimePoint at{};
  };
  struct Answered {
    uint64_t exchange = 0;
    int status = 0;
    bool delivered = false;
    TimePoint begun{};  // the first byte of the answer
    TimePoint at{};
  };

  LivenessChecker(Options options, World world) : options_(std::move(options)), world_(std::move(world)) {}

  void asked(Asked request);
  // ARM has handled it, and this is what it showed or made.
  void handled(uint64_t exchange, const std::vector<sim::Seen>& seen, bool took_effect, bool late);
  // armgate is done with it.
  void answered(const Answered& answer);
  void life_ended();
  void settled();

  // The version of what a read of this number showed of the resource; empty: it did not.
  std::string version_shown(uint64_t exchange, const std::string& path) const;
  // What there was to judge, by name.
  const std::map<std::string, uint64_t>& counts() const { return counts_; }

 private:
  struct Try {
    Asked asked;
    std::string key;
    std::vector<sim::Seen> seen;
    bool took_effect = false;
    bool acknowledged = false;
  };
  struct Reading {
    TimePoint asked{};
    TimePoint at{};
    uint64_t serial = 0;
  };
  struct Refused {
    TimePoint begun{};  // when the refusal was decided on; a turn runs from then
    TimePoint at{};
    uint64_t serial = 0;  // of what was there all the time; 0: it moved
  };
  // One client and one resource.
  struct Pursuit {
    std::string name;
    TimePoint began{};
    std::optional<Reading> read;     // the last one that arrived
    std::optional<Refused> refused;  // since the last success, in this life
    uint64_t refusals = 0;
    uint64_t allowed = 0;  // of these, by the exceptions above
    uint64_t faults = 0;
    uint64_t faults_open = 0;  // since the last success
    int in_a_row = 0;
    int taken_back_in_a_row = 0;
    int on_one_state = 0;
    std::string change_seen_stale;  // for which L3's one refusal more is used up
  };
  // One name and one resource.
  struct Audience {
    std::set<std::string> clients;
    std::vector<Reading> shown;  // also what may not have arrived, with at = kNever
    TimePoint doubted_until{};   // two writes of different bytes were under way at once
  };
  // A delivered 412 and what it is judged by.
  struct Case {
    const Try& attempt;
    const Answered& answer;
    Pursuit& pursuit;
    Audience& audience;
    sim::States states;
    const sim::State* there = nullptr;  // from the arrival to the answer; null: it moved
    bool undeserved = false;
    bool looks_stale = false;
    bool reread = false;
    std::string change{};
  };

  ClientKind kind_of(const Case& one) const;
  Case look_at(const Try& attempt, const Answered& answer);
  std::vector<Leaves> older_states(const Case& one) const;
  bool is_lone(const Case& one) const;
  void refused(const Try& attempt, const Answered& answer);
  void judge_lone(Case& one);
  void judge_reread(Case& one);
  void judge_state(Case& one);
  void judge_row(Case& one);
  bool could_have_been_spared(const Case& one) const;
  static bool built_on_last_read(const Case& one);
  void end_row(Pursuit& pursuit);
  void broken(Law law, const Case& one, std::string_view why);

  const Options options_;
  const World world_;
  std::map<uint64_t, Try> tries_;
  std::set<uint64_t> open_;                                            // those of them that have no answer yet
  std::map<std::pair<std::string, std::string>, Pursuit> pursuits_;    // client, key
  std::map<std::pair<std::string, std::string>, Audience> audiences_;  // name, key
  std::map<std::string, std::set<std::string>> writers_;               // key -> who writes it through armgate
  std::set<std::string> effects_;                                      // write ids that took effect
  std::set<std::string> untold_;                                       // of them, counted as a fault
  std::set<uint64_t> late_;                                            // states made by what had been given up
  TimePoint last_asked_{};
  TimePoint life_began_{};
  std::map<std::string, uint64_t> counts_;
};

}  // namespace armgate::world
