// memory_store.h – the Store that keeps its records in memory: no promise survives the process.
//
// Threads   any.
// Limits    Options::records_max of each kind; the oldest are forgotten.
#pragma once

#include <deque>
#include <vector>

#include "proxy/async/mutex.h"
#include "proxy/seams/store.h"

namespace armgate {

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(size_t records_max = 10'000) : records_max_(records_max) {}

  Task<Result<void>> record_intent(const IntentRecord& record) override;
  Task<Result<void>> record_outcome(const OutcomeRecord& record) override;

  std::deque<IntentRecord> intents() const;
  std::deque<OutcomeRecord> outcomes() const;
  // Intents without an outcome: writes that may be at ARM now.
  std::vector<IntentRecord> unfinished() const;

 private:
  const size_t records_max_;
  mutable Mutex mutex_;
  std::deque<IntentRecord> intents_ ABSL_GUARDED_BY(mutex_);
  std::deque<OutcomeRecord> outcomes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armgate
