// cast.h – who plays in a workload: clients with the habits of real tools, by the handful.
#pragma once

#include <memory>
#include <string>

#include "tests/gate_sim/lives.h"

namespace armgate::world {

std::shared_ptr<SimClient> client_of(SimWorld& world, const std::string& name, const std::string& user, Habits habits);

// The habits of one of the real tools, drawn.
Habits any_tool(SimWorld& world);

// Some clients, each under its own name, that all change the same subject.
void start_writers(SimWorld& world, const Subject& subject, const Writing& writing, int clients,
                   const std::string& prefix = "writer");

}  // namespace armgate::world
