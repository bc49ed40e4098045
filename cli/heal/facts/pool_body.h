// pool_body.h – from a pool as ARM shows it to the bodies that make it anew, and back to what of it is missing then.
//
// Why: a body that was read cannot be written as it is: the service's own members are refused or do harm. Lists of what to
// leave out grow old (the source system forgot eTag), so here what is in neither list is refused by name before anything is
// touched.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace armgate::heal {

struct PoolBodies {
  std::string again;                  // the pool itself, anew
  std::string stand_in;               // the pool that takes its place meanwhile
  std::vector<std::string> left_out;  // members that only the service writes, as pointers
  std::string vm_size;
  std::string version;      // of Kubernetes, that the new pool gets
  std::string version_now;  // that the pool runs; empty: it does not say
  int64_t stand_in_count = 1;
};

struct StandIn {
  std::string source;  // the id of the pool that it stands in for
  std::string run;
  int64_t count = 0;  // of nodes; 0: as many as the pool
};

// BadInput names every member that cannot be carried over, and what is missing. `version` is what the control plane runs
// (Cluster::version): nodes must not be newer, and are not to be older. Nothing of `pool` changes.
Result<PoolBodies> pool_bodies(std::string_view pool, std::string_view version, const StandIn& stand_in);

// What of `again` a pool that was read does not have: labels, taints, tags, sizes, zones, subnets, in words. What the service
// added does not count, nor do the number of nodes and the version, which move by themselves.
std::vector<std::string> missing_of(std::string_view again, std::string_view pool);

// The other way: what a pool that was read has beyond `again` in what its owner may set, and how many nodes, if not as many.
std::vector<std::string> added_to(std::string_view again, std::string_view pool);

}  // namespace armgate::heal
