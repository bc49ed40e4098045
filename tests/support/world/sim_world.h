// sim_world.h – one simulated world: armgate's production pipeline between simulated clients and a simulated ARM.
//
// Why: what production assembles in its gateway is assembled here from the same parts; only the seams differ. A world is a
// pure function of its options, the seed among them.
// Threads   one.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tests/support/checkers/checkers.h"
#include "tests/support/world/gate.h"
#include "tests/support/world/sim_rules.h"

namespace armgate::world {

// What clients do to their own connections.
struct ClientFaults {
  double leave = 0;        // gives up while it waits
  double half_close = 0;   // of those that leave
  double lose_answer = 0;  // the connection breaks when the answer is on its way
  double read_slowly = 0;
  double send_slowly = 0;  // time passes between the head and the end of a body
  Duration leave_after_max = std::chrono::seconds(20);
  double names_base = 0;  // of the changes, carries a precondition of its own
  int addresses = 1;      // that the connections of one client come from
};

struct WorldOptions {
  uint64_t seed = 1;
  NetworkFaults network;
  ClientFaults clients;
  sim::SimOptions arm;
  PipelineOptions pipeline;
  OperationResults::Options results;  // which resources are sick
  Budgets::Options budgets;           // of ARM's, that clients share
  std::vector<rules::Rule> rules;
  std::vector<rules::ErrorRule> errors;
  rules::FactEntries facts;
  Harms harms = Harms::Forbidden;
  Duration token_life{};                    // zero: tokens are good for ever
  double poll_skipped = 0;                  // of the watchers' own polls
  std::map<std::string, ClientKind> kinds;  // what the configuration declares of names; all others are Unknown
  std::optional<Liveness> liveness;         // see Promised
  bool journal = false;                     // what armgate was about outlives its process
  size_t replicas = 0;                      // armgates that serve as one, each request by another; 0: one that is alone
  LogFaults log;                            // of theirs
  // What all replicas but the first go by; null: the same rules.
  std::vector<rules::Rule> (*differing_rules)(Rng& rng) = nullptr;
  size_t body_bytes_max = 0;  // of two of three replicas, or of the one; 0: all have enough
  Duration joining{};         // see Promised
  Trace::Echo echo = Trace::Echo::Off;
};

class SimWorld {
 public:
  explicit SimWorld(WorldOptions options);
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;

  // A client, or whatever else must end before the world does.
  void add_client(const std::string& name, Task<void> life);
  // For the message about a deadlock.
  void doing(const std::string& name, std::string what) { unfinished_[name] = std::move(what); }

  // Runs until every client is done, then until nothing moves any more, and checks what is left.
  void run();

  const WorldOptions& options() const { return options_; }
  SimClock& clock() { return clock_; }
  Rng& rng() { return rng_; }
  Trace& trace() { return trace_; }
  sim::SimArm& arm() { return arm_; }
  SimUpstream& upstream() { return upstream_; }
  Checkers& checkers() { return checkers_; }
  // An armgate that takes requests now, in a cluster any; null while none does.
  std::shared_ptr<Gate> open_gate();

  // ---- what an operator or a power cut does; nothing once all clients are done ----
  void crash(Duration down);
  // Ends what was begun, at most until `most` is over, then goes.
  void drain(Duration most, Duration down);
  void use_rules(std::vector<rules::Rule> rules);
  // One replica goes by other rules from now on.
  void use_differing_rules();
  // One replica of a cluster dies, and another begins; it cannot reach the engine; it stands still; nobody reaches the engine; its
  // standby is promoted; its clock is set forwards.
  void kill_replica(Duration down);
  void cut_off_replica(Duration how_long);
  void freeze_replica(Duration how_long);
  void engine_away(Duration how_long);
  void fail_engine_over(Duration lag, Duration away);
  void set_engine_clock_by(Duration step);
  Executor executor() { return loop_.get_executor(); }
  uint64_t next_number() { return ++numbers_; }
  std::map<std::string, uint64_t>& tally() { return tally_; }  // what clients got, for the coverage report

 private:
  static Task<void> live(SimWorld& world, std::string name, Task<void> life);
  static Task<void> drain_and_start_anew(SimWorld& world, std::shared_ptr<Gate> old, TimePoint limit, Duration down);
  std::function<bool(TimePoint)> is_out_of_reach();
  std::shared_ptr<Gate> make_gate();
  std::vector<std::shared_ptr<Gate>> open_replicas() const;
  void start_missing(Duration later);
  void check_gate_empty(Gate& gate);
  void check_known(Gate& gate);
  void check_turns();
  void check_empty();

  const WorldOptions options_;
  Rng rng_;
  boost::asio::io_context loop_{1};
  SimClock clock_;
  Trace trace_;
  sim::SimArm arm_;
  std::shared_ptr<const rules::Ruleset> made_of(std::vector<rules::Rule> rules);
  std::shared_ptr<const rules::Ruleset> rules_of_new_replica();
  void use_rules_at(Gate& gate, const rules::Ruleset& rules);
  // A set of the caller's own, as armgate must forget its old one.
  std::shared_ptr<const rules::Ruleset> rules_in_force() const { return rules_->for_one_thread(); }

  uint64_t rule_sets_ = 0;  // made so far
  std::shared_ptr<const rules::Ruleset> rules_;
  Checkers checkers_;
  SimUpstream upstream_;
  SimJournal journal_;
  SimLog log_;
  SimRules shared_rules_;
  size_t complete_ = 0;                       // the replica that has all rules
  Gate* handing_over_ = nullptr;              // the one before, which has them still; null: there is none
  std::vector<std::shared_ptr<Gate>> gates_;  // all that there ever were
  std::shared_ptr<Gate> gate_;                // the one that runs; null between two
  uint64_t numbers_ = 0;
  std::map<std::string, std::string> unfinished_;
  TimePoint out_of_reach_until_{};  // of some replica, the engine
  size_t forgotten_ = 0;            // writes that wait for nothing
  std::map<std::string, uint64_t> tally_;
};

}  // namespace armgate::world
