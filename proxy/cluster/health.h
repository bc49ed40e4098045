// health.h – what a replica knows of its cluster's engine and tells of itself, for whoever watches.
//
// Threads   any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/async/mutex.h"

namespace armgate::cluster {

// The engine as last seen.
struct Health {
  bool is_reachable = true;
  std::optional<size_t> synchronous;  // standbys that a commit waits for; nothing: not known
  size_t alive = 0;                   // replicas
  std::vector<std::string> warnings;  // what is weaker than it could be
  std::string configured;             // this replica, as far as all must be alike
  uint64_t commits = 0;               // of this replica
  uint64_t late = 0;                  // statements that were not answered in time, and waited on
  uint64_t failed = 0;                // connections that broke or were not had
};

class KeptHealth {
 public:
  Health get() const {
    MutexLock lock(&mutex_);
    return health_;
  }
  // Gives what `change` gives.
  template <class Change>
  auto change(Change change) {
    MutexLock lock(&mutex_);
    return change(health_);
  }

 private:
  mutable Mutex mutex_;
  Health health_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armgate::cluster
