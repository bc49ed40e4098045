// checkers.h – the promises P1 to P6 and P10 (docs/design.md), watched while a simulated world runs.
//
// Why: what a promise forbids leaves no trace in the answers. The checkers see every request enter the pipeline, every sending
// to ARM and its fate, and every answer, and say which promise was broken, by which exchange and how. They know nothing of
// the pipeline's inside: each decides from the messages alone.
//   P1  nothing that ARM accepted is overwritten by a write that was built before it, no precondition is newer than what the
//       write was built from, none is dropped; what a client was told 2xx happened
//   P2  one unfinished write per lock key              P3  first come, first sent; who left is not sent
//   P4  sent again only on proof                       P5  one answer, ARM's own where ARM answered
//   P6  reads wait for nobody                          P10 nothing is left over
//
// P1 to P3 hold within one life of armgate (docs/design.md, "Promises"). What spans the end of one is forgiven and counted, by
// these rules only:
//   - a write that an earlier life sent, whenever it takes effect;
//   - a write whose base was read in an earlier life (clients say in x-sim-base-read-at when they had read it);
//   - a write whose base an actor of the same name used up in this life, who had read its own in an earlier one;
//   - a create without precondition, if a write of an earlier life took effect after the create's client had begun to look.
// More are forgiven and counted:
//   - what a client insists on: the same bytes again, after a 412 that was delivered, without having read anything since, are
//     sent unguarded by design, and the answer says so;
//   - a sending that was taken for lost, and that ARM carries out after the resource was deleted and made again. The ETags of
//     Compute begin again with "1", so that an old precondition may hold for the new resource, and no gateway can help it.
//   - two writes of equal content whose answers were lost and that changed places: one took effect, the other's client was told
//     so. What nobody can tell apart is one acknowledgement for one effect.
//   - what somebody did who goes around armgate, between armgate's own look at the resource and ARM's taking the write, where no
//     ETag tells of it: nothing could hold those.
//   - P2 and P3 of what passes while nothing can be recorded (checkers_away.cc says what may).
// What a rule's breaker promises is checkers_sick.h's, what is promised of ARM's budgets checkers_budget.h's: there reads may wait.
// P4, P5, P6 and P10 are never forgiven. That clients get through at all is checkers_liveness.h's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "rules/plan.h"
#include "sim/sim_arm.h"
#include "tests/support/checkers/checkers_budget.h"
#include "tests/support/checkers/checkers_liveness.h"
#include "tests/support/checkers/checkers_sick.h"
#include "tests/support/world/sim_link.h"
#include "tests/support/world/sim_upstream.h"
#include "tests/support/world/trace.h"

namespace armgate::world {

struct Violation {
  std::string promise;  // "P1"
  std::string what;
};

// Whether a lost update breaks a promise. Where nothing in a body looks stale, actors that hide behind one undeclared name can
// still hurt each other (docs/design.md, "Clients and actors"); so can those who write what has no ETag. Their harms are
// counted, all other promises hold for them too.
enum class Harms { Forbidden, Counted };

// In the path of an operation URL of armgate's own.
inline constexpr std::string_view kOwnOperations = "/armgate-operations/";

// What is promised in this world. In mode observe: that nothing is altered, delayed, added or asked; who harms whom is counted.
struct Promised {
  rules::Mode mode = rules::Mode::Protect;
  Harms harms = Harms::Forbidden;
  bool journal = false;       // P2 spans lives
  Duration joining{};         // of several processes: how long until all know that a write stands in line
  bool rules_differ = false;  // of several processes: whether ETags guard a type, or comparing does, each one's own rule says
  // Whether nothing could be recorded at some moment since then; null: nothing passes without a record.
  std::function<bool(TimePoint since)> is_out_of_reach{};
  std::map<std::string, ClientKind> kinds{};
  Duration think_max = std::chrono::minutes(5);
  std::optional<Liveness> liveness{};  // of all laws; without it, as promise_of() has it
  SickChecker::Options sick{};
  BudgetChecker::Options budgets{};
};

class Checkers final : public UpstreamWatch {
 public:
  using Rules = std::shared_ptr<const rules::Ruleset>;
  Checkers(SimClock& clock, sim::SimArm& arm, Rules rules, Trace& trace, Promised promised);

  // ---- a request's life ----
  void served(const SimLink& link);    // it enters the pipeline
  void left(const SimLink& link);      // its client gave up
  void answered(const SimLink& link);  // the pipeline is done with it
  void cut(const SimLink& link);       // the pipeline is gone, and the link goes
  // The client takes this write for done.
  void acknowledged(const std::string& write_id);

  // ---- armgate's own ----
  void life_ended();            // it has lost its memory, and its exchanges have no clients any more
  void use_rules(Rules rules);  // for what arrives from now on

