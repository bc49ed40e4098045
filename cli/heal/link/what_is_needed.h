// what_is_needed.h – what `--confirm` is refused for before it looks at any cluster. Asked for a dry run: nothing is taken.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/heal/facts/guards.h"
#include "cli/heal/link/command.h"
#include "proxy/config/config.h"

namespace armgate::heal {

// The service, which must keep others away; and kubectl, where it is asked for.
std::vector<Guard> what_is_needed(const Config& config, const HealRequest& request);

// The client that keeps the cluster, by the service's status page; empty: nobody, as far as that shows it.
std::string keeper_of(std::string_view status, const Target& target);

}  // namespace armgate::heal
