// evidence.h – asks the body of a full PUT which of the states that its client was shown it was built from.
//
// Why here: bodies are unpacked and parsed, which ClientState does not do with its mutex held.
#pragma once

#include <vector>

#include "proxy/policy/base.h"
#include "proxy/stages/exchange.h"
#include "proxy/stages/identify.h"
#include "proxy/stages/parts.h"

namespace armgate {

// Nothing if there is nothing to choose from, two states at least or one and its absence. Compared are the newest few that were
// read at the PUT's own api-version, whole, before it arrived. A state that is not among them rules nothing out and is not ruled out.
std::vector<policy::VersionEvidence> content_evidence(const Pipeline::Parts& parts, const Client& client,
                                                      const Exchange& exchange, const KeyedPlan& plan);

}  // namespace armgate
