// parent.h – which proxy stands between armgate and the world: what the configuration and the environment say of it, and
// what the network part needs to know.
//
// Its password is a secret: it is in no message, and in no file or environment that armgate writes.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "proxy/config/config.h"
#include "proxy/config/tool_environment.h"
#include "proxy/net/upstream/parent_proxy.h"

namespace armgate {

// Notes the proxy that the environment names if the configuration leaves that open, and says what there is to say about it: a
// line with its end, or nothing. One that is armgate counts for none; of the one in ARMGATE_ACTIVE, which led here, there is
// nothing to say.
std::string adopt_environment_proxy(Config& config, const Environment& environment);

// What tells this process from all others, to itself: in the Via of what it sends (RFC 9110 §7.6.3).
std::string fresh_mark();

// What is wrong with the configured proxy in this environment; empty if nothing is.
std::string fault_of_proxy(const Config& config, const Environment& environment);

// The one that counts; nothing if there is none. BadInput if its password cannot be read.
Result<std::optional<net::ParentProxy>> parent_proxy(const Config& config);

}  // namespace armgate
