// Workloads in which all clients show one token, and ARM takes less of its bearer than they ask for (docs/monitoring.md, "ARM's
// budgets"): as it is, and with budgets.fair.
#include <fmt/format.h>

#include "tests/gate_sim/workloads/cast.h"
#include "tests/gate_sim/workloads/scenario.h"

namespace armgate::world {
namespace {

void be_scarce(WorldOptions& options) {
  options.token_life = std::chrono::hours(24);  // what an opaque token's bearer is, is known by the token alone
  options.arm.reads = {30, 8};
  options.arm.writes = {20, 2};
}

void be_scarce_and_fair(WorldOptions& options) {
  be_scarce(options);
  options.budgets.fair = true;
}

// One of the threads of a tool that looks and looks; for a while, and again later, when the bucket may have filled up.
Task<void> read_hungrily(std::shared_ptr<SimClient> client, Subject subject, int times) {
  co_await client->pause(std::chrono::seconds(1));
  for (int i = 0; i < times; ++i) {
    client->begin_command();
    const bool lists = client->world().rng().chance(0.2);
    Asked asked("GET", lists ? list_target(subject) : subject.target);
    co_await client->perform(std::move(asked));
    if (i == times / 2) co_await client->pause(std::chrono::seconds(20));
  }
}

struct Crowd {
  std::string_view user;
  int at_once;
};

Subject shared_budget(SimWorld& world) {
  Subject subject = scale_set("set", ChangeKind::AddTag);
  prepare(world, subject);
  for (const Crowd& crowd : {Crowd{"controller", 8}, Crowd{"pipeline", 4}, Crowd{"script", 2}, Crowd{"portal", 1}}) {
    for (int i = 0; i < crowd.at_once; ++i) {
      const std::string name = fmt::format("{}-{}", crowd.user, i);
      world.add_client(name, read_hungrily(client_of(world, name, std::string(crowd.user), Habits{}), subject, 8));
    }
  }
  start_writers(world, subject, Writing{}, 2);
  return subject;
}

}  // namespace

const std::vector<Workload>& budget_workloads() {
  static const std::vector<Workload> all{
      {"budgets", be_scarce, shared_budget},
      {"fair-budgets", be_scarce_and_fair, shared_budget},
  };
  return all;
}

}  // namespace armgate::world
