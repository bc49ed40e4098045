#include "proxy/state/memory_store.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

namespace armgate {
namespace {

template <class Record>
void push_bounded(std::deque<Record>& records, const Record& record, size_t records_max) {
  records.push_back(record);
  if (records.size() > records_max) records.pop_front();
}

}  // namespace

Task<Result<void>> MemoryStore::record_intent(const IntentRecord& record) {
  MutexLock lock(&mutex_);
  push_bounded(intents_, record, records_max_);
  co_return Result<void>{};
}

Task<Result<void>> MemoryStore::record_outcome(const OutcomeRecord& record) {
  MutexLock lock(&mutex_);
  push_bounded(outcomes_, record, records_max_);
  co_return Result<void>{};
}

std::deque<IntentRecord> MemoryStore::intents() const {
  MutexLock lock(&mutex_);
  return intents_;
}

std::deque<OutcomeRecord> MemoryStore::outcomes() const {
  MutexLock lock(&mutex_);
  return outcomes_;
}

std::vector<IntentRecord> MemoryStore::unfinished() const {
  MutexLock lock(&mutex_);
  std::unordered_set<IntentId> finished;
  for (const auto& outcome : outcomes_) finished.insert(outcome.id);
  std::vector<IntentRecord> left;
  std::copy_if(intents_.begin(), intents_.end(), std::back_inserter(left),
               [&finished](const IntentRecord& intent) { return !finished.contains(intent.id); });
  return left;
}

}  // namespace armgate