  // ---- its sendings ----
  void sending(const arm::Request& request) override;
  void applied(const arm::Request& request, const sim::SimAnswer& given, bool late) override;
  void returned(const arm::Request& request, How how, const arm::Response* answer) override;

  // Everybody is done and the time has run on: what ARM's judge saw.
  void settled();

  void violated(std::string promise, std::string what);
  const std::vector<Violation>& violations() const { return violations_; }
  // What broke no promise for one of the reasons above: by reason, how often.
  const std::map<std::string, uint64_t>& excused() const { return excused_; }
  // The laws that were broken where they are only counted, and how often.
  const std::map<Law, uint64_t>& laws_broken() const { return laws_broken_; }
  const LivenessChecker& liveness() const { return liveness_; }
  // A write that passed without a record: what armgate knows its client and its resource by.
  struct Unrecorded {
    Hash128 client{};
    Hash128 resource{};
    std::string what;
  };
  std::vector<Unrecorded> unrecorded() const;  // those that took effect

 private:
  struct Record {
    uint64_t id = 0;
    uint64_t life = 0;
    std::string what;
    std::string write_id;
    std::string sent_by;  // the simulated client
    std::string sent_as;  // the name in its proxy URL
    arm::Method method = arm::Method::Get;
    std::string target;
    std::string body;
    std::string asked;  // by whom, what, under which request id: all that armgate can tell requests apart by
    bool has_id = false;
    bool delivered = false;
    Rules rules;              // in force when it arrived
    bool is_write = false;    // locked by its rule
    bool is_guarded = false;  // a full write of a type with ETags, without a precondition of the client's own
    bool is_read = false;
    std::vector<std::string> keys;
    std::string entity;
    TimePoint served{};
    std::optional<TimePoint> base_read;  // when its client had what it was built from
    std::string base_etag;
    std::string base_version;
    std::optional<TimePoint> answered;
    std::optional<TimePoint> left;
    std::string name;        // the client's, and what it named the request; empty: it did not
    std::string same_bytes;  // equal for what one client sends again, byte for byte
    uint64_t place =
        0;  // in the queue, in the order of arrival: its own, or that of the earlier sending whose place it surely has
    bool came_back = false;                   // to such a place
    std::optional<TimePoint> reserved_until;  // at least; its client was sent away from the queue, or left it
    std::optional<arm::Request> as_served;    // mode observe: what must reach ARM
    const SimLink* link = nullptr;            // until the pipeline is done with it
    std::optional<TimePoint> refused;         // when its client got a 412
    bool says_changes = false;                // ARM's judge holds its effect against what its client meant
    bool was_merged = false;                  // it was sent with another body than its client's
    bool is_unrecorded = false;               // it passed while nothing could be recorded
    bool left_undecided = false;              // its client left while armgate compared its base with the resource
    int sends = 0;
    TimePoint first_sent{};
    TimePoint sent{};  // the last time
    std::optional<TimePoint> took_effect;
    std::vector<uint64_t> looked_at;  // at each sending: the state that armgate itself saw since the request came in
    std::optional<How> last_how;
    int status_of_head = 0;  // the status of an answer that broke off
    std::string last_if_match;
    std::optional<arm::Response> last_answer;
    std::optional<arm::Response> resent_answer;  // to what armgate sent again after the write had been answered
  };

  struct Accepted {
    uint64_t exchange = 0;
    std::string url;  // of its operation
  };

  // What a write asks for, by whom, at whatever api-version.
  struct Want {
    std::string client;
    std::string what;
    auto operator<=>(const Want&) const = default;
  };

  // What armgate itself saw last.
  struct Look {
    TimePoint at{};
    uint64_t serial = 0;
  };

  enum class Late { No, Yes };  // whether ARM carried it out only after it had been given up

