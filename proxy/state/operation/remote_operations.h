// remote_operations.h – the operations of a cluster's other replicas: at which URLs their ends can be read.
//
// Threads   any; one short mutex.
// Limits    the writes that run in the cluster.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "arm/long_running.h"
#include "base/hash.h"
#include "proxy/async/mutex.h"
#include "proxy/seams/store.h"

namespace armgate {

class RemoteOperations {
 public:
  explicit RemoteOperations(Hasher hasher) : hasher_(hasher) {}

  void add(IntentId intent, const arm::Tracking& tracking);
  void remove(IntentId intent);

  bool runs(IntentId intent) const;
  // How a GET of that URL tells the end of one of them; Nothing: it does not.
  arm::TrackedBy find(std::string_view host, std::string_view target) const;

 private:
  struct At {
    arm::TrackedBy by = arm::TrackedBy::Nothing;
    IntentId intent = 0;  // the last that named it
  };
  void add_url(IntentId intent, const std::string& text, arm::TrackedBy by) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Hasher hasher_;
  std::atomic<size_t> count_{0};
  mutable Mutex mutex_;
  absl::flat_hash_map<Hash128, At> by_url_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<IntentId, std::vector<Hash128>> urls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armgate
