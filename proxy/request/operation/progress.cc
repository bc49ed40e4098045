#include "proxy/request/operation/progress.h"

#include "arm/arm_error.h"
#include "base/mutant.h"
#include "proxy/request/operation/result.h"
#include "proxy/request/operation/send_again.h"

namespace armgate {
namespace {

// Where it is done, and its operation may run on without a sign: the next one waits so long, and then for ARM, which says 409.
constexpr Duration kUnseenMax = std::chrono::seconds(5);

Duration may_come_to_more_for(const OperationLease& op_lease) {
  const LeasedWrite& write = op_lease.write();
  if (is_mutant(Mutant::AbortTakenForEnd)) return Duration{};
  if (write.is_on_its_way && !is_mutant(Mutant::LostIsOver)) return write.inherited ? kOnItsWayMax : kLateEffectMax;
  const bool runs_unseen = write.runs_unseen && op_lease.pace().seen_running == TimePoint{};
  return runs_unseen ? kUnseenMax : Duration{};
}

}  // namespace

arm::Progress progress_of(arm::TrackedBy by, const arm::ResponseHead& head, std::string_view body) {
  switch (by) {
    case arm::TrackedBy::StatusUrl: return arm::progress_of_status_url(head, body);
    case arm::TrackedBy::LocationUrl: return arm::progress_of_location_url(head, body);
    case arm::TrackedBy::ResourceState: return arm::progress_of_resource(head, body);
    case arm::TrackedBy::ResourceGone: return arm::progress_of_deleted_resource(head);
    case arm::TrackedBy::Nothing: break;
  }
  return arm::Progress::Unknown;
}

TimePoint may_come_to_more_until(const OperationLease& op_lease, arm::TrackedBy by) {
  const bool by_resource = by == arm::TrackedBy::ResourceState || by == arm::TrackedBy::ResourceGone;
  return op_lease.write().opened + (by_resource ? may_come_to_more_for(op_lease) : Duration{});
}

void learn_more(const Parts& parts, OperationLease& op_lease, arm::TrackedBy by, arm::Progress progress,
                std::string_view body) {
  if (arm::is_at_url(by) && arm::has_failed(progress)) {
    op_lease.note_error(arm::error_codes(body));
    note_late_failure(op_lease.write(), body);
  }
  if (by != arm::TrackedBy::ResourceState) return;
  if (const auto state = arm::provisioning_state(body)) note_state(parts, *op_lease.write().planned.plan, *state);
}

}  // namespace armgate
