// The wedged pool goes: what is broken is bound to its scale set, and ends with it. Not before the stand-in is well, the pool still is
// what was written down, and there is time to make it anew.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/heal/facts/pool_body.h"
#include "cli/heal/steps/step.h"

namespace armgate::heal {
namespace {

// Why the pool must not be deleted now.
std::optional<std::string> objection(const Known& known) {
  if (!known.stand_in) return fmt::format("the stand-in {} is gone", known.target.stand_in());
  if (auto why = why_not_ours(*known.stand_in, known)) return why;
  if (known.stand_in->state != "Succeeded") {
    return fmt::format("the stand-in {} is {}", known.stand_in->name, known.stand_in->state);
  }
  if (known.left < kReservedForRecreate) {
    return fmt::format("of the time for the whole run {} min are left, and {} are kept to make the pool anew",
                       std::chrono::duration_cast<std::chrono::minutes>(known.left).count(),
                       std::chrono::duration_cast<std::chrono::minutes>(kReservedForRecreate).count());
  }
  const auto changed = missing_of(known.snapshot.again, known.pool->body);
  if (!changed.empty()) return fmt::format("the pool is not what was written down: {}", fmt::join(changed, "; "));
  return std::nullopt;
}

}  // namespace

Move delete_pool(const Known& known) {
  const std::string& name = known.target.pool;
  if (!known.pool) return done(fmt::format("pool {} is gone", name));
  if (known.pool->state == "Deleting") return wait(fmt::format("pool {} is Deleting", name));
  if (known.progress.of(Phase::Delete).accepted()) {
    if (known.pool->state != "Failed")
      return wait(fmt::format("the delete was accepted, pool {} is {}", name, known.pool->state));
    return stop(fmt::format("the delete of pool {} failed; both pools are there", name));
  }
  if (known.nodes_not_ready) return wait(*known.nodes_not_ready);
  if (const auto why = objection(known)) return stop(*why + "; the pool was not deleted");
  return send(fmt::format("delete the pool {}", name),
              {arm::Method::Delete, fmt::format("{}?api-version={}", known.target.pool_id(), known.target.api_version), "",
               known.pool->etag});
}

}  // namespace armgate::heal
