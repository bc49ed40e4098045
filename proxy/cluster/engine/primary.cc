#include "proxy/cluster/engine/primary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace armgate::cluster {
namespace {

bool is_same_server(const Primary& one, const Primary& other) {
  return one.system == other.system && one.timeline == other.timeline && one.begun == other.begun;
}

}  // namespace

bool is_older(const Primary& one, const Primary& other) { return one.system == other.system && one.timeline < other.timeline; }

std::optional<size_t> newest_of(const std::vector<Primary>& servers) {
  for (size_t i = 0; i < servers.size(); ++i) {
    const Primary& one = servers[i];
    const bool is_newest = std::all_of(servers.begin(), servers.end(), [&one](const Primary& other) {
      return is_same_server(one, other) || is_older(other, one);
    });
    if (is_newest) return i;
  }
  return std::nullopt;
}

std::optional<std::string> rivals_among(const std::vector<Primary>& servers) {
  const bool are_one = std::all_of(servers.begin(), servers.end(),
                                   [&servers](const Primary& one) { return is_same_server(one, servers.front()); });
  if (are_one) return std::nullopt;
  std::vector<std::string> names;
  for (const Primary& one : servers) names.push_back(fmt::format("{} (timeline {})", one.name, one.timeline));
  const auto newest = newest_of(servers);
  return fmt::format("more than one of the cluster's servers takes writes: {}. {}", fmt::join(names, ", "),
                     newest ? fmt::format("{} is the primary: stop the other", servers[*newest].name)
                            : "None was promoted after the others, so none is used: stop the wrong one");
}

}  // namespace armgate::cluster
