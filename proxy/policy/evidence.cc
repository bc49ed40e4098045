#include "proxy/policy/evidence.h"

namespace armgate::policy {
namespace {

// A body that has all of a state need not have been built from nothing: it is judged by the states. As a create it would be
// refused if one of them is there, while under its ETag it does no harm.
void rule_out_absence(uint64_t absent, const arm::BodyFacts& facts, std::string_view put, const std::vector<StateBody>& states,
                      std::vector<VersionEvidence>& evidence) {
  bool carried = false;
  for (size_t i = 0; i < states.size(); ++i) {
    arm::Evidence& says = evidence[i].says;
    const bool possible = says == arm::Evidence::Agrees || says == arm::Evidence::Silent;
    if (!possible || !states[i].after_absence || !arm::carries(put, states[i].body, facts)) continue;
    says = arm::Evidence::Agrees;
    carried = true;
  }
  if (carried) evidence.push_back({absent, arm::Evidence::Contradicts, arm::Evidence::Silent});
}

}  // namespace

std::vector<VersionEvidence> weigh(std::string_view put, const std::vector<StateBody>& states, uint64_t absent,
                                   const arm::BodyFacts& facts) {
  std::vector<arm::WeighedState> bodies;
  for (const StateBody& state : states) bodies.push_back({state.body, state.in_hand});
  const auto says = arm::weigh_evidence(put, bodies, facts);
  std::vector<VersionEvidence> evidence;
  for (size_t i = 0; i < states.size(); ++i) evidence.push_back({states[i].version, says[i].says, says[i].says_in_hand});
  if (absent != 0) rule_out_absence(absent, facts, put, states, evidence);
  return evidence;
}

}  // namespace armgate::policy
