// Workloads in which armgate cannot see who is who, or what a client really knows: several actors behind one name that nobody
// declared, and clients that work on an older copy when a newer read did not arrive.
#include <fmt/format.h>

#include "tests/gate_sim/workloads/cast.h"
#include "tests/gate_sim/workloads/scenario.h"

namespace armgate::world {
namespace {

// Bodies that are the same are no evidence of who sent them: such actors can still hurt each other; all else must hold.
void count_hidden_harms(WorldOptions& options) { options.harms = Harms::Counted; }

// Which of them read what is told by nothing but their bodies, and some bodies do not tell; every write differs from every other.
// One of them only reads, which shows the name states that no writer knows.
Subject hidden_actors(SimWorld& world) {
  Subject subject = world.rng().chance(0.5) ? scale_set("set", ChangeKind::AddTag) : security_group("nsg", ChangeKind::AddRule);
  prepare(world, subject);
  Habits habits = habits_of("go");
  habits.sends_conflicts_again = false;
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("actor{}", i);
    habits.ids = world.rng().chance(0.5) ? Habits::Ids::None : Habits::Ids::PerRequest;
    Writing writing;
    writing.reads = world.rng().chance(0.3) ? ReadsBy::OwnAnswer : ReadsBy::Point;
    writing.marks_tries = true;
    world.add_client(name, change_repeatedly(client_of(world, name, "jvm", habits), subject, writing));
  }
  world.add_client("watcher", read_repeatedly(client_of(world, "watcher", "jvm", habits), subject, 20));
  return subject;
}

// All raise one counter: two that start from the same state send the same bytes.
Subject hidden_counters(SimWorld& world) {
  Subject subject = scale_set("set", world.rng().chance(0.5) ? ChangeKind::CountInTag : ChangeKind::RaiseCapacity);
  prepare(world, subject);
  Habits habits = habits_of("js");
  // Without ids the same bytes are told apart only by who still listens.
  habits.ids = world.rng().chance(0.3) ? Habits::Ids::None : Habits::Ids::PerRequest;
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("actor{}", i);
    world.add_client(name, change_repeatedly(client_of(world, name, "jvm", habits), subject, Writing{}));
  }
  return subject;
}

// What their bodies cannot tell, the declaration does: then nothing may be lost.
void declare_many(WorldOptions& options) { options.kinds["jvm"] = ClientKind::Many; }

void lose_answers(WorldOptions& options) { options.clients.lose_answer = 0.2; }

// They make one thing, each with a member of its own, and then add to it: who was told 404 must not pass for one who knows what
// another has made.
Subject hidden_creates(SimWorld& world) {
  prepare(world, virtual_machine("other"));
  Subject subject =
      world.rng().chance(0.5) ? scale_set("raced", ChangeKind::AddTag) : security_group("raced", ChangeKind::AddRule);
  Habits habits = habits_of("go");
  habits.sends_conflicts_again = false;
  for (int i = 0; i < 4; ++i) {
    habits.ids = world.rng().chance(0.5) ? Habits::Ids::None : Habits::Ids::PerRequest;
    const std::string name = fmt::format("maker{}", i);
    world.add_client(name, create_or_change(client_of(world, name, "jvm", habits), subject));
  }
  return subject;
}

// Each reads and writes at an api-version of its own. They raise one counter: nothing but the api-version tells them apart.
Subject hidden_versions(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::CountInTag);
  prepare(world, subject);
  Habits habits = habits_of("go");
  habits.sends_conflicts_again = false;
  const std::string path = subject.target.substr(0, subject.target.find('='));
  for (const char* version : {"2024-03-01", "2024-07-01", "2024-11-01"}) {
    Subject seen = subject;
    seen.target = fmt::format("{}={}", path, version);
    const std::string name = fmt::format("actor-of-{}", version);
    world.add_client(name, change_repeatedly(client_of(world, name, "jvm", habits), seen, Writing{}));
  }
  return subject;
}

// As informers and caches do: if a fresh read fails, the copy in hand must do.
Subject old_copies(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::AddTag);
  prepare(world, subject);
  Writing writing;
  writing.reads = ReadsBy::Copy;
  writing.writes = 4;
  start_writers(world, subject, writing, 3);
  return subject;
}

}  // namespace

const std::vector<Workload>& hidden_workloads() {
  static const std::vector<Workload> all{
      {"hidden-actors", count_hidden_harms, hidden_actors}, {"hidden-counters", count_hidden_harms, hidden_counters},
      {"hidden-creates", declare_many, hidden_creates},     {"hidden-versions", declare_many, hidden_versions},
      {"many-counters", declare_many, hidden_counters},     {"old-copies", lose_answers, old_copies},
  };
  return all;
}

}  // namespace armgate::world
