// sim_upstream.h – the Upstream seam onto a simulated ARM over a hostile network.
//
// Every sending is a flight of its own: a request may never leave, be lost on its way, take effect and lose its answer, take
// effect long after the connection broke, be answered late or in half. What the gateway is told in `Sent` is what a real
// connection could have told it.
// Threads   the simulation's one loop.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/rng.h"
#include "proxy/seams/upstream.h"
#include "sim/sim_arm.h"
#include "tests/support/world/sim_clock.h"
#include "tests/support/world/trace.h"

namespace armgate::world {

struct NetworkFaults {
  double refuse = 0;        // no connection
  double lose_request = 0;  // a byte left, nothing arrived
  double lose_answer = 0;   // took effect, the answer was lost
  double late = 0;          // the connection broke, the request took effect seconds later (only what a precondition guards...
  bool late_unguarded = false;  // ...unless this says otherwise)
  double cut = 0;               // the head of the answer arrives, its body breaks off
  double throttle = 0;          // ARM answers 429 before effect
  double conflict = 0;          // ARM answers a write 409 before effect: something of its own runs there
  double fail = 0;              // ARM answers 500 or 503 before effect
  double fail_after = 0;        // ARM does what was asked and answers 500, 502, 503, 504 or 408
  double slow = 0;              // the answer takes long
  Duration slow_max = std::chrono::seconds(30);
  Duration delay_max = std::chrono::milliseconds(120);  // of every way, uniform: answers overtake each other
};

// What the simulation wants to know about each sending; all default to silence.
class UpstreamWatch {
 public:
  enum class How { Answered, BrokenOff, Lost, NotSent };  // BrokenOff: the answer has its head alone
  virtual ~UpstreamWatch() = default;
  virtual void sending(const arm::Request& request) = 0;                                           // the gateway hands it over
  virtual void applied(const arm::Request& request, const sim::SimAnswer& answer, bool late) = 0;  // ARM has handled it
  virtual void returned(const arm::Request& request, How how, const arm::Response* answer) = 0;
};

class SimUpstream final : public Upstream {
 public:
  SimUpstream(SimClock& clock, sim::SimArm& arm, UpstreamWatch& watch, Trace& trace, NetworkFaults faults, uint64_t seed);

  Task<Result<UpstreamAnswer>> send(const arm::Request& request, SendLimits limits) override;

  // From now on the network and ARM are kind.
  void calm() { faults_ = NetworkFaults{}; }
  // How often each fault happened to what: "lost answer @ write" (soak_matrix.cc has all of them).
  const std::map<std::string, uint64_t, std::less<>>& counts() const { return counts_; }

 private:
  struct Flight;
  sim::SimAnswer answer_of(const arm::Request& request);
  arm::Response failure_after_effect();
  arm::Response error_answer(int status, std::string_view code, Duration retry_after);
  void apply(const std::shared_ptr<Flight>& flight);
  Duration delay();
  Duration slow_answer(bool can_be_late);
  bool happens(double chance, std::string_view name, const arm::Request& request);
  void count(std::string_view fault, const arm::Request& request);
  std::string_view stage_of(const arm::Request& request) const;

  SimClock& clock_;
  sim::SimArm& arm_;
  UpstreamWatch& watch_;
  Trace& trace_;
  NetworkFaults faults_;
  Rng rng_;
  std::map<std::string, uint64_t, std::less<>> counts_;
  std::map<std::string, int, std::less<>> sendings_;  // of each exchange
};

// The time until which the simulated token is good; "Bearer exp-<seconds>" (see SimClient). kNever without one.
TimePoint token_expiry(std::string_view authorization);

}  // namespace armgate::world
