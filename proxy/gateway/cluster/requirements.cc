#include "proxy/gateway/cluster/requirements.h"

#include "proxy/cluster/engine/pg_servers.h"

namespace armgate {

std::vector<ClusterFault> cluster_faults(const Config& config) {
  std::vector<ClusterFault> faults;
  if (config.cluster.engine.empty()) return faults;
  if (!config.journal.file.empty()) {
    faults.push_back(
        {"/journal/file", "journal.file and cluster.engine exclude each other: the cluster records what a journal would"});
  }
  if (!config.cluster.experimental) {
    faults.push_back(
        {"/cluster/experimental",
         "cluster.engine is experimental: docs/cluster.md says what is not proven and what is missing; to try it all "
         "the same say cluster.experimental: \"on\""});
  }
  if (config.cluster.key_file.empty()) {
    faults.push_back(
        {"/cluster/key_file", "cluster.engine needs cluster.key_file, with 32 random bytes or more that all replicas have"});
  }
  if (const auto servers = cluster::servers_of(config.cluster.engine, {}); !servers)
    faults.push_back({"/cluster/engine", servers.error().context});
  return faults;
}

Result<void> check_cluster_options(const Config& config) {
  const auto faults = cluster_faults(config);
  if (faults.empty()) return {};
  return gateway_error(ErrorKind::BadInput, faults.front().message);
}

std::optional<std::string> weak_way_to_engine(const Config& config) { return cluster::weak_transport(config.cluster.engine); }

}  // namespace armgate
