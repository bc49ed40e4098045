#include "proxy/stages/blind.h"

#include "base/mutant.h"

namespace armgate {

namespace {

// Whether the write may be built on what its client read through an earlier process, which would be its base, had it been
// remembered, and another client has written since the records begin. Not so after writes of its own: those it knows of, mostly.
bool overtook_former_read(const Write& write) {
  const auto& shared = write.parts.shared;
  const bool may_know_former_state = write.base().rule == policy::BaseRule::Blind &&
                                     rules::keeps_versions(write.plan.rule->guard.kind) &&
                                     write.parts.clock.now() < shared.former_reads_until;
  return may_know_former_state &&
         shared.resources.other_accepted_since(write.plan.resource_key, write.bytes, 0, write.client.key);
}

}  // namespace

std::optional<std::string> blind_conflict(const Write& write) {
  if (!write.replaces || !write.base().goes_unguarded() || is_mutant(Mutant::BlindAlwaysSent)) return std::nullopt;
  if (write.base().rule == policy::BaseRule::Insisted) return std::nullopt;
  if (write.plan.rule->blind_after_wait == rules::BlindAfterWait::Send) return std::nullopt;
  const auto& resources = write.parts.shared.resources;
  // One that was accepted and still runs: its client may have been let in behind it.
  const uint64_t since = write.bound.first_arrival.order;
  const bool overtaken = resources.other_finished_since(write.plan.resource_key, write.bytes, since, write.own_client()) ||
                         resources.other_accepted_since(write.plan.resource_key, write.bytes, since, write.own_client());
  if (overtaken) {
    if (!rules::keeps_versions(write.plan.rule->guard.kind)) {
      return "Another write to this resource finished while this one was on its way. Whether this one knows of it cannot be told: "
             "armgate does not track reads of this type under the rules that hold for it.";
    }
    return "Another write to this resource finished while this one, which is not known to be based on any state of it, was on "
           "its way.";
  }
  if (overtook_former_read(write)) {
    return "armgate was started anew a short while ago. What this client read before that is not remembered, and somebody else has "
           "written to this resource lately: read it again.";
  }
  if (write.base().rule == policy::BaseRule::Create &&
      resources.other_accepted_since(write.plan.resource_key, write.bytes, write.base().known.order, write.own_client())) {
    return "Somebody else created or changed this resource after this client was told that it does not exist.";
  }
  return std::nullopt;
}

}  // namespace armgate
