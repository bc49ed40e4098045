// loops.h – clients that read, change and write over and over, with little time to think: autoscalers, controllers, scripts.
//
// Every write is built on the client's own newest read, which it declares; after a refusal it reads again. So all that it is
// refused beyond what others do is somebody else's fault (tests/support/checkers/checkers_liveness.h).
#pragma once

#include <memory>
#include <string>

#include "tests/gate_sim/workloads/subjects.h"
#include "tests/support/world/sim_client.h"

namespace armgate::world {

struct Loop {
  int rounds = 20;
  Duration think_min = std::chrono::milliseconds(10);
  Duration think_max = std::chrono::milliseconds(60);  // between the read and the write
  Duration pause_max = std::chrono::milliseconds(60);  // between two rounds
  double follows = 1;                                  // how often it waits for its operation to end
  double lists = 0;                                    // how often it looks at the collection first
  double reads_twice = 0;                              // as after a time-out of its own
  double shares = 0;                                   // how often it edits what the others edit too, not its own
  double from_list = 0;                                // how often it takes the list's item for its read
  double from_parent = 0;                              // how often it takes the child as its parent's body shows it
};

// The habits that such a client has: it polls often, and no tool sends anything again for it but what got lost.
Habits loop_habits(SimWorld& world);

// One change each round. A round is given up after many tries.
Task<void> loop(std::shared_ptr<SimClient> client, Subject subject, Loop how);

// Creates the child after a look that shows nothing, as Terraform does, then changes it.
Task<void> make_child_and_loop(std::shared_ptr<SimClient> client, Subject subject, Loop how);

}  // namespace armgate::world
