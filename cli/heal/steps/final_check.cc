// Nothing is left over, and the cluster is well.
#include <fmt/format.h>

#include "cli/heal/steps/step.h"

namespace armgate::heal {

Move check_result(const Known& known) {
  if (known.stand_in) return stop(fmt::format("pool {} is there again", known.stand_in->name));
  if (!known.pool) return stop(fmt::format("pool {} is gone", known.target.pool));
  if (known.pool->state != "Succeeded") return stop(fmt::format("pool {} is {}", known.target.pool, known.pool->state));
  if (known.cluster.state == "Updating") return wait("the cluster is Updating");
  if (known.cluster.state != "Succeeded") return stop(fmt::format("the cluster is {}", known.cluster.state));
  return done(fmt::format("the cluster and pool {} are Succeeded, nothing is left over", known.target.pool));
}

}  // namespace armgate::heal
