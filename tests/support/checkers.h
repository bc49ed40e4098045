// checkers.h – the promises P1 to P6 and P10 of the design, watched while a simulated world runs.
//
// Why: what a promise forbids leaves no trace in the answers. The checkers see every request enter the pipeline, every sending
// to ARM and its fate, and every answer, and say which promise was broken, by which exchange and how. They know nothing of
// the pipeline's inside: each decides from the messages alone.
//   P1  nothing that ARM accepted is overwritten by a write that was built before it; what a client was told 2xx happened
//   P2  one unfinished write per entity                    P3  first come, first sent; who left is not sent
//   P4  sent again only on proof                           P5  one answer, ARM's own where ARM answered
//   P6  reads wait for nobody                              P10 nothing is left over
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rules/plan.h"
#include "sim/sim_arm.h"
#include "tests/support/sim_link.h"
#include "tests/support/sim_upstream.h"
#include "tests/support/trace.h"

namespace armgate::world {

struct Violation {
  std::string promise;  // "P1"
  std::string what;
};

// Whether a lost update breaks a promise. Without content evidence (DESIGN §3, rule 6) actors that hide behind one undeclared
// name can still hurt each other, which the documentation says; their harms are counted, all other promises hold for them too.
enum class Harms { Forbidden, Counted };

class Checkers final : public UpstreamWatch {
 public:
  Checkers(SimClock& clock, sim::SimArm& arm, std::shared_ptr<const rules::Ruleset> rules, Trace& trace);

  // ---- a request's life ----
  void served(const SimLink& link);      // it enters the pipeline
  void left(const SimLink& link);        // its client gave up
  void answered(const SimLink& link);    // the pipeline is done with it
  // The client takes this write for done.
  void acknowledged(const std::string& write_id);

  // ---- its sendings ----
  void sending(const arm::Request& request) override;
  void applied(const arm::Request& request, const arm::Response& answer, bool late) override;
  void returned(const arm::Request& request, How how, const arm::Response* answer) override;

  // Everybody is done and the time has run on: what ARM's judge saw. Returns the harms that were only counted.
  uint64_t at_rest(Harms harms);

  void violated(std::string promise, std::string what);
  const std::vector<Violation>& violations() const { return violations_; }

 private:
  struct Record {
    uint64_t id = 0;
    std::string what;
    std::string write_id;
    bool is_write = false;   // locked by its rule
    bool is_read = false;
    std::vector<std::string> keys;
    std::string entity;
    TimePoint served{};
    std::optional<TimePoint> left;
    const SimLink* link = nullptr;   // until the pipeline is done with it
    bool in_flight = false;
    int sends = 0;
    std::optional<How> last_how;
    std::string last_if_match;
    std::optional<arm::Response> last_answer;
  };

  struct Accepted {
    uint64_t exchange = 0;
    std::string write_id;
    std::string what;
    std::string url;   // of its operation
  };

  static uint64_t exchange_of(const arm::Request& request);
  const Record* sending_of(const std::string& write_id) const;
  bool waits_for_own(const Record& record) const;
  void check_order(const Record& record);
  void check_proof(const Record& record, const arm::Request& request);
  void check_alone(const Record& record, const arm::Request& request);
  void check_unaltered(const Record& record, const SimLink& link);
  bool still_runs(const Accepted& write);
  void hear_judge();

  SimClock& clock_;
  sim::SimArm& arm_;
  const std::shared_ptr<const rules::Ruleset> rules_;
  Trace& trace_;
  std::map<uint64_t, Record> records_;
  std::map<std::string, std::vector<uint64_t>> queues_;     // lock key -> exchanges in the pipeline, in order of arrival
  std::map<std::string, std::vector<Accepted>> accepted_;   // entity -> writes whose operation may still run
  std::set<std::string> accepted_ids_;
  std::set<std::string> acknowledged_ids_;
  size_t findings_heard_ = 0;
  std::vector<Violation> violations_;
};

}  // namespace armgate::world
