#include "tests/gate_sim/workloads/cast.h"

#include <fmt/format.h>

#include <array>

namespace armgate::world {
namespace {

constexpr std::array<std::string_view, 4> kTools{"js", "go", "az", "python"};

}  // namespace

std::shared_ptr<SimClient> client_of(SimWorld& world, const std::string& name, const std::string& user, Habits habits) {
  return std::make_shared<SimClient>(world, name, user, habits);
}

Habits any_tool(SimWorld& world) { return habits_of(kTools[world.rng().below(kTools.size())]); }

void start_writers(SimWorld& world, const Subject& subject, const Writing& writing, int clients, const std::string& prefix) {
  for (int i = 0; i < clients; ++i) {
    const std::string name = fmt::format("{}{}", prefix, i);
    world.add_client(name, change_repeatedly(client_of(world, name, name, any_tool(world)), subject, writing));
  }
}

}  // namespace armgate::world
