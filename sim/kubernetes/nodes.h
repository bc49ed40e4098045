// nodes.h – the nodes of the simulated clusters' pools, and pods on them: what Kubernetes would make of what ARM says.
//
// Why: `armgate heal` waits for nodes and drains them with the real kubectl. A pool's nodes are there as soon as the pool is,
// become ready some time later, and go with it.
//
// Invariants
//   1. No I/O, no clock: time only moves through observe(), and must not go back.
//   2. A pod stands on a node that is there, or is pending; an eviction never takes a workload below its budget.
// Threads   none; the caller serialises.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "sim/sim_arm.h"

namespace armgate::sim {

struct NodeOptions {
  Duration ready_after{};   // for so long a new node is not ready...
  std::string never_ready;  // ...and never, if its name contains this; empty: each becomes ready
  Duration pod_ready_after = std::chrono::seconds(1);
};

struct Node {
  std::string name;
  std::string pool;
  std::string mode;
  std::string version;  // of its kubelet
  TimePoint since{};
  bool is_ready = false;
  bool is_cordoned = false;
};

// A deployment and its PodDisruptionBudget in one.
struct Workload {
  std::string name;
  std::string namespace_name = "default";
  std::string pool;  // where its first pods stand
  size_t replicas = 1;
  size_t min_available = 0;
};

struct Pod {
  std::string name;
  std::string workload;
  std::string namespace_name;
  std::string node{};  // empty: it is pending
  TimePoint since{};   // of the node
  bool is_ready = false;
};

class Nodes {
 public:
  void set_options(NodeOptions options) { options_ = std::move(options); }
  const NodeOptions& options() const { return options_; }

  // Brings all of it to `now`.
  void observe(const std::vector<ClusterPool>& pools, TimePoint now);

  // Its pods come with the next observe(), one after the other on the nodes of its pool.
  void add(Workload workload);

  // Null, false: there is no such node.
  const Node* find_node(std::string_view name) const;
  bool cordon(std::string_view node, bool cordoned);

  const Pod* find_pod(std::string_view namespace_name, std::string_view name) const;

  // So many of the workload's pods may go now.
  size_t disruptions_allowed(const Workload& workload) const;
  size_t healthy(const Workload& workload) const;
  const Workload& workload_of(const Pod& pod) const;

  // The pod, which must be there, goes, and another one comes with the next observe(). False: its budget is in the way.
  bool evict(const Pod& pod);

  const std::map<std::string, Node, std::less<>>& nodes() const { return nodes_; }
  const std::vector<Pod>& pods() const { return pods_; }
  const std::vector<Workload>& workloads() const { return workloads_; }

 private:
  void place(Pod& pod, std::string_view pool, TimePoint now);

  NodeOptions options_;
  std::map<std::string, Node, std::less<>> nodes_;
  std::vector<Workload> workloads_;
  std::vector<Pod> pods_;
  size_t pods_made_ = 0;
};

}  // namespace armgate::sim
