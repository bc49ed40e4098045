// unlock.h – an operator takes a resource back from writes whose operations nobody is to wait for any more (promise P2,
// docs/design.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/time.h"
#include "proxy/request/parts.h"

namespace armgate {

struct Unlocked {
  struct Write {
    std::string what;  // "PUT /subscriptions/..."
    std::string client;
    Duration held{};  // since it was sent
    bool inherited = false;
  };
  std::vector<Write> released;
  // A write that ARM has not answered yet has the key too: it is not taken back, and ends with its answer or its timeout.
  bool on_its_way = false;
  bool others_told = false;  // of a cluster: one of them has it, and lets go of what ARM has answered
  std::string lease_of;      // whose run lease it is that one of them ends
};

// Ends all operation leases on the key, with all their other keys, with an alert and counted: who waits goes next, whatever ARM
// still does with what was held. `who` is for the log. From any thread whose loop `parts` belongs to.
Unlocked unlock(const Parts& parts, const Hash128& key, std::string_view who);
// The same of what this process has, though it is one of several.
Unlocked unlock_here(const Parts& parts, const Hash128& key, std::string_view who);

}  // namespace armgate
