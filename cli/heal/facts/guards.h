// guards.h – whether a cluster is wedged as the runbook knows it, and whether it may be touched.
//
// The cheap ones come first, and all must hold. What is not known is not allowed: an unknown state, an answer that cannot be
// read and a count that is not said count against it (docs/requirements.md, W5 and W7).
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/heal/facts/cluster.h"

namespace armgate::heal {

inline constexpr Duration kAbortAge = std::chrono::minutes(30);  // a younger operation may still come to its end

struct GuardOptions {
  size_t threshold = 10;                       // failures...
  Duration window = std::chrono::minutes(15);  // ...within so long
  bool skip_detection = false;                 // a pool that is well, and no storm, are no objection; all else is asked
};

// What the guards look at.
struct Seen {
  Cluster cluster;
  std::vector<Pool> pools;
  std::optional<size_t> failures;             // in the window; nothing: not asked
  std::optional<WallTime> operation_started;  // the newest; nothing: none is logged
  WallTime now{};
};

struct Guard {
  enum class Says {
    Pass,
    NothingToDo,  // the cluster is not wedged, or may still help itself: exit 0
    Refuse,       // it may not be touched, or is not understood: exit 1
  };
  std::string name;
  Says says = Says::Pass;
  std::string why;
};

bool has_running_operation(const Cluster& cluster);
// Whether the cluster's operation, if one runs, is so old that it may be aborted.
Guard operation_age(const Cluster& cluster, std::optional<WallTime> started, WallTime now);

// Those that need no look at the activity log; after the abort they are asked again.
std::vector<Guard> cheap_guards(const Target& target, const Seen& seen, const GuardOptions& options);
// Those that do.
std::vector<Guard> log_guards(const Target& target, const Seen& seen, const GuardOptions& options);

// The first that does not pass; null: all do.
const Guard* first_objection(const std::vector<Guard>& guards);

}  // namespace armgate::heal
