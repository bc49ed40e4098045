// stage_rig.h – the pipeline between a client and an ARM that both follow a script: one behaviour per test.
//
// The upstream answers from a list, in order, and keeps what it was sent; time is virtual. For races use SimWorld.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/request/parts.h"
#include "proxy/request/pipeline.h"
#include "proxy/state/memory_store.h"
#include "tests/support/world/sim_clock.h"
#include "tests/support/world/sim_journal.h"
#include "tests/support/world/sim_link.h"

namespace armgate::world {

// What the scripted ARM does next.
struct Step {
  std::string expected;  // "GET /path": the method and the start of the target
  int status = 200;
  arm::Headers fields;
  std::string body;
  std::optional<Error> failure;     // instead of an answer
  std::optional<size_t> breaks_at;  // so much of the body arrives, then the connection breaks
  Duration takes{};                 // before it answers
  size_t piece_bytes = SIZE_MAX;    // how much of the body arrives at a time
  bool chunked = false;             // its length is known with its last piece
};

class ScriptedUpstream final : public Upstream {
 public:
  explicit ScriptedUpstream(SimClock& clock) : clock_(clock) {}

  Task<Result<UpstreamAnswer>> send(const arm::Request& request, SendLimits limits) override;

  std::deque<Step> steps;
  std::function<Step(const arm::Request&)> otherwise;  // answers when the script is over
  std::vector<arm::Request> seen;
  Duration connects{};  // how long each sending waits in line for a connection

 private:
  Task<bool> wait_for_connection(const SendLimits& limits);  // false: it left the line

  Task<bool> wait_for_answer(Duration takes, const SendLimits& limits);  // false: nobody awaits it any more

  SimClock& clock_;
};

// An exchange of `client`, whose request has just begun to arrive.
void begin_exchange(Exchange& exchange, const std::string& client, std::string_view method_and_target, std::string body,
                    arm::Headers fields, Moment arrived);

// The rules that come with armgate, each as `change` makes it.
std::shared_ptr<const rules::Ruleset> shipped_ruleset(const std::function<void(rules::Rule&)>& change = {});

// How the connection ended after an answer.
enum class Arrived { Confirmed, Unknown };

class StageRig {
 public:
  explicit StageRig(PipelineOptions options = default_options(), Budgets::Options budgets = {});
  // A process that keeps `journal`, and begins with taking up what it finds there.
  explicit StageRig(SimJournal& journal, PipelineOptions options = default_options());

  // What a process finds in the journal of one that died; under the rules of now.
  void take_up(const SimJournal& journal);

  static PipelineOptions default_options();

  // Adds to ARM's script.
  void arm(std::string expected, int status, arm::Headers fields = {}, std::string body = {});
  void arm_takes(Duration duration, std::string expected, int status, arm::Headers fields = {}, std::string body = {});
  void arm_fails(std::string expected, Sent sent);
  void arm_breaks_off(std::string expected, int status, std::string body, size_t arrives, arm::Headers fields = {});
  void connections_take(Duration duration) { upstream_.connects = duration; }
  // For stories too long for a script: what ARM does after it.
  void arm_lives(std::function<Step(const arm::Request&)> answer) { upstream_.otherwise = std::move(answer); }

  // One request, served to its end.
  arm::Response ask(const std::string& client, std::string_view method_and_target, std::string body = {},
                    arm::Headers fields = {}, Arrived arrived = Arrived::Confirmed);

  // A request that runs while the test goes on.
  struct Running {
    std::unique_ptr<SimLink> link;
    bool done = false;
    Receipt receipt;
  };
  std::shared_ptr<Running> start(const std::string& client, std::string_view method_and_target, std::string body = {},
                                 arm::Headers fields = {});
  void run_until(const std::function<bool()>& condition);
  // Lets time pass, and what is due in it happen.
  void pass(Duration duration);

  const std::vector<arm::Request>& seen() const { return upstream_.seen; }
  std::string_view sent_field(size_t index, std::string_view name) const;
  bool script_is_done() const { return upstream_.steps.empty(); }
  SharedState& shared() { return shared_; }
  const Parts& parts() const { return parts_; }
  TimePoint now() const { return clock_.now(); }
  // For what arrives from now on, with the same rules.
  void set_mode(rules::Mode mode);
  // For what arrives from now on: the shipped rules, each as `change` makes it.
  void change_rules(const std::function<void(rules::Rule&)>& change);
  const std::vector<std::string>& loud() const { return loud_; }
  const std::vector<ObserveFinding>& finding() const { return findings_; }

 private:
  StageRig(PipelineOptions options, const Budgets::Options& budgets, std::unique_ptr<Store> store);
  static Task<void> serve(Pipeline& pipeline, std::shared_ptr<Running> running);

  boost::asio::io_context loop_{1};
  SimClock clock_;
  ScriptedUpstream upstream_;
  SharedState shared_;
  const std::unique_ptr<Store> store_;
  NoFaults faults_;
  Rng rng_{1};
  std::vector<std::string> loud_;
  std::vector<ObserveFinding> findings_;
  Parts parts_;
  Pipeline pipeline_;
  uint64_t connections_ = 0;
};

// In which a stale write is refused, whatever it changes.
inline PipelineOptions unmerged() {
  auto options = StageRig::default_options();
  options.merge = rules::Merging::Off;
  return options;
}

// In which the client "jvm" has several actors.
inline StageRig many_actors() {
  auto options = StageRig::default_options();
  options.clients["jvm"].actors = policy::Actors::Many;
  return StageRig(options);
}

// A scale set, a network and a subnet of the shipped rules' types, with api-versions that have ETags.
inline constexpr std::string_view kGroup = "/subscriptions/s/resourceGroups/g?api-version=2021-04-01";
inline constexpr std::string_view kScaleSet =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v?api-version=2024-07-01";
inline constexpr std::string_view kRestart =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v/restart?api-version=2024-07-01";
inline constexpr std::string_view kNetwork =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n?api-version=2023-09-01";
inline constexpr std::string_view kSubnet =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n/subnets/a?api-version=2023-09-01";

inline std::string get(std::string_view target) { return "GET " + std::string(target); }
inline std::string put(std::string_view target) { return "PUT " + std::string(target); }
inline std::string patch(std::string_view target) { return "PATCH " + std::string(target); }
inline std::string post(std::string_view target) { return "POST " + std::string(target); }
inline arm::Headers etag(std::string value) { return {{"ETag", std::move(value)}}; }
inline bool says(const arm::Response& answer, std::string_view text) { return answer.body.find(text) != std::string::npos; }

}  // namespace armgate::world
