// sim_arm.h – Azure Resource Manager as a pure state machine that also judges its clients.
//
// Why: nobody can try a gateway against production, and the harm it prevents (a lost update) leaves no trace there.
// This ARM follows the observed behaviour where it matters (ETag forms and places, 412 and 409 bodies, long-running
// operations with signed URLs, groups that appear late) and counts each harm as it happens.
//
// Clients tell the judge what they mean in headers that real tools simply do not send:
//   x-sim-write-id      one intention; applied more than once is a harm (else x-ms-client-request-id + bytes)
//   x-sim-client        who writes; overlaps with oneself are counted apart
//   x-sim-base-version  the x-sim-version of the answer this write was built from; or
//   x-sim-base-etag     the ETag of it (whole resources only)
//   x-sim-deletes       names (tags, rules, subnets), separated by commas, that this write removes on purpose
//   x-sim-increments    "/sku/capacity:1", separated by commas: counters that this write raises
// and ask for trouble with
//   x-sim-fault         drop-before or drop-after
//   x-sim-operation-ms  how long this write's operation lasts
//   x-sim-operation-result  Failed or Canceled: how it ends (the old content comes back)
// Paths below /__sim/ control it: GET report, POST reset, POST faults (sim/fault_script.h), POST wedges
// (sim/machine/machine_wedges.cc), and POST finish: what runs ends now.
//
// Invariants
//   1. The same seed, requests and times give the same answers, byte for byte.
//   2. No I/O, no clock: time only moves through `now`, which must not go back.
// Threads   none; the caller serialises.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/http.h"
#include "base/time.h"
#include "sim/sim_options.h"
#include "sim/state_log.h"

namespace armgate::sim {

// A pool of an AKS cluster, as far as it has nodes.
struct ClusterPool {
  std::string name;
  std::string mode;
  std::string kubernetes_version;
  int64_t count = 0;
  bool has_network = true;  // false: it is wedged
};

class SimArm {
 public:
  SimArm(SimOptions options, uint64_t seed);
  ~SimArm();
  SimArm(SimArm&&) noexcept;
  SimArm& operator=(SimArm&&) noexcept;

  SimAnswer handle(const arm::Request& request, TimePoint now);

  // Ends the operations that are due. handle() does so itself.
  void advance(TimePoint now);

  // When advance() will next change something by itself; nothing if nothing runs.
  std::optional<TimePoint> next_event() const;

  Report report() const;

  // True if the state that had this ETag is writable-equal to the current one: a 412 for it would be undeserved.
  bool is_current(std::string_view resource_path, std::string_view etag) const;

  // True if the resource surely had `etag` after `base`, and another content with it to which others than `client` (what it
  // says in x-sim-client) contributed. Of whole resources only.
  bool is_newer(std::string_view resource_path, std::string_view etag, std::string_view base, std::string_view client) const;

  // Everything that the resource or child of this path was, oldest first (SimOptions::keep_states).
  States states_of(std::string_view resource_path) const;

  // Of all clusters. A pool that is being made has nodes already, one that is being deleted still.
  std::vector<ClusterPool> pools() const;

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace armgate::sim
