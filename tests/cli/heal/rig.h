// rig.h – a run against the simulated ARM, under virtual time: what it sends is kept, and it can be ended at any request.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/heal/journal.h"
#include "cli/heal/look.h"
#include "cli/heal/runbook.h"
#include "cli/heal/runs.h"
#include "json/tree.h"
#include "sim/sim_arm.h"
#include "tests/sim/sim_requests.h"
#include "tests/support/temporary_directory.h"

namespace armgate::heal {

inline const std::string kClusterId =
    "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.ContainerService/managedClusters/c1";
inline const std::string kPoolId = kClusterId + "/agentPools/system";
inline constexpr int64_t kStart = 1'767'225'600;  // 2026-01-01

// Ends a run where it stands, as kill -9 does.
struct Killed {};

enum class Moment { BeforeSending, AfterSending, AfterTheAnswer };

class Rig {
 public:
  explicit Rig(sim::SimOptions options = sim_options()) : arm_(std::move(options), 7) {
    ask("PUT", "/subscriptions/s1/resourceGroups/g1", R"({"location":"westeurope"})");
    ask("PUT", kClusterId,
        R"({"location":"westeurope","tags":{"team":"a"},"properties":{"nodeResourceGroup":"MC_g1",
        "currentKubernetesVersion":"1.30.4","agentPoolProfiles":[)" +
            pool() + R"(,{"name":"work","mode":"User","count":2,"vmSize":"Standard_D4s_v5"}]}})");
    pass(std::chrono::minutes(5));
  }

  static sim::SimOptions sim_options() {
    sim::SimOptions options;
    options.operation = std::chrono::minutes(2);
    return options;
  }
  static std::string pool() {
    return R"({"name":"system","mode":"System","count":3,"vmSize":"Standard_D2s_v5","osDiskSizeGB":128,
        "vnetSubnetID":"/subscriptions/s1/resourceGroups/n/providers/Microsoft.Network/virtualNetworks/v/subnets/a",
        "nodeLabels":{"zone":"one"},"nodeTaints":["CriticalAddonsOnly=true:NoSchedule"],"availabilityZones":["1","2"],
        "tags":{"owner":"ops","aks-managed-x":"1"},"currentOrchestratorVersion":"1.30.4","nodeImageVersion":"AKSUbuntu-1"})";
  }

  void wedge(nlohmann::json more = nlohmann::json::object()) {
    nlohmann::json body{{"cluster", kClusterId}, {"pool", "system"}, {"now", kStart + seconds_passed()}};
    body.update(more);
    ask("POST", "/__sim/wedges", body.dump());
  }
  arm::Response ask(std::string_view method, const std::string& path, const std::string& body = "") {
    const std::string target =
        path.find('?') == path.npos && !path.starts_with("/__sim/") ? path + "?api-version=2025-10-01" : path;
    return arm_.handle(sim::make_request(method, target, body), now_).response;
  }
  void pass(Duration duration) {
    now_ += duration;
    arm_.advance(now_);
  }
  std::string state(const std::string& path) {
    return nlohmann::json::parse(ask("GET", path).body)
        .value(nlohmann::json::json_pointer("/properties/provisioningState"), "absent");
  }

  // What a run works with.
  World world() {
    World outside{
        .send = [this](const Write& write) { return send(write); },
        .now = [this] { return now_; },
        .wall = [this] { return WallTime(std::chrono::seconds(kStart + seconds_passed())); },
        .pause =
            [this](Duration duration) {
              pass(duration);
              if (on_pause) on_pause();
            },
        .interrupted = [this] { return interrupted; },
        .lease_held = [this]() -> Result<bool> { return lease_held; },
        .print =
            [this](const Told& told) { told_.push_back(fmt::format("{} {} {}", to_text(told.phase), told.event, told.text)); }};
    outside.behind_age = [this] { return behind_age; };
    if (nodes) outside.nodes = [this](const std::string& pool) { return ask_kubectl("get nodes", nodes, pool); };
    if (drain) outside.drain = [this](const std::string& pool) { return ask_kubectl("drain", drain, pool); };
    return outside;
  }
  Target target() const {
    Target target = *target_of(kClusterId, "system");
    target.api_version = api_version;
    return target;
  }

  Result<Inspection> look(const GuardOptions& options = {}) {
    const World outside = world();
    return inspect(outside, target(), options, {kPoolId, "run-1", 0});
  }
  // A new run as the command makes it, or the one that was ended in the middle.
  Ending run(const RunOptions& options = {}) {
    const World outside = world();
    const auto found = find_runs(directory.path());
    if (!found.empty() && found.back().progress.is_open()) {
      Journal journal = *Journal::resume(directory.path(), found.back().id);
      return Runbook(outside, journal, options).carry_on(std::nullopt);
    }
    const auto inspected = inspect(outside, target(), options.guards, {kPoolId, "run-1", options.stand_in_count});
    if (!inspected) return {Ending::Kind::Refused, inspected.error().context};
    if (const Guard* objection = first_objection(inspected->guards)) {
      return {objection->says == Guard::Says::Refuse ? Ending::Kind::Refused : Ending::Kind::NothingToDo, objection->why};
    }
    Journal journal = *Journal::begin(directory.path(), fmt::format("run-{}", found.size() + 1), target(), outside.wall());
    return Runbook(outside, journal, options).carry_on(*inspected);
  }
  // Ctrl-C comes after so many writes.
  Ending run_until_interrupted_after(size_t count) {
    on_pause = [this, count] {
      if (taken().size() == count) interrupted = Interrupted::AtTheStepsEnd;
    };
    Ending ending = run();
    on_pause = nullptr;
    interrupted = Interrupted::No;
    return ending;
  }
  Ending undo() {
    const World outside = world();
    Journal journal = *Journal::resume(directory.path(), find_runs(directory.path()).back().id);
    return Runbook(outside, journal, {}).undo();
  }

  // Writes that ARM took: "PUT agentPools/system 201".
  std::vector<std::string> taken() const {
    std::vector<std::string> found;
    for (const auto& [what, status] : writes) {
      if (status < 300) found.push_back(what);
    }
    return found;
  }
  bool was_told(std::string_view part) const {
    return std::any_of(told_.begin(), told_.end(), [&](const std::string& text) { return text.find(part) != text.npos; });
  }

  const TemporaryDirectory directory;
  std::string api_version = "2025-10-01";
  std::vector<std::pair<std::string, int>> writes;                    // that reached ARM, with its status
  std::vector<Write> sent;                                            // all requests, reads and kubectl's among them
  std::optional<std::pair<size_t, Moment>> kill_at;                   // the number of the request, from 0
  std::function<std::optional<Result<Reply>>(const Write&)> instead;  // an answer of the test's own
  std::function<std::optional<Result<Reply>>(const Write&)> after;    // the same, in place of an answer that ARM has given
  std::function<void()> on_pause;
  Interrupted interrupted = Interrupted::No;
  bool lease_held = true;
  std::optional<Duration> behind_age;  // of what the lease waits for
  std::function<Result<NodeCount>(const std::string& pool)> nodes;
  std::function<Result<std::string>(const std::string& pool)> drain;

 private:
  int64_t seconds_passed() const { return std::chrono::duration_cast<std::chrono::seconds>(now_.time_since_epoch()).count(); }

  // Begins a request. The result says whether the run is to die at a moment of it.
  std::function<bool(Moment)> begin(const Write& write) {
    const size_t number = sent.size();
    sent.push_back(write);
    return [this, number](Moment moment) { return kill_at && kill_at->first == number && kill_at->second == moment; };
  }

  // A command that asks Kubernetes is a request as well.
  template <class Told>
  Result<Told> ask_kubectl(const char* what, const std::function<Result<Told>(const std::string&)>& command,
                           const std::string& pool) {
    const auto dies = begin({arm::Method::Get, fmt::format("kubectl {} {}", what, pool)});
    if (dies(Moment::BeforeSending)) throw Killed();
    auto answer = command(pool);
    if (dies(Moment::AfterSending) || dies(Moment::AfterTheAnswer)) throw Killed();
    return answer;
  }

  Result<Reply> send(const Write& write) {
    const auto dies = begin(write);
    if (dies(Moment::BeforeSending)) throw Killed();
    if (instead) {
      if (auto own = instead(write)) return *std::move(own);
    }
    arm::Headers fields;
    if (!write.if_match.empty()) fields.add("If-Match", write.if_match);
    if (!write.if_none_match.empty()) fields.add("If-None-Match", write.if_none_match);
    const auto answer =
        arm_.handle(sim::make_request(arm::to_text(write.method), write.target, write.body, std::move(fields)), now_).response;
    if (write.method != arm::Method::Get) {
      const std::string path = write.target.substr(0, write.target.find('?'));
      writes.emplace_back(fmt::format("{} {}", arm::to_text(write.method), path.substr(kClusterId.size())), answer.head.status);
    }
    if (dies(Moment::AfterSending)) throw Killed();
    if (after) {
      if (auto own = after(write)) return *std::move(own);
    }
    const std::string operation(answer.head.fields.get("Azure-AsyncOperation"));
    Reply reply{answer.head.status, answer.body, {}, operation.empty() ? "" : operation.substr(operation.find('/', 8))};
    if (dies(Moment::AfterTheAnswer)) throw Killed();
    return reply;
  }

  sim::SimArm arm_;
  TimePoint now_{std::chrono::seconds(1)};
  std::vector<std::string> told_;
};

