// Workloads of clients that must get through: alone, in a crowd that hardly thinks, side by side below one parent, where nothing
// has an ETag, and taking back what they did.
#include <fmt/format.h>

#include "tests/gate_sim/workloads/cast.h"
#include "tests/gate_sim/workloads/loops.h"
#include "tests/gate_sim/workloads/scenario.h"

namespace armgate::world {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kDeclared = "declared";  // names that begin so are declared to be one actor
constexpr std::string_view kWithoutEtags = "2022-11-01";

// Short ways and short operations: what is decided in tens of milliseconds meets itself.
void be_quick(WorldOptions& options) {
  options.arm.operation = milliseconds(300);
  options.network.delay_max = milliseconds(15);
  for (int i = 0; i < 10; ++i) options.kinds[fmt::format("{}{}", kDeclared, i)] = ClientKind::Single;
}

// A little of everything that goes wrong, in two of three worlds.
void be_quick_and_rough(WorldOptions& options) {
  be_quick(options);
  Rng strength(options.seed ^ 0x70069);
  if (strength.chance(0.33)) return;
  options.network.conflict = 0.1 * strength.unit();
  options.network.fail = 0.05 * strength.unit();
  options.network.lose_request = 0.05 * strength.unit();
  options.network.lose_answer = 0.05 * strength.unit();
  options.clients.lose_answer = 0.05 * strength.unit();
}

// Armgate knows whom it has to do with by its declaration, or it does not.
std::string drawn_name(SimWorld& world, int number) {
  return world.rng().chance(0.5) ? fmt::format("{}{}", kDeclared, number) : fmt::format("client{}", number);
}

void start_loop(SimWorld& world, const std::string& name, const std::string& user, const Subject& subject, const Loop& how) {
  Habits habits = loop_habits(world);
  if (user.starts_with(kDeclared)) habits.known_by = Habits::KnownBy::Name;
  world.add_client(name, loop(client_of(world, name, user, habits), subject, how));
}

Loop drawn_loop(SimWorld& world, int rounds) {
  Loop how;
  how.rounds = rounds;
  how.follows = 0.5 * static_cast<double>(world.rng().below(3));
  how.lists = world.rng().chance(0.5) ? 0.3 : 0;
  how.reads_twice = world.rng().chance(0.5) ? 0.3 : 0;
  how.from_list = world.rng().chance(0.2) ? 0.3 : 0;
  return how;
}

// Several clients, each with a name of its own, on one subject; each thinks for some tens of milliseconds.
void start_crowd(SimWorld& world, const Subject& subject, int clients, int rounds) {
  for (int i = 0; i < clients; ++i) {
    const std::string name = drawn_name(world, i);
    start_loop(world, name, name, subject, drawn_loop(world, rounds));
  }
}

Subject with_capacity(ChangeKind change, std::string_view api_version) {
  return at_version(scale_set("set", change), api_version);
}

Subject lone_autoscaler(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::RaiseCapacity);
  prepare(world, subject);
  start_crowd(world, subject, 1, 25);
  return subject;
}

Subject lone_without_etags(SimWorld& world) {
  const bool counts = world.rng().chance(0.5);
  Subject subject = with_capacity(counts ? ChangeKind::RaiseCapacity : ChangeKind::AddTag, kWithoutEtags);
  prepare(world, subject);
  start_crowd(world, subject, 1, 20);
  return subject;
}

Subject lone_take_back(SimWorld& world) {
  Subject subject = scale_set("set", world.rng().chance(0.5) ? ChangeKind::ToggleTag : ChangeKind::ToggleCapacity);
  prepare(world, subject);
  start_crowd(world, subject, 1, 16);
  return subject;
}

// Puts in something new and takes out something old, each time, as who publishes addresses does.
Subject lone_rotation(SimWorld& world) {
  const ChangeKind change = world.rng().chance(0.5) ? ChangeKind::RotateTags : ChangeKind::ReplaceTag;
  Subject subject = world.rng().chance(0.5) ? with_capacity(change, kWithoutEtags) : scale_set("set", change);
  prepare(world, subject);
  start_crowd(world, subject, 1, 16);
  return subject;
}

Subject quick_counters(SimWorld& world) {
  Subject subject = scale_set("set", world.rng().chance(0.5) ? ChangeKind::RaiseCapacity : ChangeKind::CountInTag);
  prepare(world, subject);
  start_crowd(world, subject, 4 + static_cast<int>(world.rng().below(3)), 6);
  return subject;
}

Subject quick_members(SimWorld& world) {
  Subject subject = world.rng().chance(0.5) ? scale_set("set", ChangeKind::AddTag) : security_group("nsg", ChangeKind::AddRule);
  prepare(world, subject);
  start_crowd(world, subject, 4 + static_cast<int>(world.rng().below(3)), 6);
  return subject;
}

