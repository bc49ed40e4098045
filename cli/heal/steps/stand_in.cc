// A temporary system pool takes the place of the one that is to go: a cluster cannot be without.
#include <fmt/format.h>

#include "base/text.h"
#include "cli/heal/steps/step.h"

namespace armgate::heal {

std::optional<std::string> why_not_ours(const Pool& pool, const Known& known) {
  if (pool.purpose != kStandInPurpose) {
    return fmt::format("pool {} is there and has no tag {}={}: it is not this runbook's", pool.name, kPurposeTag,
                       kStandInPurpose);
  }
  if (!equal_ignoring_case(pool.source, known.target.pool_id())) {
    return fmt::format("pool {} stands in for {}, not for {}", pool.name, pool.source, known.target.pool_id());
  }
  return std::nullopt;
}

Move add_stand_in(const Known& known) {
  if (!known.lease_held) return wait("a write that began earlier still runs on the cluster");
  const std::string name = known.target.stand_in();
  if (known.stand_in) {
    if (const auto why = why_not_ours(*known.stand_in, known)) return stop(*why);
    const std::string& state = known.stand_in->state;
    if (state == "Succeeded") {
      if (known.nodes_not_ready) return wait(*known.nodes_not_ready);
      return done(fmt::format("pool {} is Succeeded", name));
    }
    if (state == "Creating" || state == "Updating") return wait(fmt::format("pool {} is {}", name, state));
    return stop(fmt::format("pool {} is {}; the pool {} was not touched", name, state, known.target.pool));
  }
  if (known.progress.of(Phase::StandIn).accepted()) return stop(fmt::format("pool {} was accepted and is not there", name));
  return send(fmt::format("create the pool {} with the mode System", name),
              {arm::Method::Put, fmt::format("{}?api-version={}", known.target.stand_in_id(), known.target.api_version),
               known.snapshot.stand_in, "", "*"});
}

}  // namespace armgate::heal
