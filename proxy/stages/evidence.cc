#include "proxy/stages/evidence.h"

#include <algorithm>
#include <string>
#include <utility>

#include "proxy/policy/evidence.h"
#include "proxy/stages/content_coding.h"
#include "proxy/stages/remember.h"

namespace armgate {
namespace {

// A version as this write met it.
struct Known {
  policy::Version version;
  uint64_t shown = 0;    // when it was last shown before the write arrived; zero: never
  bool in_hand = false;  // whether some actor may still hold it, as far as its deliveries tell
};

Known known(policy::Version version, const Exchange& exchange) {
  uint64_t shown = 0;
  bool in_hand = false;
  for (const auto& delivery : version.deliveries) {
    if (delivery.at.order <= exchange.arrived.order) shown = delivery.at.order;
    in_hand |= !delivery.consumed;
  }
  return {std::move(version), shown, in_hand};
}

}  // namespace

std::vector<policy::VersionEvidence> content_evidence(const Pipeline::Parts& parts, const Client& client,
                                                      const Exchange& exchange, const KeyedPlan& plan) {
  const std::string& api_version = plan.target.api_version;
  std::vector<Known> versions;
  uint64_t absent = 0;
  uint64_t told_absent = 0;
  for (auto& version : client.state->versions(plan.resource_key, 2)) {
    Known one = known(std::move(version), exchange);
    if (one.shown == 0) continue;
    if (one.version.absent && one.in_hand) {
      absent = one.version.id;
      told_absent = one.shown;
    }
    const policy::Rendering* rendering = one.version.rendered_at(api_version);
    // The body of a write that was answered without one lacks all that ARM adds.
    const bool whole = rendering != nullptr && rendering->body && !one.version.absent && !rendering->body->is_sent_body;
    if (whole) versions.push_back(std::move(one));
  }
  if (versions.empty() || (versions.size() == 1 && absent == 0)) return {};
  // Evidence compares: what is left out may be what the body was built from while another state gets the credit. So the dead
  // are left out first, then the oldest.
  std::sort(versions.begin(), versions.end(),
            [](const Known& a, const Known& b) { return std::pair(a.in_hand, a.shown) > std::pair(b.in_hand, b.shown); });
  if (versions.size() > arm::kEvidenceStatesMax) versions.resize(arm::kEvidenceStatesMax);

  std::vector<policy::StateBody> states;
  for (const auto& [version, shown, in_hand] : versions) {
    auto plain = plain_body(*version.rendered_at(api_version)->body, parts.shared.options.body_keep_max);
    states.push_back({version.id, plain ? (*std::move(plain)).into_string() : "", shown > told_absent, in_hand});
  }
  return policy::weigh(exchange.request.body, states, absent, body_facts(plan));
}

}  // namespace armgate
