#include "proxy/request/write/close_write.h"

#include <utility>

#include "arm/body/patch.h"
#include "proxy/request/guard/find_bases.h"
#include "proxy/request/write/repeat.h"

namespace armgate {
namespace {

using Ending = SendingLedger::Ending;

// Learns whether a write's answer has arrived.
class WriteReceipt final : public Receipt::Effect {
 public:
  WriteReceipt(const Write& write, const Showing& showing)
      : parts_(write.parts), state_(write.client.state), showing_(showing), asking_{write.sending, write.asking} {}

  void confirm() override { state_->sendings().delivered(asking_); }
  void drop() override {
    state_->sendings().undelivered(asking_);
    take_back(parts_, *state_, showing_);
  }

 private:
  Parts& parts_;
  std::shared_ptr<ClientState> state_;
  const Showing showing_;
  const SendingLedger::Asking asking_;
};

Ending::Kind kind_of(Outcome::Kind kind, int status) {
  switch (kind) {
    case Outcome::Kind::Accepted: return Ending::Kind::Accepted;
    case Outcome::Kind::InDoubt: return Ending::Kind::InDoubt;
    case Outcome::Kind::Left:
    case Outcome::Kind::TryLater: return Ending::Kind::Expected;
    case Outcome::Kind::Refused:
    case Outcome::Kind::Answered: break;
  }
  return arm::asks_for_another_try(status) ? Ending::Kind::Expected : Ending::Kind::Refused;
}

policy::SharedBody body_of(const Write& write) {
  const std::string& body = write.exchange.clients_body();
  return body.size() > write.parts.shared.options.body_keep_max ? nullptr : policy::kept_body(body);
}

// What the client takes an answer without a body to show: what it has sent, a PATCH applied to what it was built from.
std::shared_ptr<policy::KeptBody> asked_state(const Write& write) {
  const std::string& sent = write.exchange.request.body;
  if (write.plan.operation == arm::OperationKind::Put) return policy::kept_body(sent, true);
  if (write.has_own_precondition) return nullptr;
  const auto& resources = write.parts.shared.resources;
  auto bases = write.ask([&](const policy::History& history) {
    return policy::possible_bases(history, resources.limits(), write.facts).possible;
  });
  decode_bodies(bases, write.parts.shared.options.body_keep_max);
  const bool is_known =
      bases.size() == 1 && bases.front().body && !bases.front().gone && bases.front().api_version == write.facts.api_version;
  if (!is_known) return nullptr;
  auto state = arm::patched_state(bases.front().body->bytes, sent, *body_facts(write.plan));
  return state ? policy::kept_body(*std::move(state), true) : nullptr;
}

}  // namespace

Showing remember_answer(const Write& write, const Outcome& outcome) {
  const Moment now = write.parts.clock.next_moment();
  if (outcome.kind == Outcome::Kind::Refused && write.replaces) {
    policy::Refusal refusal;
    refusal.request_hash = write.request_hash;
    refusal.request_id = write.request_id;
    refusal.arrived = write.facts.arrived.order;
    refusal.told = now.order;
    refusal.requested_body = outcome.found ? body_of(write) : nullptr;
    refusal.found = outcome.found;
    const auto took_back = write.bases.takes_back ? std::optional(now.time) : std::nullopt;
    write.record_event(policy::Refused{write.client.key, std::move(refusal), took_back});
    return {write.client.key, write.plan.resource_key, now.order, Showing::What::State};
  }
  if (outcome.read) {
    const auto& read = *outcome.read;
    return remember_read(write.parts, write.client, write.exchange, write.plan, read.head, policy::kept_body(read.body));
  }
  const bool shows_state = write.plan.operation == arm::OperationKind::Put || write.plan.operation == arm::OperationKind::Patch;
  const bool remembered = rules::is_remembered(write.plan.rule->guard.kind) && shows_state;
  if (outcome.kind != Outcome::Kind::Accepted || !remembered) return {};
  return remember_own_answer(
      write.parts, write.client, write.exchange, write.plan,
      {outcome.answer, outcome.body_etag, write_key_of(write), outcome.answer.body.empty() ? asked_state(write) : nullptr});
}

void share_answer(const Write& write, const Outcome& outcome, std::shared_ptr<const arm::Response> answer) {
  if (write.sending == 0) return;
  Ending ending;
  ending.kind = kind_of(outcome.kind, answer ? answer->head.status : 0);
  ending.intent = outcome.intent;
  const bool was_sent = outcome.kind == Outcome::Kind::Answered && write.report().attempts > 0;
  const bool is_unsure = write.exchange.named && was_sent && answer && may_have_run(write.head().method, answer->head.status);
  if (is_unsure) ending.kind = Ending::Kind::InDoubt;
  if (write.is_repeatable && answer && ending.kind == Ending::Kind::Accepted) {
    ending.recorded = std::make_shared<const SendingLedger::Recorded>(SendingLedger::Recorded{
        answer->head.status, etag_of(outcome, answer->head), outcome.tracking, write.report().merged.count > 0});
  }
  if (ending.kind == Ending::Kind::Accepted || ending.kind == Ending::Kind::Refused) ending.answer = std::move(answer);
  ending.reason = write.report().reason;
  write.ledger().end({write.sending, write.asking}, std::move(ending), write.parts.clock.next_moment());
}

Receipt close_exchange(const Write& write, Outcome::Kind kind, const Showing& showing) {
  if (!write.exchange.delivered || kind == Outcome::Kind::Left) {
    write.ledger().undelivered({write.sending, write.asking});
    take_back(write.parts, *write.client.state, showing);
    return Receipt();
  }
  write.ledger().written({write.sending, write.asking});
  return Receipt(std::make_unique<WriteReceipt>(write, showing));
}

}  // namespace armgate
