// sim_world.h – one simulated world: armgate's production pipeline between simulated clients and a simulated ARM.
//
// Why: what production assembles in its gateway is assembled here from the same parts; only the seams differ. A world is a
// pure function of its options, the seed among them.
// Threads   one.
#pragma once

#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <string>

#include "proxy/stages/parts.h"
#include "proxy/state/memory_store.h"
#include "tests/support/checkers.h"

namespace armgate::world {

// What clients do to their own connections.
struct ClientFaults {
  double leave = 0;         // gives up while it waits
  double half_close = 0;    // of those that leave
  double lose_answer = 0;   // the connection breaks when the answer is on its way
  double read_slowly = 0;
  double send_slowly = 0;   // time passes between the head and the end of a body
  Duration leave_after_max = std::chrono::seconds(20);
};

struct WorldOptions {
  uint64_t seed = 1;
  NetworkFaults network;
  ClientFaults clients;
  sim::SimOptions arm;
  PipelineOptions pipeline;
  std::vector<rules::Rule> rules;
  Harms harms = Harms::Forbidden;
  Duration token_life{};      // zero: tokens are good for ever
  double poll_skipped = 0;    // of the watchers' own polls
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
  Pipeline& pipeline() { return pipeline_; }
  SharedState& shared() { return shared_; }
  Executor executor() { return loop_.get_executor(); }
  uint64_t next_number() { return ++numbers_; }
  std::map<std::string, uint64_t>& tally() { return tally_; }  // what clients got, for the coverage report

 private:
  class SimFaults final : public Faults {
   public:
    SimFaults(Rng rng, double poll_skipped) : rng_(rng), poll_skipped_(poll_skipped) {}
    bool fire(FaultPoint point) override {
      return point == FaultPoint::PollSkipped && poll_skipped_ > 0 && rng_.chance(poll_skipped_);
    }

   private:
    Rng rng_;
    const double poll_skipped_;
  };
  static Task<void> live(SimWorld& world, std::string name, Task<void> life);
  void check_empty();

  const WorldOptions options_;
  Rng rng_;
  Rng pipeline_rng_;
  boost::asio::io_context loop_{1};
  SimClock clock_;
  Trace trace_;
  sim::SimArm arm_;
  SharedState shared_;
  Checkers checkers_;
  SimUpstream upstream_;
  MemoryStore store_;
  SimFaults faults_;
  Pipeline::Parts parts_;
  Pipeline pipeline_;
  uint64_t numbers_ = 0;
  std::map<std::string, std::string> unfinished_;
  std::map<std::string, uint64_t> tally_;
};

}  // namespace armgate::world
