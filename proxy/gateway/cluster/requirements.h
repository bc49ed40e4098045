// requirements.h – what a configuration must have to be one of a cluster, as far as that can be told without its engine.
//
// Threads   any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "proxy/config/config.h"

namespace armgate {

struct ClusterFault {
  std::string pointer;  // of the option
  std::string message;
};

// Why this configuration makes no replica; none without cluster.engine. The key file is looked at by
// cluster::ClusterKey::load alone.
std::vector<ClusterFault> cluster_faults(const Config& config);
// The first of them.
Result<void> check_cluster_options(const Config& config);
// Why the way to the engine is not safe (cluster::weak_transport); nothing: it is, or there is none.
std::optional<std::string> weak_way_to_engine(const Config& config);

}  // namespace armgate
