// import.h – takes over what a single armgate's journal has open into a cluster's log (armgate cluster import).
// Threads   any.
#pragma once

#include <cstddef>
#include <filesystem>

#include "base/result.h"
#include "proxy/config/config.h"

namespace armgate {

namespace cluster {
class ClusterKey;
class PgConnection;
}  // namespace cluster

struct TakenOver {
  bool is_new = false;  // false: it was done before, and nothing now
  size_t running = 0;
  size_t in_doubt = 0;
  size_t ended = 0;    // lately
  size_t dropped = 0;  // that no rule of now would hold
};

// By the rules of `config`. BadInput: the cluster cannot be joined or has begun, or there is no such journal, it is in use, or
// not read.
Result<TakenOver> import_into_cluster(const Config& config, const std::filesystem::path& journal, cluster::PgConnection& engine,
                                      const cluster::ClusterKey& key);

}  // namespace armgate
