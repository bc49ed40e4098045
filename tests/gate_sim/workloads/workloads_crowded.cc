// Workloads in which different kinds of writes meet: on what has no ETag, through two addresses of one resource, in several
// resources at once, from several sessions of one identity, and twice.
#include <fmt/format.h>

#include <array>

#include "tests/gate_sim/workloads/cast.h"
#include "tests/gate_sim/workloads/scenario.h"

namespace armgate::world {
namespace {

void keep_crowd_default(WorldOptions&) {}

// All behind one token: what neither ids nor bodies tell apart is counted.
void count_crowd_harms(WorldOptions& options) { options.harms = Harms::Counted; }

// `az group update`: reads the group and writes it back whole. ARM gives groups no ETag, so armgate compares them itself.
Subject groups(SimWorld& world) {
  Subject subject = group("shared");
  prepare(world, subject);
  start_writers(world, subject, Writing{}, 4);
  return subject;
}

// The same tags through their own resource and with the whole one.
Subject tags_beside(SimWorld& world) {
  const bool on_machine = world.rng().chance(0.5);
  Subject subject = on_machine ? virtual_machine("machine") : network("vnet", ChangeKind::AddTag);
  prepare(world, subject);
  start_writers(world, subject, Writing{}, 2);
  for (int i = 0; i < 2; ++i) {
    const std::string name = fmt::format("tagger{}", i);
    world.add_client(name, tag_repeatedly(client_of(world, name, name, any_tool(world)), subject, 4));
  }
  return subject;
}

// Many shells under one service principal. Each command has an id of its own, so armgate knows which read a write came from,
// and no update may be lost although the config declares nothing.
Subject sessions(SimWorld& world) {
  Subject subject = world.rng().chance(0.5) ? scale_set("set", ChangeKind::AddTag) : security_group("nsg", ChangeKind::AddRule);
  prepare(world, subject);
  for (int i = 0; i < 4; ++i) {
    const std::string name = fmt::format("session{}", i);
    Habits habits = habits_of("az");
    habits.keeps_etag_in_body = world.rng().chance(0.3);
    if (world.rng().chance(0.5)) habits.lost = Habits::LostAnswers::SendAgain;
    world.add_client(name, change_repeatedly(client_of(world, name, "principal", habits), subject, Writing{}));
  }
  return subject;
}

// Restarts that come again though they were answered: under a name for good, ...
Subject named_restarts(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::AddTag);
  prepare(world, subject);
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("restarter{}", i);
    world.add_client(name, restart_forgetfully(client_of(world, name, name, any_tool(world)), subject, 3, Names::Given));
  }
  start_writers(world, subject, Writing{}, 1);
  return subject;
}

// ... or by a rule for a minute, as long as nobody writes.
void say_once(WorldOptions& options) {
  for (rules::Rule& rule : options.rules) rule.once.window = std::chrono::minutes(1);
}

Subject once_restarts(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::AddTag);
  prepare(world, subject);
  for (int i = 0; i < 2; ++i) {
    const std::string name = fmt::format("restarter{}", i);
    world.add_client(name, restart_forgetfully(client_of(world, name, name, any_tool(world)), subject, 4, Names::None));
  }
  start_writers(world, subject, Writing{}, 2);
  return subject;
}

void lose_crowd_answers(WorldOptions& options) { options.clients.lose_answer = 0.3; }

// Every third answer gets lost, and the identical bytes come again: under the same id, or under none.
Subject duplicates(SimWorld& world) {
  constexpr std::array<ChangeKind, 3> kChanges{ChangeKind::AddTag, ChangeKind::CountInTag, ChangeKind::RaiseCapacity};
  Subject subject = scale_set("set", kChanges[world.rng().below(kChanges.size())]);
  prepare(world, subject);
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("writer{}", i);
    Habits habits = any_tool(world);
    habits.lost = Habits::LostAnswers::SendAgain;
    habits.ids = world.rng().chance(0.5) ? Habits::Ids::None : Habits::Ids::PerRequest;
    world.add_client(name, change_repeatedly(client_of(world, name, name, habits), subject, Writing{}));
  }
  Habits restarts = any_tool(world);
  restarts.lost = Habits::LostAnswers::SendAgain;
  world.add_client("restarter", restart_repeatedly(client_of(world, "restarter", "restarter", restarts), subject, 3));
  return subject;
}

// Subnets of several networks that are made, and changed by who has read them, beside writers of whole networks.
Subject networks(SimWorld& world) {
  Subject first = network("vnet0", ChangeKind::AddSubnet);
  for (int n = 0; n < 2; ++n) {
    const std::string name = fmt::format("vnet{}", n);
    const Subject whole = network(name, ChangeKind::AddSubnet);
    const Subject child = subnet(name, "shared");
    prepare(world, whole);
    prepare(world, child);
    start_writers(world, whole, Writing{.writes = 2}, 1, fmt::format("owner{}-", n));
    start_writers(world, child, Writing{.writes = 2}, 2, fmt::format("planner{}-", n));
    const std::string maker = fmt::format("children{}", n);
    world.add_client(maker, put_children(client_of(world, maker, maker, any_tool(world)), name, 2));
  }
  return first;
}

// `nsg rule create` beside those who write the whole group: ARM takes rules in parallel, and so does armgate.
Subject rules_beside_group(SimWorld& world) {
  Subject subject = security_group("nsg", ChangeKind::AddRule);
  prepare(world, subject);
  start_writers(world, subject, Writing{.writes = 2}, 2);
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("rule-maker{}", i);
    world.add_client(name, put_rules(client_of(world, name, name, any_tool(world)), "nsg", 3));
  }
  return subject;
}

// `az aks update` writes the whole cluster, its pools with it, whose changes leave the cluster's ETag where it is.
Subject clusters(SimWorld& world) {
  Subject whole = cluster("aks");
  prepare(world, whole);
  start_writers(world, whole, Writing{}, 2);
  for (const char* name : {"system", "user"})
    start_writers(world, pool("aks", name), Writing{}, 1, fmt::format("scaler-{}-", name));
  return whole;
}

// The same, while somebody changes a pool who goes around armgate: equal ETags, other contents.
Subject clusters_and_outsiders(SimWorld& world) {
  Subject whole = clusters(world);
  world.add_client("pool-outsider", change_around(world, "pool-outsider", pool("aks", "user"), 4));
  return whole;
}

}  // namespace

const std::vector<Workload>& crowded_workloads() {
  static const std::vector<Workload> all{
      {"groups", keep_crowd_default, groups},
      {"tags-beside", keep_crowd_default, tags_beside},
      {"sessions", count_crowd_harms, sessions},
      {"duplicates", lose_crowd_answers, duplicates},
      {"networks", keep_crowd_default, networks},
      {"rules-beside-group", keep_crowd_default, rules_beside_group},
      {"clusters", keep_crowd_default, clusters},
      {"clusters-and-outsiders", keep_crowd_default, clusters_and_outsiders},
      {"named-restarts", keep_crowd_default, named_restarts},
      {"once-restarts", say_once, once_restarts},
  };
  return all;
}

}  // namespace armgate::world
