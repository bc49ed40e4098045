#include "cli/heal/steps/step.h"

namespace armgate::heal {
namespace {

using std::chrono::minutes;

constexpr Step kSteps[] = {
    {Phase::Abort, "abort the operation that does not end", abort_operation, minutes(15)},
    {Phase::StandIn, "add a temporary system pool", add_stand_in, minutes(20)},
    {Phase::Delete, "delete the wedged pool", delete_pool, minutes(20)},
    {Phase::Recreate, "create the pool anew", recreate_pool, kReservedForRecreate},
    {Phase::Remove, "delete the temporary pool", remove_stand_in, minutes(20)},
    {Phase::Mark, "tag the cluster", mark_cluster, minutes(5)},
    {Phase::Check, "look that nothing is left over", check_result, minutes(5)},
};
constexpr Step kUndo{Phase::Undo, "delete the temporary pool, leave the old one", undo, minutes(20)};

}  // namespace

std::span<const Step> all_steps() { return kSteps; }
const Step& undo_step() { return kUndo; }

}  // namespace armgate::heal
