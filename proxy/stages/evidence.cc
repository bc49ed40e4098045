#include "proxy/stages/evidence.h"

#include <algorithm>
#include <string>
#include <utility>

#include "proxy/policy/evidence.h"
#include "proxy/stages/content_coding.h"
#include "proxy/stages/remember.h"

namespace armgate {
namespace {

// When the version was last shown before the write arrived; zero: never.
uint64_t last_shown(const policy::Version& version, const Exchange& exchange) {
  uint64_t last = 0;
  for (const auto& delivery : version.deliveries) {
    if (delivery.at.order <= exchange.arrived.order) last = delivery.at.order;
  }
  return last;
}

// Whether some actor may still hold it, as far as its deliveries tell.
bool in_hand(const policy::Version& version) {
  return std::any_of(version.deliveries.begin(), version.deliveries.end(), [](const auto& d) { return !d.consumed; });
}

}  // namespace

std::vector<policy::VersionEvidence> content_evidence(const Pipeline::Parts& parts, const Client& client,
                                                      const Exchange& exchange, const rules::Plan& plan) {
  auto versions = client.state->versions(parts.shared.hasher.hash(plan.target.resource.id), 2);
  uint64_t absent = 0;
  uint64_t told_absent = 0;
  for (const auto& version : versions) {
    if (!version.absent || !in_hand(version) || last_shown(version, exchange) == 0) continue;
    absent = version.id;
    told_absent = last_shown(version, exchange);
  }
  std::erase_if(versions, [&](const policy::Version& v) {
    const policy::Rendering* known = v.rendered_at(plan.target.api_version);
    // The body of a write that was answered without one lacks all that ARM adds.
    const bool whole = known != nullptr && known->body && !v.absent && !known->body->is_sent_body;
    return !whole || last_shown(v, exchange) == 0;
  });
  if (versions.empty() || (versions.size() == 1 && absent == 0)) return {};
  // Evidence compares: what is left out may be what the body was built from while another state gets the credit. So the dead
  // are left out first, then the oldest.
  std::sort(versions.begin(), versions.end(), [&](const policy::Version& a, const policy::Version& b) {
    return std::pair(in_hand(a), last_shown(a, exchange)) > std::pair(in_hand(b), last_shown(b, exchange));
  });
  if (versions.size() > arm::kEvidenceStatesMax) versions.resize(arm::kEvidenceStatesMax);

  std::vector<policy::StateBody> states;
  for (const auto& version : versions) {
    auto plain = plain_body(*version.rendered_at(plan.target.api_version)->body, parts.shared.options.body_keep_max);
    states.push_back({version.id, plain ? *std::move(plain) : std::string(), last_shown(version, exchange) > told_absent});
  }
  return policy::weigh(exchange.request.body, states, absent, read_only_members(plan));
}

}  // namespace armgate
