#include "proxy/net/upstream/host_pattern.h"

#include <algorithm>

namespace armgate::net {

bool matches_host(std::string_view host, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [host](std::string_view pattern) {
    if (!pattern.starts_with("*.")) return host == pattern;
    const std::string_view suffix = pattern.substr(1);
    return host.size() > suffix.size() && host.ends_with(suffix);
  });
}

}  // namespace armgate::net
