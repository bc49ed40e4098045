#include "proxy/stages/verify.h"

#include <algorithm>
#include <utility>

namespace armgate {
namespace {

// A state, or the absence of one, that the write may be built on as well as on its base.
bool may_be_base(const Write& write, const policy::Version& version) {
  return !version.refused && std::any_of(version.deliveries.begin(), version.deliveries.end(), [&](const auto& delivery) {
    return !delivery.consumed && delivery.at.order <= write.exchange.arrived.order;
  });
}

}  // namespace

Comparison compare_with_shown(const Write& write, const SeenState& now) {
  const size_t bytes_max = write.parts.shared.options.body_keep_max;
  const policy::Base& base = write.base();
  Comparison comparison = compare_with_base(now, base, write.plan, bytes_max);
  if (!comparison.same) return comparison;
  // What was sent says less than what was shown: additions of others do not contradict it, so they are looked up as well.
  if (base.body->is_sent_body) {
    comparison.same = !write.parts.shared.resources.other_accepted_since(write.plan.resource_key, write.bytes, base.known.order,
                                                                         write.own_client());
  }
  if (!base.guessed) return comparison;
  for (const auto& version : write.client.state->versions(write.plan.resource_key)) {
    if (!comparison.same) break;
    if (version.id == base.version || !may_be_base(write, version)) continue;
    if (!version.etag.empty() && version.etag == now.etag) continue;
    policy::Base other;
    other.body = version.rendering_for(base.api_version).body;
    comparison = compare_with_base(now, other, write.plan, bytes_max);
  }
  return comparison;
}

}  // namespace armgate
