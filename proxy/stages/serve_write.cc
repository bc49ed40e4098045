#include "proxy/stages/serve_write.h"

#include <absl/cleanup/cleanup.h>

#include <memory>
#include <utility>

#include "arm/etag.h"
#include "base/mutant.h"
#include "proxy/stages/answer.h"
#include "proxy/stages/doubt.h"
#include "proxy/stages/evidence.h"
#include "proxy/stages/join.h"
#include "proxy/stages/references.h"
#include "proxy/stages/remember.h"
#include "proxy/stages/write.h"

namespace armgate {
namespace {

// Confirms what a write's answer delivered, and closes or keeps its binding.
class WriteReceipt final : public Receipt::Effect {
 public:
  WriteReceipt(std::shared_ptr<ClientState> state, Clock& clock, PendingDelivery pending, uint64_t unanswered,
               uint64_t binding, ClientState::Final final)
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

// The ETag in the body is the client's own word on what it read, where the type enforces ETags (rule 2).
std::string body_etag(const Exchange& exchange, const rules::Plan& plan) {
  if (!plan.guarded || plan.rule->guard.kind != rules::GuardKind::Etag) return {};
  auto etag = arm::etag_in_body(exchange.request.body).value_or("");
  return etag == "*" ? std::string() : etag;  // as If-Match it would mean "whatever is there"
}

Bound bind(const Write& write) {
  auto& shared = write.parts.shared;
  if (arm::has_own_precondition(write.head().fields)) {
    Bound bound;
    bound.base.rule = policy::BaseRule::OwnPrecondition;
    bound.first_arrival = write.exchange.arrived;
    return bound;
  }
  if (write.plan.guarded) take_list_items(write.parts, write.client, write.plan);
  const std::string etag = body_etag(write.exchange, write.plan);
  ArrivingWrite arriving;
  arriving.resource = write.resource;
  arriving.bytes = write.bytes;
  arriving.facts.arrived = write.exchange.arrived;
  arriving.facts.request_id = request_id_of(write.exchange);
  arriving.facts.body_etag = etag;
  if (write.plan.guarded && etag.empty()) {
    arriving.facts.evidence = content_evidence(write.parts, write.client, write.exchange, write.plan);
  }
  arriving.facts.actor = write.client.actor;
  arriving.facts.peer = write.client.peer;
  arriving.facts.prefer_peer = write.client.by_token;
  policy::Liveness liveness;
  liveness.now = write.parts.clock.now();
  liveness.think_max = shared.options.base.think_max;
  const auto deletion = shared.resources.last_delete(write.plan.target.resource);
  liveness.deleted_order = deletion.when.order;
  const bool before_arrival = deletion.when.order != 0 && deletion.when.order < write.exchange.arrived.order;
  if (before_arrival && deletion.client == write.client.key) arriving.facts.own_delete = deletion.when;
  return write.client.state->bind(arriving, liveness);
}

// The stages in their order; each step consumes the one before.
Task<Outcome> run_stages(const Write& write) {
  if (auto refused = refuse_without_state(write)) co_return *std::move(refused);

  auto locked = co_await lock(write);
  if (auto* outcome = std::get_if<Outcome>(&locked)) co_return std::move(*outcome);

  auto guarded = co_await guard(write, std::get<WriteLease>(std::move(locked)));
  if (auto* outcome = std::get_if<Outcome>(&guarded)) co_return std::move(*outcome);

  auto intended = co_await intend(write, std::get<Guarded>(std::move(guarded)));
  if (auto* outcome = std::get_if<Outcome>(&intended)) co_return std::move(*outcome);

  Intent intent = std::get<Intent>(std::move(intended));
  Outcome outcome = co_await forward(write, intent);
  co_await settle(write, std::move(intent), outcome);
  co_return std::move(outcome);
}

bool nothing_was_sent(Outcome::Kind kind) { return kind == Outcome::Kind::Busy || kind == Outcome::Kind::Left; }

BindingPhase phase_after(Outcome::Kind kind, int status, bool written) {
  const bool expected = nothing_was_sent(kind) || arm::asks_for_another_try(status);
  if (expected) return BindingPhase::Expected;
  return written ? BindingPhase::Written : BindingPhase::Undelivered;
}

Task<Receipt> deliver(const Write& write, ClientLink& client_link, Outcome outcome) {
  auto& state = *write.client.state;
  if (outcome.kind == Outcome::Kind::Left) {
    // Whoever only half-closed can still read that nothing was sent.
    outcome.answer = make_busy("The client closed its side while the request waited.",
                               write.parts.shared.options.retry_after);
  }
  PendingDelivery pending;
  const bool shows_state = write.plan.operation == arm::OperationKind::Put || write.plan.operation == arm::OperationKind::Patch;
  const bool remembered = rules::keeps_versions(write.plan.rule->guard.kind) && shows_state;
  if (outcome.kind == Outcome::Kind::Accepted && remembered) {
    pending = remember_own_answer(write.parts, write.client, write.exchange, write.plan, outcome.answer,
                                  write.bound.base.version);
  }
  if (is_mutant(Mutant::AnswerAltered)) outcome.answer.head.fields.remove("Azure-AsyncOperation");
  explain(outcome.answer.head, write.report());
  // Shared with those who ask for the same; they get it as soon as it is known, however slowly this client takes it.
  const auto answer = std::make_shared<const arm::Response>(std::move(outcome.answer));
  UnansweredWrites::Ending ending;
  ending.accepted = outcome.kind == Outcome::Kind::Accepted;
  if (!nothing_was_sent(outcome.kind)) ending.answer = answer;
  ending.reason = write.report().reason;
  ending.binding = write.bound.binding;
  if (!write.report().replayed) state.unanswered().end(write.unanswered, std::move(ending), write.parts.clock.next_moment());

  const bool written = co_await write_answer(write.exchange, client_link, *answer);
  const auto phase = phase_after(outcome.kind, answer->head.status, written);
  if (write.bound.binding != 0) state.leave(write.bound.binding, phase, write.parts.clock.now());
  if (!written || outcome.kind == Outcome::Kind::Left) {
    state.unanswered().undelivered(write.unanswered, write.parts.clock.now());
    co_return Receipt();
  }
  const auto final = answer->head.status == 412 ? ClientState::Final::Refused : ClientState::Final::Plain;
  const bool is_final = phase == BindingPhase::Written;
  co_return Receipt(std::make_unique<WriteReceipt>(write.client.state, write.parts.clock, pending, write.unanswered,
                                                   is_final ? write.bound.binding : 0, final));
}

}  // namespace

Task<Receipt> serve_write(Pipeline::Parts& parts, Exchange& exchange, ClientLink& client_link, const rules::Plan& plan,
                          const Client& client) {
  auto& shared = parts.shared;
  shared.counters.writes.fetch_add(1, std::memory_order_relaxed);
  Patience patience(parts.clock, exchange.executor, client_link, exchange.arrived.time + shared.options.wait_max);
  Write write{parts, exchange, plan, client, patience};
  write.resource = shared.hasher.hash(plan.target.resource.id);
  write.bytes = bytes_of(shared.hasher, exchange.request);
  write.authorization = std::string(exchange.request.head.fields.get("authorization"));
  write.replaces = plan.operation == arm::OperationKind::Put || plan.guarded;

  const auto arrival = arrival_of(write, client_link.presence());
  auto joined = co_await join_earlier(write, arrival);
  if (joined) co_return co_await deliver(write, client_link, *std::move(joined));
  write.unanswered = client.state->unanswered().add(arrival);
  if (write.replaces) write.bound = bind(write);
  write.references = references_of(write);

  std::optional<uint64_t> active;
  if (write.replaces && !write.bound.resend) {
    active = client.state->begin_write(write.resource, request_id_of(exchange), parts.clock.now());
  }
  const auto no_longer_active = absl::MakeCleanup([&] {
    if (active) client.state->end_write(write.resource, *active);
  });
  Outcome outcome = co_await run_stages(write);
  co_return co_await deliver(write, client_link, std::move(outcome));
}

}  // namespace armgate
