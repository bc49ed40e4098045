// shown.h – for `armgate explain --shown`: which of the states that a client was shown a full PUT would be taken to be built
// from, what in its body says so, and what it leads to beside what is there now (--there).
#pragma once

#include <optional>
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

struct ShownBefore {
  std::vector<ShownAnswer> shown;
  std::optional<ShownAnswer> there;  // what is there now; nothing: not said
  policy::Actors actors = policy::Actors::Unknown;
  rules::Merging merging = rules::Merging::On;  // of configuration and client
};

// The same decisions as in the running service, for reads that all arrived, at the PUT's own api-version, and a client that
// was not refused before.
std::vector<rules::Fact> explain_shown(const std::string& body, const ShownBefore& before, const rules::Plan& plan);

}  // namespace armgate