  void law_broken(Law law, std::string what);
  static uint64_t exchange_of(const arm::Request& request);
  static bool is_armgates(const arm::Response& answer);  // armgate made it itself
  static bool is_the_same(const arm::Response& answer, const arm::Response& arms);
  static bool is_armgate_field(const arm::Field& field);
  // checkers_order.cc
  void reserve_position(Record& record, const Report& report);
  void redeem_reservation(Record& record);
  uint64_t place_of(const Record& record) const;
  bool waits_for_own(const Record& record) const;
  bool goes_on_for_its_own(const Record& record) const;
  void check_order(const Record& record);
  // checkers.cc
  const Record* sending_of(const Record& record) const;
  bool answers_an_undelivered(const Record& record, const arm::Response& answer) const;
  void check_unaltered(const Record& record, const SimLink& link);
  // checkers_once.cc
  void check_once(const Record& record);
  void check_breaker(const Record& record, const arm::Response* answer);
  void check_repeated(const Record& record);
  bool may_be_told_again(const Record& record, const arm::Response& answer) const;
  // checkers_sending.cc
  void check_read(const Record& record);
  void check_proof(const Record& record, const arm::Request& request);
  void check_alone(const Record& record);
  std::string etag_of(const std::string& target);
  bool exists(const std::string& target);
  bool runs_unseen(const Record& running);
  void check_pair(const Record& running, const Record& next, std::string_view how);
  void check_base(const Record& record, const arm::Request& request);
  void check_merged(const Record& record, const arm::Request& request);
  bool still_runs(const Accepted& write);
  bool made_by_its_own_undelivered(const Record& record);
  bool goes_along(const Record& running, const Record& next) const;
  bool exclude_each_other(const Record& one, const Record& other) const;
  // checkers_away.cc
  bool goes_unrecorded(const Record& record, const arm::Request& request);
  void note_unrecorded(const Record& record);
  // checkers_owned.cc
  void note_owned(const Record& record, const arm::Response& answer);
  bool is_owned_poll(const Record& record) const;
  void check_owned_poll(const Record& record, const arm::Response& answer);
  // checkers_observe.cc
  void check_untouched(const Record& record, const arm::Request& request);
  void check_own_answer(const Record& record, const SimLink& link);
  // checkers_harm.cc
  void harmed(const Record& record, std::string_view if_match, std::string what);
  bool spans_lives(const Record& record, std::string_view if_match) const;
  bool given_back_unseen(const Record& record) const;
  TimePoint began_to_look(const Record& record) const;
  bool taken_over_lives(const Record& record) const;
  bool insists(const Record& record, std::string_view if_match) const;
  bool comes_back_too_late(const Record& record) const;
  bool overtaken_around(const Record& record, std::string_view if_match) const;
  const char* excuse_of(const Record& record, std::string_view if_match, Late late) const;
  void weigh(const Record& record, std::string_view if_match, Late late);
  void hear_judge(const sim::Report& report);
  bool agrees_with_what_is_there(const arm::Request& request) const;
  bool changed_places(const std::string& write_id);

  SimClock& clock_;
  sim::SimArm& arm_;
  Rules rules_;
  Trace& trace_;
  const Promised promised_;
  uint64_t life_ = 1;
  TimePoint life_began_{};
  std::map<uint64_t, Record> records_;
  std::unordered_map<std::string, std::vector<Record*>> by_bytes_;  // the same, by Record::same_bytes
  std::set<uint64_t> in_flight_;                                    // writes that are on their way
  std::set<const arm::Request*> of_this_life_;                      // all requests that are, of the present life of armgate
  std::map<std::string, std::vector<uint64_t>> queues_;  // lock key -> exchanges in the pipeline, in order of arrival
  std::vector<Accepted> accepted_;                       // writes whose operation may still run
  std::map<std::string, uint64_t> owned_;                // path of an operation URL of armgate's own -> the write's exchange
  std::set<uint64_t> told_ended_;                        // writes whose clients were told there how they ended
  std::map<uint64_t, std::string> newest_operation_;     // of a write that ARM took: the URL of its newest sending's operation
  std::map<std::string, TimePoint> from_earlier_lives_;  // entity -> when a write of an earlier life last took effect
  std::map<std::string, uint64_t> created_by_;           // entity -> the exchange that last created it
  std::map<std::string, TimePoint> deleted_;             // entity -> when it was last deleted
  std::map<std::string, Look> looks_;                    // by key of the simulated ARM
  std::set<std::string> clients_;                        // who ever sent a request through armgate
  std::map<std::pair<std::string, std::string>, int>
      refusals_;                               // (name, entity) -> in a row, or just before its last accepted write
  std::map<uint64_t, Unrecorded> unrecorded_;  // by exchange
  std::set<std::string> names_carried_out_;
  std::set<std::string> accepted_ids_;
  std::map<std::string, Want> wanted_by_id_;      // by write id
  std::set<Want> accepted_wants_;                 // a second write of one client may find its first one's effect
  std::set<std::string> changed_places_;          // write ids whose effect stands for another write's acknowledgement
  std::map<std::string, bool> acknowledged_ids_;  // with whether its base was read in an earlier life
  sim::Report before_;                            // the harms until now
  sim::Report forgiven_;                          // those of them that are excused
  size_t findings_heard_ = 0;
  uint64_t last_place_ = 0;
  bool rules_replaced_ = false;  // in this life: then keys come and go with the rules that drain
  std::vector<Violation> violations_;
  std::map<std::string, uint64_t> excused_;
  LivenessChecker liveness_;
  SickChecker sick_;
  BudgetChecker budgets_;
  std::map<Law, uint64_t> laws_broken_;
};

}  // namespace armgate::world
