// runbook.h – a run: the guards, the steps in their order, and what is written down before each.
//
// Why: a wedged system pool heals by being made anew (docs/heal.md). Each step is asked with a fresh look at the cluster until
// it is done (steps/step.h); so a run that was killed is taken up by asking the same steps again.
//
// Limits    a deadline for each step; one for the whole run, which ends where the pool is deleted: what puts it back has its
//           own.
// Errors    nothing is undone by itself: a run that stops says what was done, and how to go on.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/heal/facts/guards.h"
#include "cli/heal/journal.h"
#include "cli/heal/look.h"
#include "cli/heal/world.h"

namespace armgate::heal {

struct RunOptions {
  GuardOptions guards;
  Duration poll = std::chrono::seconds(30);    // between two looks
  Duration settle = std::chrono::seconds(15);  // after the abort
  Duration overall = std::chrono::minutes(60);
  Duration nodes = std::chrono::minutes(20);  // until they are ready, once ARM says that their pool is well
  int64_t stand_in_count = 0;                 // nodes; 0: as many as the pool
  NodeAccess access{};                        // World::nodes is there if it has a kubeconfig, World::drain if it drains
};

struct Ending {
  enum class Kind { NothingToDo, Refused, Finished, Recovered, Undone, Stopped, Interrupted } kind = Kind::Refused;
  std::string why;
};

class Runbook {
 public:
  Runbook(const World& world, Journal& journal, RunOptions options);

  // To its end, from wherever the journal says that it is. `inspected` is what a new run's guards saw; nothing for one that is
  // taken up.
  Ending carry_on(const std::optional<Inspection>& inspected);
  // Back, as long as the pool itself was not touched.
  Ending undo();

 private:
  // A step, from its first look to its end.
  struct Attempt {
    TimePoint deadline;
    bool waits_for_nodes = false;
    std::string waited_for{};
    int refused_conditions = 0;
  };

  std::optional<Ending> prepare(const std::optional<Inspection>& inspected);
  std::optional<Ending> recheck();
  std::optional<Ending> carry_out(const Step& step);
  std::optional<Ending> wait_for_lease(Phase phase);
  std::optional<Ending> send(const Step& step, const Move& move, Attempt& attempt);
  void wait_as_asked(Phase phase, const Reply& reply, Attempt& attempt);
  std::optional<Ending> go_on_without_pool(const std::optional<Pool>& pool);
  std::optional<Ending> renew(const Known& known, const std::string& why);
  std::optional<Ending> keep(const Pool& pool, const PoolBodies& bodies, Phase phase);
  Result<PoolBodies> bodies_of(const Pool& pool, const Cluster& cluster) const;
  Result<Known> look(const Step& step);
  Result<std::optional<Guard>> ask_guards(const Cluster& cluster, const std::optional<Pool>& pool);
  std::optional<Ending> record(Event::Kind kind, Phase phase, std::string text = {}, int status = 0);
  Ending stop(Phase phase, std::string why, Ending::Kind kind = Ending::Kind::Stopped);
  Ending finish(Event::Kind kind, Ending::Kind ending, std::string why);
  bool operation_runs();
  std::optional<std::string> why_not_ready(const std::optional<Pool>& pool) const;
  std::optional<Ending> drain();
  std::optional<Ending> interruption(Phase phase);
  bool has_touched_nothing() const { return !pool_goes_ && !journal_.progress().may_be_deleted(); }
  bool stand_in_is_there();
  Result<std::optional<Pool>> find_stand_in();
  bool note_whether_seen(const std::optional<Pool>& stand_in);
  void print(Phase phase, std::string_view event, std::string text) const { world_.print({phase, event, std::move(text)}); }
  bool over(TimePoint deadline) const { return world_.now() >= deadline; }

  const World& world_;
  Journal& journal_;
  const RunOptions options_;
  const TimePoint ends_;  // the whole run, up to the delete
  Snapshot snapshot_;
  std::string operation_;   // of the last write, until it ends; empty: none
  std::string why_failed_;  // how it ended, for people; empty: well, or nobody knows
  bool pool_goes_ = false;  // or is gone, by somebody else's hand
  int times_unseen_ = 0;    // looks in a row in which there was no stand-in
  TimePoint unseen_since_{};
};

}  // namespace armgate::heal
