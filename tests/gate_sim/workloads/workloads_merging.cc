// Workloads in which several clients change different things of one resource at once, as whole bodies: what is put together must be
// what each of them meant, and what cannot be must be refused (docs/merging.md).
#include <fmt/format.h>

#include "tests/gate_sim/workloads/cast.h"
#include "tests/gate_sim/workloads/loops.h"
#include "tests/gate_sim/workloads/scenario.h"

namespace armgate::world {
namespace {

using std::chrono::milliseconds;

void merge_quickly(WorldOptions& options) {
  options.arm.operation = milliseconds(300);
  options.network.delay_max = milliseconds(15);
}

void start_merging_loop(SimWorld& world, const std::string& name, const Subject& subject, int rounds, double shares = 0) {
  Loop how;
  how.rounds = rounds;
  how.shares = shares;
  how.from_list = world.rng().chance(0.2) ? 0.3 : 0;
  world.add_client(name, loop(client_of(world, name, name, loop_habits(world)), subject, how));
}

Subject changed_by(Subject subject, ChangeKind change) {
  subject.change = change;
  return subject;
}

// Tags that come, tags that come and go, and two that count, and note that they did.
Subject tags_and_counter(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::AddTag);
  prepare(world, subject);
  for (int i = 0; i < 2; ++i) {
    start_merging_loop(world, fmt::format("adder{}", i), subject, 6);
    start_merging_loop(world, fmt::format("toggler{}", i), changed_by(subject, ChangeKind::ToggleTag), 6, 0.2);
    start_merging_loop(world, fmt::format("counter{}", i), changed_by(subject, ChangeKind::TagAndRaiseCapacity), 5);
  }
  return subject;
}

Subject editors_beside_a_tagger(SimWorld& world, const Subject& subject, int editors, int rounds, double chance) {
  prepare(world, subject);
  for (int i = 0; i < editors; ++i) start_merging_loop(world, fmt::format("editor{}", i), subject, rounds, chance);
  start_merging_loop(world, "tagger", changed_by(subject, ChangeKind::AddTag), 6);
  return subject;
}

// Rules that are added, changed and removed; some of them by everybody.
Subject edited_rules(SimWorld& world) {
  return editors_beside_a_tagger(world, security_group("nsg", ChangeKind::EditRule), 4, 9, 0.3);
}

// A service that sorts, spells and fills in, and nobody but it knows how.
Subject finished_by_the_service(SimWorld& world) {
  return editors_beside_a_tagger(world, shelf("shelf", ChangeKind::EditItem), 3, 8, 0.2);
}

// Members whose names are ids, which the service spells now in one way, now in another.
Subject identities(SimWorld& world) {
  return editors_beside_a_tagger(world, shelf("shelf", ChangeKind::ToggleIdentity), 4, 8, 0.3);
}

// Whole bodies from a file beside clients that add: what the file did not see it must not take away.
Subject files_beside_adders(SimWorld& world) {
  const bool is_finished = world.rng().chance(0.5);
  Subject subject = is_finished ? shelf("shelf", ChangeKind::EditItem) : scale_set("set", ChangeKind::ToggleTag);
  prepare(world, subject);
  world.add_client("file", write_file_repeatedly(client_of(world, "file", "file", any_tool(world)), subject, 5));
  for (int i = 0; i < 2; ++i) start_merging_loop(world, fmt::format("adder{}", i), subject, 8);
  start_merging_loop(world, "tagger", changed_by(subject, ChangeKind::ToggleTag), 6);
  return subject;
}

// Everybody who writes knows the secret, and nobody is shown it.
Subject secrets(SimWorld& world) {
  Subject subject = safe("safe");
  prepare(world, subject);
  for (int i = 0; i < 3; ++i) start_merging_loop(world, fmt::format("keeper{}", i), subject, 5);
  return subject;
}

// Nobody who is one actor looks as if he took back what was merged in: only what was asked for tells.
void be_quick_and_single(WorldOptions& options) {
  merge_quickly(options);
  for (int i = 0; i < 3; ++i) options.kinds[fmt::format("writer{}", i)] = ClientKind::Single;
}

// Who goes on with the object that was sent does not know what was put beside it, and takes nothing of it back.
Subject kept_objects(SimWorld& world) {
  Subject subject = world.rng().chance(0.5) ? scale_set("set", ChangeKind::AddTag) : security_group("nsg", ChangeKind::AddRule);
  prepare(world, subject);
  Writing writing;
  writing.reads = ReadsBy::OwnRequest;
  writing.writes = 4;
  start_writers(world, subject, writing, 3);
  start_merging_loop(world, "tagger", changed_by(subject, ChangeKind::AddTag), 6);
  return subject;
}

// Several actors behind one name, declared: whatever they wrote was built from any state that the name was shown.
void be_quick_and_many(WorldOptions& options) {
  merge_quickly(options);
  options.kinds["jvm"] = ClientKind::Many;
}

Subject hidden_merges(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::ToggleTag);
  prepare(world, subject);
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("actor{}", i);
    Loop how;
    how.rounds = 5;
    how.shares = 0.3;
    Habits habits = loop_habits(world);
    habits.known_by = Habits::KnownBy::Name;  // of a token nothing is declared
    world.add_client(name, loop(client_of(world, name, "jvm", habits), subject, how));
  }
  start_merging_loop(world, "tagger", changed_by(subject, ChangeKind::AddTag), 6);
  return subject;
}

}  // namespace

const std::vector<Workload>& merging_workloads() {
  static const std::vector<Workload> all{
      {"tags-and-counter", merge_quickly, tags_and_counter},
      {"edited-rules", merge_quickly, edited_rules},
      {"finished-by-the-service", merge_quickly, finished_by_the_service},
      {"identities", merge_quickly, identities},
      {"files-beside-adders", merge_quickly, files_beside_adders},
      {"secrets", merge_quickly, secrets},
      {"kept-objects", be_quick_and_single, kept_objects},
      {"hidden-merges", be_quick_and_many, hidden_merges},
  };
  return all;
}

}  // namespace armgate::world
