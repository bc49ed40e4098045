// sim_log.h – the log of a cluster in a simulated world: what an engine that forgets nothing does, with its delays and its faults.
//
// What is modelled: one appender at a time and rows in order; the way there and back takes time; an answer gets lost after the commit;
// others are not notified and look a moment later; a member that says nothing for its membership lease is found dead by whoever appends next;
// a standby is promoted, with the last commit or without it.
// Threads   the simulation's one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "proxy/cluster/replica.h"
#include "tests/support/world/gate_clock.h"

namespace armgate::world {

struct LogFaults {
  Duration way_max = std::chrono::milliseconds(5);  // to the engine, and back
  double lost_reply = 0.01;
  double lost_signal = 0.2;
  Duration membership_lease = std::chrono::seconds(10);
  Duration quiet = std::chrono::seconds(60);
};

class SimLog {
 public:
  class Member;
  SimLog(SimClock& clock, LogFaults faults, uint64_t seed)
      : clock_(clock), faults_(faults), rng_(seed), questions_(seed ^ 0x71), began_(clock.now()) {}

  cluster::ReplicaId next_id() { return ++ids_; }
  const LogFaults& faults() const { return faults_; }
  TimePoint began() const { return began_; }  // nothing is missing since
  // From now on the replica, whose clock that is, tells and hears. `end`: it was found dead. It must call leave() before its
  // replica dies.
  std::shared_ptr<Member> join(cluster::Replica& replica, GateClock& clock, std::function<void()> end);
  // Nobody gets there, for so long.
  void away(Duration how_long) { away_until_ = clock_.now() + how_long; }
  // For as long as `lag` the standby hears nothing, and commits wait for it. Then it is promoted, which takes a while too.
  void fail_over(Duration lag, Duration away_for);
  // Its clock is set; members' clocks are not.
  void set_clock_by(Duration by) { clock_error_ += by; }
  // Who begins from now on finds no row up to that one.
  void forget_until(uint64_t number) { forgotten_ = number; }
  uint64_t newest() const { return rows_.size(); }
  bool lives(cluster::ReplicaId id) const { return !lives_.at(id).dead && !lives_.at(id).left; }
  // One way to the engine, or back.
  Duration way(Rng& rng) const {
    return Duration(static_cast<int64_t>(rng.below(static_cast<uint64_t>(faults_.way_max.count()))));
  }
  // Of all that was ever told.
  size_t bytes() const;

 private:
  struct Life {
    TimePoint alive_until{};
    TimePoint began{};
    bool dead = false;
    bool left = false;
  };
  // What the standby has.
  struct Standby {
    size_t rows = 0;
    std::map<cluster::ReplicaId, Life> lives;
    TimePoint last_append{};
  };
  enum class Appended { Yes, NotYet, Dead };  // Dead: the author is
  Appended append(cluster::ReplicaId author, const std::optional<cluster::Replica::Batch>& batch);
  void promote(Duration away_for);
  size_t visible() const;
  cluster::EngineTime time() const;
  cluster::EngineTime time_of_row();

  SimClock& clock_;
  const LogFaults faults_;
  Rng rng_;
  Rng questions_;  // for its time: how often they come changes nothing of what else is drawn
  const TimePoint began_;
  cluster::ReplicaId ids_ = 0;
  std::vector<cluster::Row> rows_;
  uint64_t forgotten_ = 0;
  TimePoint last_append_{};
  Duration clock_error_{};
  cluster::EngineTime last_begun_ = std::numeric_limits<cluster::EngineTime>::min();
  TimePoint away_until_{};
  std::optional<Standby> standby_;  // while it lags behind
  std::map<cluster::ReplicaId, Life> lives_;
  std::vector<std::weak_ptr<Member>> members_;
};

class SimLog::Member : public std::enable_shared_from_this<Member> {
 public:
  Member(SimLog& log, cluster::Replica& replica, GateClock& clock, std::function<void()> end)
      : log_(log), replica_(&replica), process_(&clock), end_(std::move(end)) {}
  void leave() {
    replica_ = nullptr;
    process_ = nullptr;
  }
  // It cannot reach the engine, for so long.
  void cut_off(Duration how_long) { cut_until_ = log_.clock_.now() + how_long; }

 private:
  friend class SimLog;
  void begin();
  // What happens to it at that moment, or as soon as its process runs again.
  void at(TimePoint when, std::function<void()> event);
  void wake();
  void do_round();
  void learn();
  void append();
  void hear();
  void read();
  void beat();

  SimLog& log_;
  cluster::Replica* replica_;
  GateClock* process_;
  const std::function<void()> end_;
  bool busy_ = false;
  TimePoint cut_until_{};
};

}  // namespace armgate::world
