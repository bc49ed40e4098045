// replica_writes.cc – what the log tells of writes under way and of their operations; the same at every replica.
#include <memory>
#include <utility>

#include "proxy/cluster/replica.h"
#include "proxy/state/operation/remote_operations.h"

namespace armgate::cluster {

void Replica::on(ReplicaId author, Intended event, uint64_t row, Moment moment) {
  IntentId none = 0;
  if (event.id && !event.id->compare_exchange_strong(none, moment.order)) {
    WriteOutcome never_sent;
    never_sent.kind = OutcomeKind::NotSent;
    post(Settled{moment.order, std::move(never_sent)});
  }
  event.write.id = moment.order;
  if (tables_->history != nullptr) {
    IntentRecord record = another_sending(event.write);
    record.started = moment;
    record.begun = event.write.begun;
    tables_->history->keep(record);
  }
  const auto kept = claims_.find(event.claim);
  if (author != options_.id && kept != claims_.end()) kept->second.position.note_at_arm_here(moment.time);
  intents_.emplace(moment.order, OpenIntent{author, row, event.claim, event.is_imported, std::move(event.write)});
}

// Others know where its end can be read, and what the URL stands for that its client polls.
void Replica::follow_elsewhere(OpenIntent& intent, const WriteOutcome& outcome) {
  JournaledWrite& write = intent.write;
  tables_->remote_operations.add(write.id, outcome.tracking);
  if (outcome.owned.is_zero()) return;
  write.owned = outcome.owned;
  const bool in_doubt = outcome.kind == OutcomeKind::InDoubt;
  auto operation = tables_->owned.find(outcome.owned);
  if (!operation) {
    operation =
        std::make_shared<OwnedOperation>(outcome.owned, write.host, target_of(write), write.id, outcome.tracking, nullptr);
    operation->lead_elsewhere(!intent.is_imported);
    tables_->owned.add(operation);
  } else if (!in_doubt) {
    operation->follow(write.id, outcome.tracking);
  }
  if (in_doubt) operation->doubt(write.id);
}

void Replica::on(ReplicaId author, Settled event, uint64_t, Moment moment) {
  if (tables_->history != nullptr) {
    if (event.touched) tables_->history->keep_touched(event.intent, *std::move(event.touched));
    tables_->history->record_outcome(event.intent, event.outcome);
  }
  const auto intent = intents_.find(event.intent);
  if (intent == intents_.end()) return;
  const bool is_over = !event.outcome.is_running && event.outcome.kind != OutcomeKind::InDoubt;
  if (is_over) {
    intents_.erase(intent);
    return;
  }
  const auto kept = claims_.find(intent->second.claim);
  const bool in_doubt = event.outcome.kind == OutcomeKind::InDoubt;
  if (author != options_.id && kept != claims_.end()) {
    kept->second.position.note_at_arm_here(moment.time);
    kept->second.position.set_phase_here(in_doubt ? WritePhase::Doubt : WritePhase::Runs);
  }
  if (author != options_.id)
    follow_elsewhere(intent->second, event.outcome);
  else if (!event.outcome.owned.is_zero())
    intent->second.write.owned = event.outcome.owned;
  intent->second.write.outcome = std::move(event.outcome);
}

void Replica::on(ReplicaId, Finished event, uint64_t, Moment) {
  const auto intent = intents_.find(event.intent);
  if (intent == intents_.end()) return;  // another has seen it before
  if (const auto owned = tables_->owned.find(intent->second.write.owned)) owned->end(event.intent, event.result);
  end_intent(event);
}

void Replica::end_intent(const Finished& event) {
  tables_->remote_operations.remove(event.intent);
  intents_.erase(event.intent);
  if (tables_->history != nullptr) tables_->history->record_end(event.intent, event.when, event.seen, event.result);
}

void Replica::on(ReplicaId, Replayed event, uint64_t, Moment) {
  if (tables_->history != nullptr) tables_->history->record_replay(event.intent);
}

void Replica::on(ReplicaId author, EndTold event, uint64_t, Moment) {
  if (author != options_.id && tables_->end_told) tables_->end_told(event);
}

void Replica::on(ReplicaId author, OwnedPolled event, uint64_t, Moment) {
  if (author != options_.id && tables_->owned_polled) tables_->owned_polled(event);
}

void Replica::on(ReplicaId, OwnedLeft event, uint64_t, Moment) {
  if (const auto owned = tables_->owned.find(event.operation)) owned->lead_elsewhere(false);
}

}  // namespace armgate::cluster
