// nodes.h – what Kubernetes says of a pool's nodes, and how it is asked: by kubectl, which knows every way to log in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace armgate::heal {

using Words = std::vector<std::string>;

// One line for each node of the pool: name, spec.unschedulable, deletionTimestamp, the status of its condition Ready.
Words nodes_command(const std::string& kubeconfig, const std::string& pool);
// Whether kubectl can make use of the file at all: it prints the context's name, and asks nobody.
Words context_command(const std::string& kubeconfig);
Words cordon_command(const std::string& kubeconfig, const std::string& pool);
// So long kubectl waits for pods to go.
Words drain_command(const std::string& kubeconfig, const std::string& pool, Duration timeout);

// The pods that did not go, "NAMESPACE/NAME", from what kubectl's drain printed. Each once, in their order.
enum class Drain {
  Ended,   // by itself: those that it gave up on
  CutOff,  // those as well that it would have tried again
};
Words pods_left(std::string_view printed, Drain how);

struct NodeCount {
  size_t ready = 0;  // Ready, not cordoned and not on their way out
  size_t all = 0;
  Words others{};  // the names of those that are not ready
};
// BadInput: it is no such list.
Result<NodeCount> read_nodes(std::string_view printed);

// "a, b, c, d, e and 2 more".
std::string first_of(const Words& names);

// "2 of 3 nodes of pool system are ready, 3 are wanted; not ready: NAME". The first few names.
std::string text_of(const NodeCount& count, std::string_view pool, size_t wanted);

// How many nodes a pool must have at least: its minCount, else its count, else 1.
int64_t wanted_nodes(std::string_view pool);

}  // namespace armgate::heal
