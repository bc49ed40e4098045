// requirements.h – what a configuration must have to be one of a cluster, as far as that can be told without its engine.
//
// Threads   any.
#pragma once

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

}  // namespace armgate
