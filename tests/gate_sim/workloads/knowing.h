// knowing.h – what a simulated client has in hand, and what it tells the judges about where that came from.
#pragma once

#include <optional>
#include <string>

#include "tests/gate_sim/workloads/subjects.h"
#include "tests/support/world/sim_client.h"

namespace armgate::world {

// Where a writer takes the state from that it changes.
// OwnRequest: the object that it sent, whatever became of it, as SDKs that throw answers away. Copy: if a fresh read does not arrive, the older one is good enough.
// Parent: the child as it stands in its parent's body.
enum class ReadsBy { Point, List, Parent, OwnAnswer, OwnRequest, Copy };

// A state as the client has it in hand.
struct Known {
  std::string body;
  arm::Headers declares;  // what the judges are told about the write that is built from it
};

void declare_when(arm::Headers& declares, const Got& got);
void declare_version(arm::Headers& declares, const Got& got);

// What the write changes, from the state in hand to what it asks for.
void declare_changes(arm::Headers& declares, const Subject& subject, std::string_view in_hand, std::string_view asked);

// And which tags go, of whomever they are.
void declare_removals(arm::Headers& declares, const Subject& subject, std::string_view in_hand, std::string_view asked);

// Reads it; nothing if it is not there or cannot be read.
Task<std::optional<Known>> look(SimClient& client, const Subject& subject, ReadsBy reads);

}  // namespace armgate::world
