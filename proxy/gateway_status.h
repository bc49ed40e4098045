// gateway_status.h – asks the service that runs with a configuration what it is doing.
//
// Limits    a few seconds, then nobody answers there.
#pragma once

#include <string>

#include "base/result.h"
#include "proxy/config.h"

namespace armgate {

// Its status page (admin.h), JSON. BadInput if the configuration has no admin listener; Unreachable if nobody answers there.
Result<std::string> fetch_status(const Config& config);

}  // namespace armgate
