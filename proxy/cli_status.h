// cli_status.h – what a running service answers (gateway_status.h), for people.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace armgate {

// Unreachable if it is no such page: then something else answers there.
Result<std::string> status_text(std::string_view json);

// The same for what was released.
Result<std::string> unlocked_text(std::string_view json);

}  // namespace armgate
