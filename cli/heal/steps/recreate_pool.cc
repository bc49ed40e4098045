// The pool is made anew from what was written down, and compared with it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/heal/facts/pool_body.h"
#include "cli/heal/steps/step.h"

namespace armgate::heal {

Move recreate_pool(const Known& known) {
  const std::string& name = known.target.pool;
  if (!known.pool) {
    if (known.progress.of(Phase::Recreate).accepted()) {
      return stop(fmt::format("pool {} was accepted and is not there; {} stands in", name, known.target.stand_in()));
    }
    return send(fmt::format("create the pool {} from the snapshot", name),
                {arm::Method::Put, fmt::format("{}?api-version={}", known.target.pool_id(), known.target.api_version),
                 known.snapshot.again, "", "*"});
  }
  const std::string& state = known.pool->state;
  if (state == "Creating" || state == "Updating" || state == "Deleting") return wait(fmt::format("pool {} is {}", name, state));
  if (state != "Succeeded") {
    return stop(
        fmt::format("pool {} was made anew and is {}; {} stands in, and must stay", name, state, known.target.stand_in()));
  }
  const auto missing = missing_of(known.snapshot.again, known.pool->body);
  if (!missing.empty()) {
    return stop(fmt::format("pool {} is not what it was: {}; {} stands in until that is mended", name, fmt::join(missing, "; "),
                            known.target.stand_in()));
  }
  if (known.nodes_not_ready) return wait(*known.nodes_not_ready);
  return done(fmt::format("pool {} is Succeeded, with the labels, taints and tags that it had", name));
}

}  // namespace armgate::heal