Subject quick_without_etags(SimWorld& world) {
  Subject subject = with_capacity(world.rng().chance(0.5) ? ChangeKind::RaiseCapacity : ChangeKind::AddTag, kWithoutEtags);
  prepare(world, subject);
  start_crowd(world, subject, 4 + static_cast<int>(world.rng().below(3)), 6);
  return subject;
}

// Each takes back and puts in a tag of its own, beside others who do the same.
Subject take_back_beside(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::ToggleTag);
  prepare(world, subject);
  start_crowd(world, subject, 2 + static_cast<int>(world.rng().below(2)), 8);
  return subject;
}

// Ten rules of one group, each made and then changed by its own client: ten commands, or ten threads behind one name.
Subject parallel_rules(SimWorld& world) {
  Subject parent = security_group("nsg", ChangeKind::AddRule);
  prepare(world, parent);
  const bool one_name = world.rng().chance(0.5);
  for (int i = 0; i < 10; ++i) {
    Subject rule = security_rule("nsg", fmt::format("rule{}", i));
    rule.change = ChangeKind::MarkChild;
    const std::string name = fmt::format("maker{}", i);
    const std::string user = one_name ? "terraform" : drawn_name(world, i);
    Habits habits = loop_habits(world);
    habits.known_by = Habits::KnownBy::Name;
    Loop how = drawn_loop(world, 2);
    how.from_list = 0;
    world.add_client(name, make_child_and_loop(client_of(world, name, user, habits), rule, how));
  }
  return parent;
}

// As samples of the SDKs do: a subnet is taken from its network and written alone, beside somebody who writes the whole network.
Subject read_in_parent(SimWorld& world) {
  Subject parent = network("vnet", ChangeKind::AddSubnet);
  prepare(world, parent);
  Subject child = subnet("vnet", "a");
  prepare(world, child);
  for (int i = 0; i < 3; ++i) {
    const std::string name = drawn_name(world, i);
    Loop how = drawn_loop(world, 4);
    how.from_parent = 0.8;
    start_loop(world, name, name, child, how);
  }
  start_loop(world, "whole", "whole", parent, drawn_loop(world, 3));
  return parent;
}

void from_several_addresses(WorldOptions& options) {
  be_quick_and_rough(options);
  options.clients.addresses = 3;
}

Subject several_addresses(SimWorld& world) {
  Subject subject = scale_set("set", world.rng().chance(0.5) ? ChangeKind::RaiseCapacity : ChangeKind::AddTag);
  prepare(world, subject);
  Loop how = drawn_loop(world, 6);
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("pod{}", i);
    Habits habits = loop_habits(world);
    habits.known_by = Habits::KnownBy::Token;
    habits.tunnels = Habits::Tunnels::NewPerRequest;
    world.add_client(name, loop(client_of(world, name, name, habits), subject, how));
  }
  return subject;
}

// Actors behind one name that hardly think, beside one with a name of its own: bodies of counters cannot tell them apart.
void be_rough_and_hidden(WorldOptions& options) {
  be_quick_and_rough(options);
  options.harms = Harms::Counted;
}

Subject hidden_crowd(SimWorld& world) {
  Subject subject = scale_set("set", world.rng().chance(0.5) ? ChangeKind::RaiseCapacity : ChangeKind::AddTag);
  prepare(world, subject);
  for (int i = 0; i < 3; ++i) start_loop(world, fmt::format("actor{}", i), "jvm", subject, drawn_loop(world, 5));
  start_loop(world, "beside", "beside", subject, drawn_loop(world, 5));
  return subject;
}

}  // namespace

const std::vector<Workload>& liveness_workloads() {
  static const std::vector<Workload> all{
      {"lone-autoscaler", be_quick_and_rough, lone_autoscaler},
      {"lone-without-etags", be_quick_and_rough, lone_without_etags},
      {"lone-take-back", be_quick_and_rough, lone_take_back},
      {"lone-rotation", be_quick_and_rough, lone_rotation},
      {"quick-counters", be_quick_and_rough, quick_counters},
      {"quick-members", be_quick_and_rough, quick_members},
      {"quick-without-etags", be_quick_and_rough, quick_without_etags},
      {"take-back-beside", be_quick_and_rough, take_back_beside},
      {"parallel-rules", be_quick_and_rough, parallel_rules},
      {"several-addresses", from_several_addresses, several_addresses},
      {"hidden-crowd", be_rough_and_hidden, hidden_crowd},
      {"read-in-parent", be_quick_and_rough, read_in_parent},
  };
  return all;
}

}  // namespace armgate::world
