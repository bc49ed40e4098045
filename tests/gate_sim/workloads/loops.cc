#include "tests/gate_sim/workloads/loops.h"

#include <fmt/format.h>

#include <utility>

#include "tests/gate_sim/workloads/knowing.h"

namespace armgate::world {
namespace {

constexpr int kTriesMax = 15;  // of one round

Duration drawn_between(SimWorld& world, Duration least, Duration most) {
  return least + Duration(static_cast<int64_t>(world.rng().below(static_cast<uint64_t>((most - least).count()) + 1)));
}

// What it changes next, on what it has just read.
Task<std::optional<Known>> read_before_write(SimClient& client, const Subject& subject, const Loop& how) {
  Rng& rng = client.world().rng();
  if (rng.chance(how.lists)) {
    Asked list("GET", list_target(subject));
    co_await client.perform(std::move(list));
  }
  if (rng.chance(how.reads_twice)) {
    Asked early("GET", subject.target);
    co_await client.call(std::move(early));
  }
  const ReadsBy otherwise = rng.chance(how.from_parent) ? ReadsBy::Parent : ReadsBy::Point;
  const ReadsBy reads = rng.chance(how.from_list) ? ReadsBy::List : otherwise;
  co_return co_await look(client, subject, reads);
}

bool is_counted(ChangeKind change) {
  return change == ChangeKind::CountInTag || change == ChangeKind::RaiseCapacity || change == ChangeKind::ToggleTag ||
         change == ChangeKind::ToggleCapacity || change == ChangeKind::EditRule || change == ChangeKind::EditItem ||
         change == ChangeKind::ToggleIdentity;
}

Task<bool> one_round(SimClient& client, const Subject& subject, const Loop& how, std::string member) {
  SimWorld& world = client.world();
  for (int tries = 0; tries < kTriesMax; ++tries) {
    client.begin_command();
    auto known = co_await read_before_write(client, subject, how);
    if (!known) {
      co_await client.pause(std::chrono::seconds(1));
      continue;
    }
    // A write whose answer got lost may have been carried out.
    if (!is_counted(subject.change) && has_member(known->body, subject.change, member)) co_return true;
    co_await world.clock().sleep_for(drawn_between(world, how.think_min, how.think_max));
    Asked asked("PUT", subject.target, {}, known->declares);
    const auto etag = client.habits().keeps_etag_in_body ? BodyEtag::Kept : BodyEtag::Dropped;
    asked.body = with_change(known->body, subject.change, member, etag, asked.fields);
    declare_changes(asked.fields, subject, known->body, asked.body);
    const Got got = co_await client.perform(std::move(asked));
    if (!got.ok()) continue;
    if (world.rng().chance(how.follows)) co_await client.follow(got.answer);
    co_return true;
  }
  co_return false;
}

}  // namespace

Habits loop_habits(SimWorld& world) {
  Habits habits;
  habits.ids = world.rng().chance(0.5) ? Habits::Ids::None : Habits::Ids::PerRequest;
  habits.tunnels = world.rng().chance(0.3) ? Habits::Tunnels::NewPerRequest : Habits::Tunnels::KeepAlive;
  habits.known_by = world.rng().chance(0.3) ? Habits::KnownBy::Token : Habits::KnownBy::Name;
  habits.poll_every = std::chrono::milliseconds(200);
  return habits;
}

Task<void> loop(std::shared_ptr<SimClient> client, Subject subject, Loop how) {
  co_await client->pause(how.pause_max);
  const bool toggles = subject.change == ChangeKind::ToggleTag || subject.change == ChangeKind::EditRule ||
                       subject.change == ChangeKind::EditItem || subject.change == ChangeKind::ToggleIdentity;
  for (int i = 0; i < how.rounds; ++i) {
    std::string member = toggles ? client->name() : fmt::format("{}-{}", client->name(), i);
    if (toggles && client->world().rng().chance(how.shares)) member = "shared";
    const bool in = co_await one_round(*client, subject, how, std::move(member));
    ++client->world().tally()[in ? "changes done" : "changes given up"];
    co_await client->pause(how.pause_max);
  }
}

Task<void> make_child_and_loop(std::shared_ptr<SimClient> client, Subject subject, Loop how) {
  co_await client->pause(how.pause_max);
  for (int tries = 0; tries < kTriesMax; ++tries) {
    Asked asked("GET", subject.target);
    const Got seen = co_await client->perform(std::move(asked));
    if (seen.status() == 200) break;
    if (seen.status() != 404) continue;
    Asked put("PUT", subject.target, subject.initial);
    declare_when(put.fields, seen);
    put.fields.set("x-sim-base", "absent");
    const Got made = co_await client->perform(std::move(put));
    if (!made.ok()) continue;
    co_await client->follow(made.answer);
    break;
  }
  co_await loop(client, std::move(subject), how);
}

}  // namespace armgate::world