// The writes of a whole run, in the runbook's order.
inline const std::string kStandIn = target_of(kClusterId, "system")->stand_in();
inline const std::vector<std::string> kGolden = {
    "POST /abort",
    "PUT /agentPools/" + kStandIn,
    "DELETE /agentPools/system",
    "PUT /agentPools/system",
    "DELETE /agentPools/" + kStandIn,
    "PATCH /providers/Microsoft.Resources/tags/default",
};

inline void expect_healed(Rig& rig) {
  EXPECT_EQ(rig.state(kClusterId), "Succeeded");
  EXPECT_EQ(rig.state(kPoolId), "Succeeded");
  EXPECT_EQ(rig.ask("GET", kClusterId + "/agentPools/" + kStandIn).head.status, 404);
  const nlohmann::json pool = nlohmann::json::parse(rig.ask("GET", kPoolId).body)["properties"];
  EXPECT_EQ(pool["count"], 3);
  EXPECT_EQ(pool["nodeLabels"], nlohmann::json({{"zone", "one"}}));
  EXPECT_EQ(pool["nodeTaints"], nlohmann::json({"CriticalAddonsOnly=true:NoSchedule"}));
  EXPECT_EQ(pool["tags"], nlohmann::json({{"owner", "ops"}}));
  EXPECT_EQ(pool["mode"], "System");
  EXPECT_EQ(pool["orchestratorVersion"], "1.30.4");
  EXPECT_EQ(rig.state(kClusterId + "/agentPools/work"), "Succeeded");
}

}  // namespace armgate::heal
