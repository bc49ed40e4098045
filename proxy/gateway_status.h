// gateway_status.h – asks the service that runs with a configuration what it is doing, or to release what it holds.
//
// Limits    a few seconds, then nobody answers there.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "proxy/config.h"

namespace armgate {

// Its status page (admin.h), JSON. BadInput if the configuration has no admin listener; Unreachable if nobody answers there.
Result<std::string> fetch_status(const Config& config);

// Releases what holds the resource, JSON that says what that was. BadInput also if nothing holds it or it cannot be released.
// `resource` is its id, `who` a client name (cli_environment.h) for the service's log.
Result<std::string> unlock_resource(const Config& config, std::string_view resource, std::string_view who);

}  // namespace armgate
