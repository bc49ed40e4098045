// planned.h – a plan as the gateway works with it: shared by all who are to do the same, and with the keys of what it names.
//
// Threads: a plan is immutable; its reference count belongs to the thread that made it as long as nobody else keeps it.
#pragma once

#include <memory>
#include <vector>

#include "base/hash.h"
#include "rules/plan.h"

namespace armgate {

// The keys are hashes of canonical ids under the key of the process.
struct KeyedPlan : rules::Plan {
  Hash128 resource_key{};            // of target.resource.id
  std::vector<Hash128> lock_keys{};  // of `keys`, in their order
};

struct Planned {
  std::shared_ptr<const KeyedPlan> plan{};
  std::shared_ptr<const rules::Ruleset> made_under{};  // of a write: to be kept until it is finished
};

}  // namespace armgate
