#include "proxy/stages/close_write.h"

#include <utility>

namespace armgate {
namespace {

// Confirms what a write's answer delivered, and closes or keeps its binding.
class WriteReceipt final : public Receipt::Effect {
 public:
  WriteReceipt(std::shared_ptr<ClientState> state, Clock& clock, PendingDelivery pending, uint64_t unanswered, uint64_t binding,
               ClientState::Final final)
      : state_(std::move(state)),
        clock_(clock),
        written_(clock.next_moment()),
        pending_(pending),
        unanswered_(unanswered),
        binding_(binding),
        final_(final) {}

  void confirm() override {
    state_->unanswered().delivered(unanswered_);
    if (pending_.what == PendingDelivery::What::Version) state_->confirm(pending_.resource, pending_.order);
    if (binding_ != 0) state_->confirm_written(binding_, final_, written_);
  }
  void drop() override {
    state_->unanswered().undelivered(unanswered_, clock_.now());
    if (binding_ != 0) state_->note_undelivered(binding_, clock_.now());
  }

 private:
  std::shared_ptr<ClientState> state_;
  Clock& clock_;
  const Moment written_;  // a read that is answered from now on is one since a refusal, however late that is confirmed
  PendingDelivery pending_;
  uint64_t unanswered_;
  uint64_t binding_;
  ClientState::Final final_;
};

BindingPhase phase_after(Outcome::Kind kind, const Exchange& exchange) {
  const bool expected = nothing_was_sent(kind) || arm::asks_for_another_try(exchange.status);
  if (expected) return BindingPhase::Expected;
  return exchange.delivered ? BindingPhase::Written : BindingPhase::Undelivered;
}

}  // namespace

PendingDelivery remember_answer(const Write& write, const Outcome& outcome) {
  const bool shows_state = write.plan.operation == arm::OperationKind::Put || write.plan.operation == arm::OperationKind::Patch;
  const bool remembered = rules::keeps_versions(write.plan.rule->guard.kind) && shows_state;
  if (outcome.kind != Outcome::Kind::Accepted || !remembered) return {};
  OwnAnswer own{outcome.answer, outcome.body_etag, write.bound.base.version};
  return remember_own_answer(write.parts, write.client, write.exchange, write.plan, own);
}

void share_answer(const Write& write, Outcome::Kind kind, std::shared_ptr<const arm::Response> answer) {
  UnansweredWrites::Ending ending;
  ending.accepted = kind == Outcome::Kind::Accepted;
  ending.answer = std::move(answer);
  ending.reason = write.report().reason;
  ending.binding = write.bound.binding;
  write.client.state->unanswered().end(write.unanswered, std::move(ending), write.parts.clock.next_moment());
}

Receipt close_exchange(const Write& write, Outcome::Kind kind, PendingDelivery pending) {
  auto& state = *write.client.state;
  const auto phase = phase_after(kind, write.exchange);
  if (write.bound.binding != 0) state.leave(write.bound.binding, phase, write.parts.clock.now());
  if (!write.exchange.delivered || kind == Outcome::Kind::Left) {
    state.unanswered().undelivered(write.unanswered, write.parts.clock.now());
    return Receipt();
  }
  const auto final = write.exchange.status == 412 ? ClientState::Final::Refused : ClientState::Final::Plain;
  const bool is_final = phase == BindingPhase::Written;
  return Receipt(std::make_unique<WriteReceipt>(write.client.state, write.parts.clock, pending, write.unanswered,
                                                is_final ? write.bound.binding : 0, final));
}

}  // namespace armgate
