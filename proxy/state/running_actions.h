// running_actions.h – the actions (POST) that no rule names and that are with ARM now.
//
// Why: nothing records them, so that a process which is cut off must be able to say which ones it leaves behind.
// Threads   any; one short mutex.
// Limits    one for each running request, whose number is limited already (limits.connections).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proxy/async/mutex.h"

namespace armgate {

class RunningActions {
 public:
  struct Action {
    std::string resource;
    std::string client;
  };

  // From its sending until its end; `id` is what begin() gave.
  uint64_t begin(Action action) {
    MutexLock lock(&mutex_);
    running_.emplace(++last_, std::move(action));
    return last_;
  }
  void end(uint64_t id) {
    MutexLock lock(&mutex_);
    running_.erase(id);
  }

  std::vector<Action> all() const {  // the oldest first
    MutexLock lock(&mutex_);
    std::vector<Action> actions;
    for (const auto& [id, action] : running_) actions.push_back(action);
    return actions;
  }

 private:
  mutable Mutex mutex_;
  uint64_t last_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Action> running_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armgate
