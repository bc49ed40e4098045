// sim_journal.h – what is on the disk of a simulated armgate: it outlives the process.
//
// Threads   the simulation's one loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proxy/seams/store.h"

namespace armgate::world {

class SimJournal {
 public:
  bool is_new() const { return writes_.empty(); }
  const std::map<IntentId, JournaledWrite>& writes() const { return writes_; }
  // As JournalFile::previous_process().
  PreviousProcess previous_process(Duration recent) const;

 private:
  friend class SimStore;
  std::map<IntentId, JournaledWrite> writes_;
  std::map<std::string, ResourceState> states_;  // by resource
};

// One process's way to it. Nothing that it does arrives once the process is gone.
class SimStore final : public Store {
 public:
  SimStore(SimJournal& journal, std::function<bool()> is_gone) : journal_(journal), is_gone_(std::move(is_gone)) {}

  Task<Result<IntentId>> record_intent(const IntentRecord& record) override;
  void record_outcome(IntentId id, const WriteOutcome& outcome) override;
  void record_end(IntentId id, WallTime when, EndSeen seen, const OperationResult& result) override;
  void record_replay(IntentId id) override;
  void record_state(const ResourceState& state) override;
  std::vector<Unfinished> unfinished() const override { return {}; }
  size_t unfinished_count() const override { return 0; }

 private:
  SimJournal& journal_;
  const std::function<bool()> is_gone_;
};

}  // namespace armgate::world
