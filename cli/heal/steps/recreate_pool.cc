// The pool is made anew from what was written down, and compared with it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/heal/facts/pool_body.h"
#include "cli/heal/steps/step.h"

namespace armgate::heal {

namespace {

std::string target_of(const Known& known) {
  return fmt::format("{}?api-version={}", known.target.pool_id(), known.target.api_version);
}

// The same body once more: AKS takes up what it has left off.
Move put_again(const Pool& pool, const Known& known) {
  const std::string what = fmt::format("pool {} was made anew and is {}", pool.name, pool.state);
  const std::string ways = fmt::format(
      "{} stands in, and must stay; to go on: get what it lacks, and the same command again, which sends its PUT again (the body "
      "is \"again\" in {})",
      known.target.stand_in(), known.progress.snapshot_file);
  const int tries = known.progress.of(Phase::Recreate).times_taken;
  if (tries >= kTriesMax) return stop(fmt::format("{} after {} tries; {}", what, tries, ways));
  if (pool.etag.empty()) return stop(fmt::format("{}; {}; {}", what, no_etag_text(pool), ways));
  Move move =
      send(fmt::format("{}: send its PUT again", what), {arm::Method::Put, target_of(known), known.snapshot.again, pool.etag});
  move.is_again = true;
  return move;
}

}  // namespace

Move recreate_pool(const Known& known) {
  const std::string& name = known.target.pool;
  if (!known.pool) {
    if (known.progress.of(Phase::Recreate).accepted()) {
      return wait(fmt::format("pool {} was accepted and is not there yet; {} stands in", name, known.target.stand_in()));
    }
    return send(fmt::format("create the pool {} from the snapshot", name),
                {arm::Method::Put, target_of(known), known.snapshot.again, "", "*"});
  }
  const std::string& state = known.pool->state;
  if (state == "Creating" || state == "Updating" || state == "Deleting") return wait(fmt::format("pool {} is {}", name, state));
  if (came_to_nothing(*known.pool)) return put_again(*known.pool, known);
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
  const auto added = added_to(known.snapshot.again, known.pool->body);
  return done(fmt::format("pool {} is Succeeded, with the labels, taints and tags that it had{}", name,
                          added.empty() ? "" : fmt::format("; beside them: {}", fmt::join(added, "; "))));
}

}  // namespace armgate::heal
