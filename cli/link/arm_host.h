// arm_host.h – the host under which a command of armgate's own asks ARM.
#pragma once

#include <string>

#include "proxy/config/config.h"

namespace armgate {

// The first of the intercepted hosts that is no pattern.
std::string arm_host(const Config& config);

}  // namespace armgate
