// Deletes the wedged pool: what is broken belongs to its scale set and goes with it. The pool is deleted only if the stand-in
// is well, nobody else writes, the pool is still wedged and still as it was written down, and there is time to make it anew.
// All of this is checked before each sending, since somebody, or AKS itself, may have repaired the pool meanwhile. A 412 says
// that somebody has written to it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "cli/heal/facts/pool_body.h"
#include "cli/heal/steps/step.h"

namespace armgate::heal {
namespace {

// Why the pool must not be deleted now.
std::optional<std::string> objection(const Known& known) {
  constexpr std::string_view kAnew = "--undo --confirm ends this run, then begin a new one";
  if (!known.stand_in) return fmt::format("the stand-in {} is gone; {}", known.target.stand_in(), kAnew);
  if (auto why = why_not_ours(*known.stand_in, known.target)) return why;
  if (known.stand_in->state != "Succeeded") {
    return fmt::format("the stand-in {} is {}; {}", known.stand_in->name, known.stand_in->state, kAnew);
  }
  if (known.left < kReservedForRecreate) {
    return fmt::format("of the time for the whole run {} min are left, and {} are kept to make the pool anew",
                       std::chrono::duration_cast<std::chrono::minutes>(known.left).count(),
                       std::chrono::duration_cast<std::chrono::minutes>(kReservedForRecreate).count());
  }
  return std::nullopt;
}

// Its new life is made from the snapshot: what somebody changed since would be lost.
std::vector<std::string> changes_since(const Snapshot& snapshot, const Pool& pool) {
  std::vector<std::string> changes = missing_of(snapshot.again, pool.body);
  const auto added = added_to(snapshot.again, pool.body);
  changes.insert(changes.end(), added.begin(), added.end());
  return changes;
}

Move stop_for(const Guard& objection, const Known& known) {
  if (objection.says == Guard::Says::Refuse) return stop(objection.why + "; the pool was not deleted");
  if (!known.progress.of(Phase::Delete).may_have_run()) return stop(not_needed_text(objection.why, known.progress));
  return stop(
      fmt::format("{0}, although its delete was sent; if it stays so, pool {1} is not needed any more: az aks nodepool delete",
                  objection.why, known.target.stand_in()));
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
  if (!known.lease_held) return wait(std::string(kEarlierWrite));
  if (known.objection) return stop_for(*known.objection, known);
  if (known.nodes_not_ready) return wait(*known.nodes_not_ready);
  if (const auto why = objection(known)) return stop(*why + "; the pool was not deleted");
  const auto changes = changes_since(known.snapshot, *known.pool);
  if (!changes.empty())
    return renew(fmt::format("the pool was changed since it was written down: {}", fmt::join(changes, "; ")));
  if (known.pool->etag.empty()) return stop(no_etag_text(*known.pool) + "; the pool was not deleted");
  return send(fmt::format("delete the pool {}", name),
              {arm::Method::Delete, fmt::format("{}?api-version={}", known.target.pool_id(), known.target.api_version), "",
               known.pool->etag});
}

}  // namespace armgate::heal
