// host_pattern.h – which hosts a configured pattern means.
//
// A file of its own, because what reads the configuration needs this and nothing else of the network.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace armgate::net {

// Host patterns in lower case: an exact name, or "*.suffix" for every name below the suffix (not the suffix itself).
bool matches_host(std::string_view host, const std::vector<std::string>& patterns);

}  // namespace armgate::net
