#include "sim/demo/race.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "json/tree.h"
#include "proxy/async/spawn.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;

const std::string kSubscription = "/subscriptions/11111111-1111-1111-1111-111111111111";
const std::string kSharedGroup = kSubscription + "/resourceGroups/shared";
const std::string kScaleSets = kSharedGroup + "/providers/Microsoft.Compute/virtualMachineScaleSets/";
const std::string kNetworking = kSharedGroup + "/providers/Microsoft.Network/";

enum class Work { Tags, Rules, Subnets, Group, FireAndForget, Restart };

struct Part {
  const char* name;
  Work work;
  OnConflict on_conflict;
  int writes;
};

constexpr Part kParts[] = {
    {"pipeline-a", Work::Tags, OnConflict::Fail, 4},
    {"pipeline-b", Work::Tags, OnConflict::Fail, 4},
    {"autoscaler", Work::Tags, OnConflict::SendSameAgain, 4},
    {"firewall-team", Work::Rules, OnConflict::Fail, 4},
    {"security-scan", Work::Rules, OnConflict::SendSameAgain, 4},
    {"compliance", Work::Rules, OnConflict::Fail, 4},
    {"cluster-east", Work::Subnets, OnConflict::Fail, 3},
    {"cluster-west", Work::Subnets, OnConflict::Fail, 3},
    {"cluster-test", Work::Subnets, OnConflict::Fail, 3},
    {"preview-one", Work::Group, OnConflict::Fail, 2},
    {"preview-two", Work::Group, OnConflict::Fail, 2},
    {"nightly", Work::FireAndForget, OnConflict::Fail, 3},
    {"patching", Work::FireAndForget, OnConflict::Fail, 3},
    {"operator", Work::Restart, OnConflict::Fail, 3},
};

void add_tag_and_machine(Json& body, const std::string& member) {
  body["tags"][member] = "1";
  body["sku"]["capacity"] = body["sku"].value("capacity", 0) + 1;
}

void add_rule(Json& body, const std::string& member) {
  body["properties"]["securityRules"].push_back({{"name", member}, {"properties", {{"access", "Deny"}}}});
}

// Owns its client: a race that is given up destroys both together.
Task<void> run_part(std::shared_ptr<DemoClient> client, Part part) {
  switch (part.work) {
    case Work::Tags:
      co_await client->add_members(kScaleSets + "web", add_tag_and_machine, "/sku/capacity:1", part.writes);
      break;
    case Work::Rules:
      co_await client->add_members(kNetworking + "networkSecurityGroups/edge", add_rule, "", part.writes);
      break;
    case Work::Subnets: co_await client->create_subnets(kNetworking + "virtualNetworks/hub", part.writes); break;
    case Work::Group: co_await client->create_group_and_network(kSubscription); break;
    case Work::FireAndForget:
      co_await client->repeat_action(kScaleSets + "batch", "reimage", DemoClient::Wait::No, part.writes);
      break;
    case Work::Restart:
      co_await client->repeat_action(kScaleSets + "api", "restart", DemoClient::Wait::ForOperation, part.writes);
      break;
  }
}

Task<Result<arm::Response>> control(DemoLink& link, std::string_view method, std::string target, std::string body) {
  arm::Request request;
  request.head.method = arm::method_of(method);
  request.head.method_token = method;
  request.head.target = std::move(target);
  request.head.fields.add("x-sim-operation-ms", "0");
  request.body = std::move(body);
  co_return co_await link.send(request);
}

// The shared resources exist and are in a final state; the answers to the first two restarts will be dropped after they ran.
Task<Result<void>> prepare(DemoLink& link, Clock& clock) {
  struct Step {
    const char* method;
    std::string path;
    const char* body;
  };
  constexpr const char* kPlace = R"({"location":"westeurope"})";
  constexpr const char* kMachines = R"({"location":"westeurope","tags":{},"sku":{"name":"Standard_D2s_v5","capacity":1}})";
  const std::string version = "?api-version=2025-04-01";
  const std::vector<Step> steps{
      {"POST", "/__sim/reset", ""},
      {"PUT", kSharedGroup + version, kPlace},
      {"PUT", kScaleSets + "web" + version, kMachines},
      {"PUT", kScaleSets + "batch" + version, kMachines},
      {"PUT", kScaleSets + "api" + version, kMachines},
      {"PUT", kNetworking + "networkSecurityGroups/edge" + version, kPlace},
      {"PUT", kNetworking + "virtualNetworks/hub" + version, kPlace},
      {"POST", "/__sim/faults", R"({"faults":[{"method":"POST","path":"/restart","kind":"drop-after","times":2}]})"},
  };
  for (const Step& step : steps) {
    Result<arm::Response> answer = co_await control(link, step.method, step.path, step.body);
    // The shared group, too, is unknown to providers at first.
    for (int tries = 0; tries < 50 && answer && answer->head.status == 404; ++tries) {
      co_await clock.sleep_for(std::chrono::milliseconds(100));
      answer = co_await control(link, step.method, step.path, step.body);
    }
    if (!answer) co_return std::move(answer).error();
    if (!arm::is_success(answer->head.status)) {
      co_return gateway_error(ErrorKind::Internal, fmt::format("The simulated ARM answered {} to {} {}.", answer->head.status,
                                                               step.method, step.path));
    }
  }
  co_return Result<void>();
}

Report read_report(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  Report report;
  if (!json.is_object()) return report;
  report.lost_updates = json.value("lost_updates", uint64_t{0});
  report.lost_increments = json.value("lost_increments", uint64_t{0});
  report.overlaps_attempted = json.value("overlaps_attempted", uint64_t{0});
  report.overlaps_accepted = json.value("overlaps_accepted", uint64_t{0});
  report.applied_twice = json.value("applied_twice", uint64_t{0});
  report.findings = json.value("findings", std::vector<std::string>{});
  return report;
}

}  // namespace

std::vector<std::string> demo_client_names() {
  std::vector<std::string> names;
  for (const Part& part : kParts) names.emplace_back(part.name);
  return names;
}

Task<Result<RaceResult>> run_race(Executor executor, Clock& clock, Route straight, Route route, Duration most,
                                  ShowProgress show) {
  DemoLink judge(executor, straight, "judge");
  Result<void> prepared = co_await prepare(judge, clock);
  if (!prepared) co_return std::move(prepared).error();
  const auto tally = std::make_shared<Tally>();
  const TimePoint start = clock.now();
  uint64_t seed = 1;
  for (const Part& part : kParts) {
    auto client = std::make_shared<DemoClient>(executor, clock, route, part.name, ++seed, part.on_conflict, tally);
    tally->planned += part.writes;
    ++tally->clients_left;
    spawn(executor, run_part(std::move(client), part));
  }
  while (tally->clients_left > 0) {
    co_await clock.sleep_for(std::chrono::milliseconds(100));
    show(*tally, clock.now() - start);
    if (clock.now() - start > most) {
      co_return gateway_error(ErrorKind::TimedOut,
                              fmt::format("The race was not over after {} s.", whole_milliseconds(most) / 1000));
    }
  }
  RaceResult result;
  result.lasted = clock.now() - start;
  Result<arm::Response> report = co_await control(judge, "GET", "/__sim/report", {});
  if (!report) co_return std::move(report).error();
  result.tally = *tally;
  result.report = read_report(report->body);
  co_return result;
}

}  // namespace armgate::sim
