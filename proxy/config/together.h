// together.h – options that do not go together, though each is good by itself.
//
// Threads   any; no state.
#pragma once

#include <string>

#include "proxy/config/config.h"
#include "rules/file/rule_file.h"

namespace armgate {

// Complains of options that do not go together, unless one of them is wrong by itself: then its default stands in its place.
class Together {
 public:
  Together(const Config& config, const rules::JsonPositions& positions, rules::FaultList& faults)
      : config_(config), positions_(positions), faults_(faults), before_(faults) {}

  void require(bool good, const std::string& pointer, const std::string& other, std::string message);

 private:
  // By itself, or something in it or around it.
  bool is_wrong(const std::string& pointer) const;

  const Config& config_;
  const rules::JsonPositions& positions_;
  rules::FaultList& faults_;
  const rules::FaultList before_;
};

// What no single option's bounds can say. The files that they name are another matter.
void check_together(const Config& config, Together& together);

}  // namespace armgate
