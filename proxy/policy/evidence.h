// evidence.h – what a full PUT's body says about everything that its client was shown of the resource, absence among it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arm/content.h"
#include "proxy/policy/base.h"

namespace armgate::policy {

// A state in plain bytes, read at the PUT's own api-version.
struct StateBody {
  uint64_t version = 0;
  std::string body;
  // Whether it was shown after the last 404: only then can the body be built on it rather than on nothing.
  bool after_absence = true;
  bool in_hand = true;  // not used up
};

// `absent` is the version of not existing that somebody may still hold; 0: none. At most arm::kEvidenceStatesMax states are
// looked at.
std::vector<VersionEvidence> weigh(std::string_view put, const std::vector<StateBody>& states, uint64_t absent,
                                   const arm::BodyFacts& facts);

}  // namespace armgate::policy
