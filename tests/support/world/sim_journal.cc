#include "tests/support/world/sim_journal.h"

#include <algorithm>
#include <utility>

namespace armgate::world {

PreviousProcess SimJournal::previous_process(Duration recent) const {
  PreviousProcess former;
  for (const auto& [resource, state] : states_) {
    if (!state.state.empty() && state.state != "Succeeded") former.states.push_back(state);
  }
  if (writes_.empty()) return former;
  const WallTime newest = writes_.rbegin()->second.begun;
  former.since = std::max(writes_.begin()->second.begun, newest - std::chrono::floor<std::chrono::milliseconds>(recent));
  for (const auto& [id, write] : writes_) {
    const bool may_have_changed = !write.outcome || write.outcome->kind == OutcomeKind::InDoubt ||
                                  write.outcome->tracking.by != arm::TrackedBy::Nothing ||
                                  (write.outcome->kind == OutcomeKind::Answered && arm::is_success(write.outcome->status));
    if (write.is_open()) former.open.push_back(write);
    if (!write.is_open() && may_have_changed && *write.ended >= newest - recent) former.recent.push_back(write);
  }
  return former;
}

Task<Result<IntentId>> SimStore::record_intent(const IntentRecord& record) {
  if (is_gone_()) co_return gateway_error(ErrorKind::Internal, "the process is gone");
  JournaledWrite write;
  write.id = journal_.writes_.empty() ? 1 : journal_.writes_.rbegin()->first + 1;
  describe(record, write);
  const IntentId id = write.id;
  journal_.writes_.emplace(id, std::move(write));
  co_return id;
}

void SimStore::record_outcome(IntentId id, const WriteOutcome& outcome) {
  const auto found = journal_.writes_.find(id);
  if (is_gone_() || found == journal_.writes_.end()) return;
  found->second.outcome = outcome;
  if (!outcome.owned.is_zero()) found->second.owned = outcome.owned;
  if (!found->second.ended) found->second.result = outcome.result;
  if (!outcome.is_running && !found->second.ended) found->second.ended = outcome.known;
}

void SimStore::record_state(const ResourceState& state) {
  if (!is_gone_()) journal_.states_[state.resource] = state;
}

void SimStore::record_replay(IntentId id) {
  const auto found = journal_.writes_.find(id);
  if (!is_gone_() && found != journal_.writes_.end()) ++found->second.replays;
}

void SimStore::record_end(IntentId id, WallTime when, EndSeen seen, const OperationResult& result) {
  const auto found = journal_.writes_.find(id);
  if (is_gone_() || found == journal_.writes_.end()) return;
  if (found->second.ended) return;
  found->second.ended = when;
  found->second.given_up = seen == EndSeen::No;
  found->second.result = result;
}

}  // namespace armgate::world
