#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "tests/gate_sim/workloads/cast.h"
#include "tests/gate_sim/workloads/scenario.h"

namespace armgate::world {
namespace {

void keep_default(WorldOptions&) {}

// Of actors that share a name some hurt each other where neither their bodies nor their ids tell them apart.
void count_harms(WorldOptions& options) { options.harms = Harms::Counted; }

Subject tags(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::AddTag);
  prepare(world, subject);
  start_writers(world, subject, Writing{}, 4);
  return subject;
}

Subject counters(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::CountInTag);
  prepare(world, subject);
  start_writers(world, subject, Writing{}, 4);
  return subject;
}

Subject capacity(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::RaiseCapacity);
  prepare(world, subject);
  start_writers(world, subject, Writing{}, 3);
  return subject;
}

Subject rules_of_group(SimWorld& world) {
  Subject subject = security_group("nsg", ChangeKind::AddRule);
  prepare(world, subject);
  start_writers(world, subject, Writing{}, 4);
  return subject;
}

// Whole networks from readers, subnets on their own from others.
Subject subnets(SimWorld& world) {
  Subject subject = network("vnet", ChangeKind::AddSubnet);
  prepare(world, subject);
  start_writers(world, subject, Writing{}, 2);
  for (int i = 0; i < 2; ++i) {
    const std::string name = fmt::format("children{}", i);
    world.add_client(name, put_children(client_of(world, name, name, any_tool(world)), "vnet", 3));
  }
  return subject;
}

Subject create_race(SimWorld& world) {
  prepare(world, virtual_machine("other"));
  Subject subject = world.rng().chance(0.5) ? virtual_machine("raced") : security_group("raced", ChangeKind::AddRule);
  for (int i = 0; i < 5; ++i) {
    const std::string name = fmt::format("racer{}", i);
    world.add_client(name, create_or_change(client_of(world, name, name, any_tool(world)), subject));
  }
  return subject;
}

Subject create_delete(SimWorld& world) {
  prepare(world, virtual_machine("other"));
  Subject subject = virtual_machine("machine");
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("cycler{}", i);
    world.add_client(name, create_and_delete(client_of(world, name, name, any_tool(world)), subject, 3));
  }
  return subject;
}

// Nobody polls: only armgate learns when a write is over.
Subject fire_and_forget(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::AddTag);
  prepare(world, subject);
  for (int i = 0; i < 4; ++i) {
    const std::string name = fmt::format("writer{}", i);
    Habits habits = any_tool(world);
    habits.polls = Habits::Polls::Never;
    world.add_client(name, change_repeatedly(client_of(world, name, name, habits), subject, Writing{}));
  }
  return subject;
}

Subject list_then_write(SimWorld& world) {
  Subject subject = security_group("nsg", ChangeKind::AddRule);
  prepare(world, security_group("neighbour", ChangeKind::AddRule));
  prepare(world, subject);
  Writing writing;
  writing.reads = ReadsBy::List;
  start_writers(world, subject, writing, 3);
  return subject;
}

// Each builds its next write on the answer to its last.
Subject chains(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::AddTag);
  prepare(world, subject);
  Writing writing;
  writing.reads = ReadsBy::OwnAnswer;
  writing.writes = 4;
  start_writers(world, subject, writing, 3);
  return subject;
}

// Many actors behind one name, on connections of their own.
Subject shared_identity(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::AddTag);
  prepare(world, subject);
  for (int i = 0; i < 4; ++i) {
    const std::string name = fmt::format("actor{}", i);
    Writing writing;
    writing.reads = world.rng().chance(0.3) ? ReadsBy::OwnAnswer : ReadsBy::Point;
    world.add_client(name, change_repeatedly(client_of(world, name, "jvm", any_tool(world)), subject, writing));
  }
  return subject;
}

void declare_single(WorldOptions& options) {
  for (int i = 0; i < 4; ++i) options.kinds[fmt::format("writer{}", i)] = ClientKind::Single;
}

Subject single_actors(SimWorld& world) {
  Subject subject = network("vnet", ChangeKind::AddSubnet);
  prepare(world, subject);
  Writing writing;
  writing.reads = world.rng().chance(0.5) ? ReadsBy::OwnAnswer : ReadsBy::Point;
  start_writers(world, subject, writing, 4);
  return subject;
}

Subject restarts(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::AddTag);
  prepare(world, subject);
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("restarter{}", i);
    world.add_client(name, restart_repeatedly(client_of(world, name, name, any_tool(world)), subject, 4));
  }
  start_writers(world, subject, Writing{}, 1);
  return subject;
}

void long_operations(WorldOptions& options) { options.arm.operation = std::chrono::seconds(45); }

Subject readers_beside_writers(SimWorld& world) {
  Subject subject = network("vnet", ChangeKind::AddSubnet);
  prepare(world, subject);
  start_writers(world, subject, Writing{.writes = 2}, 3);
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("reader{}", i);
    world.add_client(name, read_repeatedly(client_of(world, name, name, any_tool(world)), subject, 25));
  }
  return subject;
}

