// cluster.h – what a repair has to know of a cluster and its node pools, read from ARM's answers.
//
// Why: every decision of the runbook is made from these values, so that it can be tried in a table. What cannot be read is an
// error, never a default: nothing destructive may follow from it (docs/requirements.md, W7).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace armgate::heal {

// Which cluster and pool, and the name of the pool that stands in meanwhile.
struct Target {
  std::string cluster;  // its id, as given
  std::string pool = "system";
  std::string api_version = "2025-10-01";

  std::string pool_id() const { return cluster + "/agentPools/" + pool; }
  std::string stand_in() const;  // depends on the pool's name alone, so that a left-over is found again
  std::string stand_in_id() const { return cluster + "/agentPools/" + stand_in(); }
};

// BadInput: it is no id of a cluster, or no name of a pool.
Result<Target> target_of(std::string_view cluster_id, std::string_view pool);

struct Cluster {
  std::string state;         // properties.provisioningState, its case kept: an unknown one means no action
  std::string node_group;    // properties.nodeResourceGroup
  std::string version;       // properties.currentKubernetesVersion
  std::string recreated_at;  // the tag that the last step leaves; empty: none
};

struct Pool {
  std::string name;
  std::string state;
  std::string mode;
  std::string etag;              // empty: this cluster shows none
  std::optional<int64_t> count;  // nothing: not said
  std::string purpose;           // the tags of a stand-in
  std::string source;
  std::string run;
  std::string body;  // as read, for the snapshot
};

inline constexpr std::string_view kPurposeTag = "armgate-purpose";
inline constexpr std::string_view kSourceTag = "armgate-source";
inline constexpr std::string_view kRunTag = "armgate-run";
inline constexpr std::string_view kStandInPurpose = "temp-recreate-system-pool";
inline constexpr std::string_view kRecreatedTag = "armgate-recreated";

Result<Cluster> read_cluster(std::string_view json);
Result<Pool> read_pool(std::string_view json);

struct PoolPage {
  std::vector<Pool> pools;
  std::string next;  // nextLink; empty: the last page
};
Result<PoolPage> read_pool_page(std::string_view json);

}  // namespace armgate::heal
