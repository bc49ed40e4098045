#include "sim/kubernetes/nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace armgate::sim {

void Nodes::observe(const std::vector<ClusterPool>& pools, TimePoint now) {
  std::set<std::string, std::less<>> wanted;
  for (const ClusterPool& pool : pools) {
    for (int64_t number = 0; number < pool.count; ++number) {
      const std::string name = fmt::format("aks-{}-12345678-vmss{:06}", pool.name, number);
      wanted.insert(name);
      Node& node = nodes_.try_emplace(name, Node{name, pool.name, pool.mode, pool.kubernetes_version, now}).first->second;
      const bool never = !options_.never_ready.empty() && name.find(options_.never_ready) != name.npos;
      node.is_ready = pool.has_network && !never && now >= node.since + options_.ready_after;
    }
  }
  std::erase_if(nodes_, [&](const auto& entry) { return !wanted.contains(entry.first); });
  std::erase_if(pods_, [&](const Pod& pod) { return !pod.node.empty() && !nodes_.contains(pod.node); });
  for (const Workload& workload : workloads_) {
    const auto is_its_own = [&](const Pod& pod) {
      return pod.workload == workload.name && pod.namespace_name == workload.namespace_name;
    };
    auto count = static_cast<size_t>(std::count_if(pods_.begin(), pods_.end(), is_its_own));
    for (; count < workload.replicas; ++count) {
      pods_.push_back({fmt::format("{}-{}", workload.name, ++pods_made_), workload.name, workload.namespace_name});
    }
  }
  for (Pod& pod : pods_) {
    if (pod.node.empty()) place(pod, workload_of(pod).pool, now);
    const Node* const node = find_node(pod.node);
    pod.is_ready = node != nullptr && now >= pod.since + options_.pod_ready_after;
  }
}

// On the node with the fewest pods; of the workload's own pool, if that has one.
void Nodes::place(Pod& pod, std::string_view pool, TimePoint now) {
  const Node* best = nullptr;
  std::pair<bool, ptrdiff_t> best_rank;
  for (const auto& [name, node] : nodes_) {
    if (node.is_cordoned) continue;
    // Named anew: clang 14 does not capture structured bindings.
    const auto stands_there = [&node = node](const Pod& other) { return other.node == node.name; };
    const std::pair rank{node.pool != pool, std::count_if(pods_.begin(), pods_.end(), stands_there)};
    if (best != nullptr && best_rank <= rank) continue;
    best = &node;
    best_rank = rank;
  }
  if (best == nullptr) return;
  pod.node = best->name;
  pod.since = now;
}

void Nodes::add(Workload workload) { workloads_.push_back(std::move(workload)); }

const Node* Nodes::find_node(std::string_view name) const {
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? nullptr : &found->second;
}

bool Nodes::cordon(std::string_view node, bool cordoned) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return false;
  found->second.is_cordoned = cordoned;
  return true;
}

const Pod* Nodes::find_pod(std::string_view namespace_name, std::string_view name) const {
  const auto found = std::find_if(pods_.begin(), pods_.end(),
                                  [&](const Pod& pod) { return pod.name == name && pod.namespace_name == namespace_name; });
  return found == pods_.end() ? nullptr : &*found;
}

const Workload& Nodes::workload_of(const Pod& pod) const {
  return *std::find_if(workloads_.begin(), workloads_.end(), [&](const Workload& workload) {
    return workload.name == pod.workload && workload.namespace_name == pod.namespace_name;
  });
}

size_t Nodes::healthy(const Workload& workload) const {
  return static_cast<size_t>(std::count_if(pods_.begin(), pods_.end(), [&](const Pod& pod) {
    return pod.is_ready && pod.workload == workload.name && pod.namespace_name == workload.namespace_name;
  }));
}

size_t Nodes::disruptions_allowed(const Workload& workload) const {
  const size_t count = healthy(workload);
  return count > workload.min_available ? count - workload.min_available : 0;
}

// A pod that is not ready does not count as healthy, and takes nothing from what is, as long as enough are.
bool Nodes::evict(const Pod& pod) {
  const Workload& workload = workload_of(pod);
  const bool may_go = pod.is_ready ? disruptions_allowed(workload) > 0 : healthy(workload) >= workload.min_available;
  if (!may_go) return false;
  pods_.erase(pods_.begin() + (&pod - pods_.data()));
  return true;
}

}  // namespace armgate::sim
