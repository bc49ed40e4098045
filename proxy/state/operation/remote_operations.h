// remote_operations.h – the operations of a cluster's other replicas: at which URLs their ends can be read.
//
// Threads   any; one short mutex.
// Limits    the writes that run in the cluster.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <atomic>
#include <string>
#include <string_view>
#include <utility>

#include "arm/long_running.h"
#include "proxy/async/mutex.h"
#include "proxy/seams/store.h"

namespace armgate {

class RemoteOperations {
 public:
  void add(IntentId intent, const arm::Tracking& tracking);
  void remove(IntentId intent);

  // How a GET of that URL tells the end of one of them; Nothing: it does not.
  arm::TrackedBy find(std::string_view host, std::string_view target) const;

 private:
  using Place = std::pair<std::string, std::string>;  // host and target
  struct At {
    arm::TrackedBy by = arm::TrackedBy::Nothing;
    IntentId intent = 0;  // the last that named it
  };
  void add_url(IntentId intent, const std::string& text, arm::TrackedBy by) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<size_t> count_{0};
  mutable Mutex mutex_;
  absl::flat_hash_map<Place, At> by_url_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<IntentId, std::vector<Place>> urls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armgate