// Operations that ARM accepts and that then fail: what they had changed goes back.
Subject failing_operations(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::AddTag);
  prepare(world, subject);
  Writing writing;
  writing.operation_failures_in_hundred = 30;
  start_writers(world, subject, writing, 3);
  return subject;
}

// Most operations fail, and the rule keeps writes away then; somebody deletes it, and makes it again.
void break_often(WorldOptions& options) {
  options.results.failures = 3;
  for (rules::Rule& rule : options.rules) {
    const auto& types = rule.match.types;
    if (std::find(types.begin(), types.end(), "microsoft.compute/virtualmachinescalesets") == types.end()) continue;
    rule.breaker = {rules::Mode::Protect, std::chrono::seconds(10)};
  }
}

Subject sick_set(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::AddTag);
  prepare(world, subject);
  Writing writing;
  writing.operation_failures_in_hundred = 75;
  start_writers(world, subject, writing, 3);
  world.add_client("cycler", create_and_delete(client_of(world, "cycler", "cycler", any_tool(world)), subject, 4));
  world.add_client("cleaner", delete_sometimes(client_of(world, "cleaner", "cleaner", any_tool(world)), subject, 3));
  return subject;
}

// Controllers that learn nothing from failures, and somebody who writes now and then.
Subject sick_controllers(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::AddTag);
  prepare(world, subject);
  for (const std::string name : {"first", "second"})
    world.add_client(name, patch_stubbornly(client_of(world, name, name, any_tool(world)), subject, 12, 90));
  Writing writing;
  writing.writes = 2;
  writing.operation_failures_in_hundred = 50;
  start_writers(world, subject, writing, 1);
  return subject;
}

// Operations that fail after ARM has taken their writes, most of them for a passing reason and without an effect: those go again
// behind a URL of armgate's own.
void send_again_late(WorldOptions& options) {
  for (rules::Rule& rule : options.rules) {
    const auto& types = rule.match.types;
    if (std::find(types.begin(), types.end(), "microsoft.compute/virtualmachinescalesets") == types.end()) continue;
    rule.late.backoff = {std::chrono::seconds(1), 2.0, std::chrono::seconds(5), 4, std::chrono::minutes(10)};
    rule.late.polled_within = std::chrono::seconds(30);
  }
}

Subject fail_later(SimWorld& world, Subject subject) {
  prepare(world, subject);
  arm::Request script;
  script.head.method = arm::Method::Post;
  script.head.method_token = "POST";
  script.head.target = "/__sim/faults";
  script.body =
      R"({"faults":[{"method":"PUT","path":"virtualMachineScaleSets","kind":"fail-later-AnotherOperationInProgress","chance":0.4},
    {"method":"PUT","path":"virtualMachineScaleSets","kind":"fail-partly-AnotherOperationInProgress","chance":0.1},
    {"method":"PUT","path":"virtualMachineScaleSets","kind":"fail-later-OperationPreempted","chance":0.1},
    {"method":"PUT","path":"virtualMachineScaleSets","kind":"fail-later-QuotaExceeded","chance":0.05}]})";
  GATE_CHECK(world.arm().handle(script, world.clock().now()).response.head.status == 204, "the fault script is wrong");
  start_writers(world, subject, Writing{}, 3);
  return subject;
}

Subject late_failures(SimWorld& world) { return fail_later(world, scale_set("set", ChangeKind::AddTag)); }

// What failed may be what another has asked for as well: both count from 2 to 3.
Subject late_counters(SimWorld& world) {
  const bool in_tag = world.rng().chance(0.5);
  return fail_later(world, scale_set("set", in_tag ? ChangeKind::CountInTag : ChangeKind::RaiseCapacity));
}

std::vector<Workload> with_others(std::vector<Workload> all) {
  all.insert(all.end(), crowded_workloads().begin(), crowded_workloads().end());
  all.insert(all.end(), hidden_workloads().begin(), hidden_workloads().end());
  all.insert(all.end(), merging_workloads().begin(), merging_workloads().end());
  all.insert(all.end(), liveness_workloads().begin(), liveness_workloads().end());
  all.insert(all.end(), budget_workloads().begin(), budget_workloads().end());
  return all;
}

}  // namespace

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = with_others({
      {"tags", keep_default, tags},
      {"counters", keep_default, counters},
      {"capacity", keep_default, capacity},
      {"security-rules", keep_default, rules_of_group},
      {"subnets", keep_default, subnets},
      {"create-race", keep_default, create_race},
      {"create-delete", keep_default, create_delete},
      {"fire-and-forget", keep_default, fire_and_forget},
      {"list-then-write", keep_default, list_then_write},
      {"chains", keep_default, chains},
      {"shared-identity", count_harms, shared_identity},
      {"single-actors", declare_single, single_actors},
      {"restarts", keep_default, restarts},
      {"readers", long_operations, readers_beside_writers},
      {"failing-operations", keep_default, failing_operations},
      {"sick-set", break_often, sick_set},
      {"sick-controllers", break_often, sick_controllers},
      {"late-failures", send_again_late, late_failures},
      {"late-counters", send_again_late, late_counters},
      {"late-counters-told", keep_default, late_counters},
  });
  return all;
}

}  // namespace armgate::world
