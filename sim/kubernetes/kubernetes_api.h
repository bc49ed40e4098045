// kubernetes_api.h – as much of a Kubernetes API server as kubectl needs to get, cordon and drain the nodes of simulated
// clusters.
//
//   GET    /version, /api, /apis, /api/v1, /apis/apps/v1, /apis/policy/v1    discovery
//   GET    /api/v1/nodes, /api/v1/nodes/NAME, /api/v1/pods, /api/v1/namespaces/NS/pods[/NAME]
//   PATCH  /api/v1/nodes/NAME                              spec.unschedulable
//   POST   /api/v1/namespaces/NS/pods/NAME/eviction        429 where a PodDisruptionBudget is in the way
//   GET    /apis/policy/v1/poddisruptionbudgets, /apis/apps/v1/namespaces/kube-system/daemonsets/kube-proxy
//
// Selectors are lists of NAME=VALUE. A request without a token is answered 401; any token will do.
//
// Tests control it with POST /__sim/kubernetes on the simulated ARM's own listener, all members optional:
//   {"ready_ms": 1500, "never_ready": "000002", "pod_ready_ms": 1000,
//    "workloads": [{"name": "shop", "pool": "system", "replicas": 2, "min_available": 1}]}
// GET tells what was asked of it.
//
// Threads   none; the caller serialises.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arm/http.h"
#include "base/time.h"
#include "json/tree_fwd.h"
#include "sim/kubernetes/nodes.h"

namespace armgate::sim {

class KubernetesApi {
 public:
  // `wall` is the time of day at `start`.
  KubernetesApi(TimePoint start, WallTime wall) : start_(start), wall_(wall) {}

  // `pools` is what ARM has at `now`.
  void observe(const std::vector<ClusterPool>& pools, TimePoint now) { nodes_.observe(pools, now); }
  arm::Response handle(const arm::Request& request, const std::vector<ClusterPool>& pools, TimePoint now);
  arm::Response control(const arm::Request& request, const std::vector<ClusterPool>& pools, TimePoint now);

 private:
  using Path = std::vector<std::string>;
  arm::Response answer(const arm::Request& request, const Path& path);
  arm::Response get(const arm::Request& request, const Path& path) const;
  arm::Response patch_node(const arm::Request& request, const std::string& name);
  arm::Response evict(const std::string& namespace_name, const std::string& name);
  arm::Response list_nodes(std::string_view target) const;
  arm::Response list_pods(std::string_view target, std::string_view namespace_name) const;
  nlohmann::json shown(const Node& node) const;
  nlohmann::json shown(const Pod& pod) const;
  nlohmann::json shown_proxy(const Node& node) const;
  nlohmann::json budget(const Workload& workload) const;
  std::string time_text(TimePoint at) const;

  const TimePoint start_;
  const WallTime wall_;
  Nodes nodes_;
  uint64_t requests_ = 0;
  uint64_t cordoned_ = 0;
  uint64_t evicted_ = 0;
  uint64_t refused_ = 0;  // evictions, by a budget
};

}  // namespace armgate::sim
