// error_catalogue.h – refusals as ARM and its providers spell them, by name: material for faults and for tests of the
// error table.
//
// Why: the same thing ("something else runs, come again") arrives with a dozen codes, in five shapes of body and under
// four statuses (docs/arm.md, "Error codes").
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "arm/http.h"

namespace armgate::sim {

// What a reader of the refusal should do.
enum class RefusalMeans {
  Again,    // refused before effect; it passes
  Nothing,  // it does not pass by waiting, or the client's own business
};

struct Refusal {
  std::string_view name;  // "busy-network"
  RefusalMeans means = RefusalMeans::Again;
  int status = 409;
  std::string_view body;
  std::string_view retry_after{};  // seconds; empty: no such header
};

std::span<const Refusal> all_refusals();
const Refusal* find_refusal(std::string_view name);
arm::Response refusal_answer(const Refusal& refusal);

}  // namespace armgate::sim
