// shown.h – for `armgate explain --shown`: which of the states that a client was shown a full PUT would be taken to be built
// from, and what in its body says so.
#pragma once

#include <string>
#include <vector>

#include "proxy/policy/bases.h"
#include "rules/explain.h"

namespace armgate {

// In the order in which they were shown.
struct ShownAnswer {
  std::string name;  // of the file
  std::string body;
  bool absent = false;  // it was a 404
};

// The same decision as in the running service, for reads that all arrived, at the PUT's own api-version.
std::vector<rules::Fact> explain_shown(const std::string& body, const std::vector<ShownAnswer>& shown, const rules::Plan& plan,
                                       policy::Actors actors);

}  // namespace armgate
