#include "proxy/request/operation/result.h"

#include <algorithm>

#include "arm/long_running.h"
#include "proxy/request/content_coding.h"

namespace armgate {
namespace {

OperationResults::Ended ended(const LeasedWrite& write, const OperationResult& result) {
  return {.resource = write.planned.plan->resource_key,
          .id = write.resource().id,
          .type = write.resource().type,
          .method = arm::to_text(write.method),
          .client = write.client_label,
          .request_hash = write.request_hash,
          .result = result,
          .intent = write.intent,
          .first = write.owned ? write.owned->stands_for(write.intent) : write.intent};
}

// Empty: none.
void keep_state(const Parts& parts, const KeyedPlan& plan, std::string_view state) {
  const WallTime wall = parts.clock.wall();
  const auto& id = plan.target.resource.id;
  if (!parts.shared.results.note_state(plan.resource_key, id, state, {parts.clock.now(), wall})) return;
  parts.store.record_state({id, std::string(state), wall});
}

}  // namespace

void note_result(const Parts& parts, const LeasedWrite& write, const OperationResult& result) {
  // Nearly all succeed, and their clocks need not be read.
  OperationResults::Time now;
  if (result.how != arm::Progress::Succeeded) now = {parts.clock.now(), parts.clock.wall()};
  const bool forgets = parts.shared.results.note(ended(write, result), now);
  if (forgets) parts.store.record_state({write.resource().id, {}, parts.clock.wall()});
}

void remember_result(const Parts& parts, const LeasedWrite& write, const JournaledWrite& former) {
  if (!former.ended) return;
  const Duration ago = std::max<Duration>(parts.clock.wall() - *former.ended, Duration::zero());
  OperationResults::Ended end = ended(write, former.result);
  end.first = 0;  // what is given again of it says so itself
  parts.shared.results.remember(end, {parts.clock.now() - ago, *former.ended});
}

void remember_state(const Parts& parts, const ResourceState& former) {
  const Duration ago = std::max<Duration>(parts.clock.wall() - former.since, Duration::zero());
  const Hash128 key = parts.shared.locks.key_of(former.resource);
  parts.shared.results.note_state(key, former.resource, former.state, {parts.clock.now() - ago, former.since});
}

void note_state(const Parts& parts, const KeyedPlan& plan, std::string_view state) {
  if (!state.empty() && !parts.shared.results.is_known_as(plan.resource_key, state)) keep_state(parts, plan, state);
}

void note_absent(const Parts& parts, const KeyedPlan& plan) {
  if (parts.shared.results.is_watched(plan.resource_key)) keep_state(parts, plan, "");
}

void note_read(const Parts& parts, const KeyedPlan& plan, const policy::KeptBody& body) {
  if (!parts.shared.results.is_watched(plan.resource_key)) return;
  const auto plain = plain_body(body, parts.shared.options.body_keep_max);
  if (!plain) return;
  const auto state = arm::provisioning_state(plain->text());
  note_state(parts, plan, state ? std::string_view(*state) : "Succeeded");
}

}  // namespace armgate
