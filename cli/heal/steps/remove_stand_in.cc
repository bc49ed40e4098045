// The stand-in goes, once the pool is well.
#include <fmt/format.h>

#include "cli/heal/steps/step.h"

namespace armgate::heal {
namespace {

Move remove(const Known& known, Phase phase) {
  const std::string name = known.target.stand_in();
  if (!known.lease_held) return wait(std::string(kEarlierWrite));  // it may be the one that makes it
  if (!known.stand_in) {
    if (known.stand_in_may_come && !known.progress.of(phase).may_have_run())
      return wait(fmt::format("pool {} is not there, but may have been made: ARM may not know it yet", name));
    return done(fmt::format("pool {} is gone", name));
  }
  if (known.stand_in->state == "Deleting") return wait(fmt::format("pool {} is Deleting", name));
  if (known.progress.of(phase).accepted()) {
    if (known.stand_in->state != "Failed")
      return wait(fmt::format("the delete was accepted, pool {} is {}", name, known.stand_in->state));
    return stop(fmt::format("the delete of pool {} failed; delete it by hand, {} is well", name, known.target.pool));
  }
  if (const auto why = why_not_ours(*known.stand_in, known.target)) return stop(*why);
  if (known.stand_in->etag.empty()) {
    return stop(fmt::format("{}; look whether {} is well, then delete {} by hand", no_etag_text(*known.stand_in),
                            known.target.pool, name));
  }
  return send(fmt::format("delete the pool {}", name),
              {arm::Method::Delete, fmt::format("{}?api-version={}", known.target.stand_in_id(), known.target.api_version), "",
               known.stand_in->etag});
}

}  // namespace

Move remove_stand_in(const Known& known) {
  const bool is_well = known.pool && known.pool->state == "Succeeded";
  if (!is_well) return stop(fmt::format("pool {} is not well, so {} stays", known.target.pool, known.target.stand_in()));
  return remove(known, Phase::Remove);
}

// Back to what it was, as long as the pool itself was not touched.
Move undo(const Known& known) {
  if (known.progress.may_be_deleted()) {
    return stop(
        fmt::format("pool {} was deleted, or is about to be: that cannot be undone; take the run up again", known.target.pool));
  }
  const bool goes = !known.pool || known.pool->state == "Deleting";
  if (goes && known.stand_in) {
    return stop(fmt::format("pool {} is {}, so {} stays; the same command without --undo makes it anew", known.target.pool,
                            known.pool ? known.pool->state : "gone", known.target.stand_in()));
  }
  return remove(known, Phase::Undo);
}

}  // namespace armgate::heal
