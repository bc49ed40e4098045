// early_end.h – actions that end the operation which another request has begun.
#pragma once

#include <string_view>

namespace armgate::arm {

// POST .../abort (AKS), .../cancel (deployments, rolling upgrades); `action` in lower case. Whatever waits for that operation's
// end has to let them pass.
inline bool ends_an_operation(std::string_view action) { return action.starts_with("abort") || action.starts_with("cancel"); }

}  // namespace armgate::arm
