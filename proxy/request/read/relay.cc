#include "proxy/request/read/relay.h"

#include <memory>
#include <utility>

#include "arm/early_end.h"
#include "arm/operation.h"
#include "base/mutant.h"
#include "proxy/request/answer.h"
#include "proxy/request/budget.h"
#include "proxy/request/client_gate.h"
#include "proxy/request/cluster/recorded.h"
#include "proxy/request/content_coding.h"
#include "proxy/request/operation/early_end.h"
#include "proxy/request/operation/polled.h"
#include "proxy/request/operation/result.h"
#include "proxy/request/read/capture.h"
#include "proxy/request/read/relayed_action.h"
#include "proxy/request/read/remember.h"
#include "proxy/request/write/coalesce.h"

namespace armgate {
namespace {

constexpr size_t kPollBytesMax = 64u << 10;  // operation status bodies are small
constexpr std::string_view kCannotTake = "The cluster's engine cannot take the action.";
constexpr std::string_view kCannotShow = "The cluster's engine cannot take what this read shows.";

// Learns whether what was relayed has arrived.
class ReadReceipt final : public Receipt::Effect {
 public:
  ReadReceipt(Parts& parts, std::shared_ptr<ClientState> state, const Showing& showing,
              std::optional<SendingLedger::Asking> action)
      : parts_(parts), state_(std::move(state)), showing_(showing), action_(action) {}
  void confirm() override {
    if (action_) state_->sendings().delivered(*action_);
  }
  void drop() override {
    if (action_) state_->sendings().undelivered(*action_);
    take_back(parts_, *state_, showing_);
  }

 private:
  Parts& parts_;
  std::shared_ptr<ClientState> state_;
  const Showing showing_;
  const std::optional<SendingLedger::Asking> action_;  // its record in the ledger
};

bool is_guarded_read(const rules::Plan& plan) {
  return plan.kind == rules::PlanKind::Read && rules::is_remembered(plan.rule->guard.kind);
}

// Members that it does not name are left out (OData, System Query Option $select): of what is not shown nothing can be learnt,
// and nobody builds a whole on that.
bool shows_a_part(const rules::Plan& plan, std::string_view target) {
  if (plan.operation == arm::OperationKind::List) return false;
  return arm::query_parameter(target, "$select") || arm::query_parameter(target, "%24select");
}

Capture capture_for(const Parts& parts, const KeyedPlan& plan, const UpstreamAnswer& answer, bool is_poll, const Tap* tap) {
  const auto& options = parts.shared.options;
  if (tap != nullptr) return Capture(tap->bytes_max, answer.length, nullptr);
  if (is_guarded_read(plan) && answer.head.status == 200) {
    if (plan.operation == arm::OperationKind::List) return Capture(options.list_scan_max, answer.length, nullptr);
    const bool by_get = plan.operation == arm::OperationKind::Read;  // else what was kept last may not have been read so
    return Capture(options.body_keep_max, answer.length, by_get ? last_read(parts, plan, answer.head) : nullptr);
  }
  return is_poll ? Capture(kPollBytesMax, answer.length, nullptr) : Capture();
}

bool is_safe(const Exchange& exchange) {
  const auto method = exchange.request.head.method;
  return method == arm::Method::Get || method == arm::Method::Head || method == arm::Method::Options;
}

// Safe methods may be sent again when a connection dies before any of the answer was seen (RFC 9110 §9.2.1): once. A request
// that timed out or was cancelled is not sent again, nor one whose answer cannot be read.
bool may_send_again(const Exchange& exchange, const Error& error) {
  const bool is_final =
      error.kind == ErrorKind::TimedOut || error.kind == ErrorKind::Cancelled || error.kind == ErrorKind::Busy;
  if (is_final || is_unreadable(error)) return false;
  return error.sent == Sent::No || (is_safe(exchange) && error.sent == Sent::Maybe);
}

// That its client has left is heeded once it waits, for a connection or, if it is a read, for ARM, which little does for long:
// what waits for nothing is sent as it came (docs/design.md, P7).
class RelayGate final : public ClientGate {
 public:
  RelayGate(Parts& parts, Exchange& exchange, ClientLink& link, Sender sender)
      : ClientGate(parts, exchange.report, sender), parts_(parts), exchange_(exchange), link_(link) {
    until_ = exchange.arrived.time + (is_safe(exchange) ? parts.shared.options.wait_max : queue_timeout_of(parts, exchange));
  }
  // For others, who ask link.presence(): from now on, whether it waits or not.
  void begin_presence() { client_wait_.emplace(parts_.clock, exchange_.executor, link_, until_); }
  bool may_wait() override {
    if (!client_wait_) begin_presence();
    watch(*client_wait_, ClientWait::AtClosing::Stop);
    return ClientGate::may_wait();
  }
  // What may act goes on.
  bool may_be_given_up() const override {
    const auto method = exchange_.request.head.method;
    return method == arm::Method::Get || method == arm::Method::Head;
  }
  bool is_awaited() override {
    if (!client_wait_) begin_presence();
    watch(*client_wait_, ClientWait::AtClosing::Stop);
    return client_wait_->may_begin();
  }
  TimePoint until() const { return until_; }

 private:
  Parts& parts_;
  Exchange& exchange_;
  ClientLink& link_;
  TimePoint until_;
  std::optional<ClientWait> client_wait_;
};

Task<Result<UpstreamAnswer>> send_relayed(Parts& parts, Exchange& exchange, RelayGate& gate, bool acts) {
  SendLimits limits = acts ? limits_of_one(parts, kNever) : SendLimits(kNever);
  limits.answer_max = parts.shared.options.answer_timeout;
  limits.gate = &gate;
  const auto count = [&exchange, &gate](const Result<UpstreamAnswer>& sending) {
    gate.note_waited();  // the gate outlives the answer, which tells of it
    if (sending || sending.error().sent != Sent::No) ++exchange.report.attempts;
  };
  exchange.forwarded = parts.clock.next_moment();
  limits.begin_by = connection_due(parts, gate.until());
  auto answer = co_await parts.upstream.send(exchange.request, limits);
  count(answer);
  if (!answer && may_send_again(exchange, answer.error())) {
    limits.begin_by = connection_due(parts, gate.until());
    answer = co_await parts.upstream.send(exchange.request, limits);
    count(answer);
  }
  const arm::RequestHead& head = exchange.request.head;
  if (answer) note_budgets(parts, {exchange.principal, head.target}, head.method, answer->head);
  co_return std::move(answer);
}

// What is posted to a collection or beside all resources is a query, mostly (Resource Graph, costs).
bool acts_on_a_resource(const Exchange& exchange, const rules::Plan& plan) {
  return is_watched_action(exchange, plan) && plan.operation == arm::OperationKind::Action;
}

// Notes why there is no whole answer. A lost or broken one to an action is told as what it is: SDKs send a POST again on 502,
// 503, 504 and resets, and it would run twice.
arm::Response note_failure(const Parts& parts, Exchange& exchange, const KeyedPlan& plan, const Client& client,
                           RelayedAction* action, const Error& error) {
  exchange.report.upstream_error = error.context;
  const bool began = exchange.status != 0;
  const bool may_have_acted =
      began ? acts_on_a_resource(exchange, plan) && !arm::was_refused(exchange.status) : is_watched_action(exchange, plan);
  if (may_have_acted && error.sent != Sent::No) {
    exchange.report.reason = "outcome-unknown";
    note_in_doubt(parts, exchange, plan, client, action);
    return make_outcome_unknown(plan.target.resource.id, "ARM's answer was lost.");
  }
  exchange.report.reason = "upstream-failure";
  return make_upstream_failure(error, parts.shared.options.retry_after);
}

// It was not sent, or nobody waits for the answer, and ARM has nothing to do with that.
arm::Response note_kept(const Parts& parts, Exchange& exchange, const RelayGate& gate, Sent sent) {
  const Duration come_again = parts.shared.options.retry_after;
  if (gate.client_gone()) {
    parts.shared.counters.clients_left.fetch_add(1, std::memory_order_relaxed);
    exchange.report.reason = sent == Sent::No ? "client-left-before-sending" : "client-left-before-the-answer";
    return make_busy(kClientLeft, come_again, sent == Sent::No ? Tried::No : Tried::WithoutEffect);
  }
  exchange.report.reason = gate.is_closing() ? "armgate-ends" : "cluster-unavailable";
  return make_busy(gate.is_closing() ? kClosing : kCannotTake, come_again);
}

arm::Response refuse_to_show(const Parts& parts, Exchange& exchange) {
  exchange.report.reason = "cluster-unavailable";
  return make_busy(kCannotShow, parts.shared.options.retry_after);
}

Task<void> write_failure(Exchange& exchange, ClientLink& client_link, arm::Response failure) {
  exchange.report.altered = true;
  explain(failure.head, exchange.report);
  co_await write_answer(exchange, client_link, failure);
}

bool has_ended_what_runs(const KeyedPlan& plan, int status) {
  const bool is_taken = plan.operation == arm::OperationKind::Action && arm::is_success(status);
  return is_taken && arm::ends_an_operation(plan.target.action);
}

struct Passing {
  Parts& parts;
  Exchange& exchange;
  const KeyedPlan& plan;
  const Client& client;
  const Tap* tap = nullptr;
  PolledOperations polls{};
  Capture capture{};
  Showing showing{};
  bool completed = false;

  // The other processes must know of what is shown before the client can use it; in mode observe nothing waits.
  bool is_to_be_told() const { return parts.cluster != nullptr && plan.mode == rules::Mode::Protect && is_guarded_read(plan); }
  // An action that reads by POST shows the resource if its body is one of that resource.
  bool shows_resource(int status, const policy::KeptBody* body) const {
    if (!is_guarded_read(plan) || plan.operation == arm::OperationKind::List || status != 200) return false;
    if (plan.operation != arm::OperationKind::ReadAction) return true;
    if (body == nullptr) return false;
    const auto plain = plain_body(*body, parts.shared.options.body_keep_max);
    return plain && arm::is_body_of(plain->text(), plan.target.resource);
  }
  // It may tell how an operation stands.
  bool is_learnt_from() const { return !polls.empty() && capture.has_all(); }

  // Called when the whole answer is known and before its end is written.
  void complete(const arm::ResponseHead& head) {
    completed = true;
    if (tap != nullptr) {
      tap->answered(head, capture.has_all() ? std::optional(std::move(capture).take()) : std::nullopt);
      return;
    }
    policy::SharedBody body;
    const bool is_read = is_guarded_read(plan) && plan.operation != arm::OperationKind::List && head.status == 200;
    if (capture.has_all() && is_read) {
      body = capture.same_as_last();
      if (!body) body = keep_read(parts, exchange, plan, head, std::move(capture).take());
    } else if (capture.has_all()) {
      body = keep_body(head, std::move(capture).take());
    }
    if (!polls.empty()) {
      const auto plain = body ? plain_body(*body, kPollBytesMax * 16) : PlainBytes::decoded("");
      learn_from_poll(parts, polls, exchange.forwarded.time, head, plain ? plain->text() : "");
    }
    const bool is_part = head.status != 404 && shows_a_part(plan, exchange.request.head.target);
    if (is_part || !is_guarded_read(plan)) return;
    const bool shows_it = shows_resource(head.status, body.get());
    if (plan.operation == arm::OperationKind::ReadAction && !shows_it) return;
    if (shows_it && body) note_read(parts, plan, *body);
    if (plan.operation == arm::OperationKind::Read && head.status == 404) note_absent(parts, plan);
    showing = remember_read(parts, client, exchange, plan, head, std::move(body));
  }
};

// How far an answer came.
struct Passed {
  bool begun = false;  // its head went to the client
  bool delivered = false;
  std::optional<Error> broken;  // ARM's side ended before its end
  bool untold = false;          // to the other processes; nothing of it is the client's then but perhaps its beginning
};

// Whether the other processes know by now what it shows.
Task<bool> is_told(const Passing& passing) {
  if (is_mutant(Mutant::ReadNotAwaited)) co_return true;
  const bool is_recorded = co_await until_recorded(passing.parts, passing.exchange.executor);
  co_return is_recorded;
}

// Copies the answer to the client, its head not before there is a piece of its body: until then a break can still be told. The
// last piece of a body whose end is known is written only after the answer was remembered, however slowly its client takes it.
// What a poll is told others wait for: it is read to its end first.
Task<Passed> pass_answer(Passing& passing, ClientLink& client_link, UpstreamAnswer& answer) {
  Passed passed;
  uint64_t seen = 0;
  std::string held;
  while (true) {
    auto piece = co_await answer.body->read();
    if (!piece) {
      passed.broken = std::move(piece).error();
      co_return passed;
    }
    seen += piece->size();
    passing.capture.add(*piece);
    const bool is_end = piece->empty();
    const bool has_all =
        is_end || answer.body->ended() || (answer.length.kind == BodyLength::Kind::Known && seen == answer.length.bytes);
    if (!has_all && passing.is_learnt_from()) {
      held.append(*piece);
      continue;
    }
    if (has_all && !passing.completed) {
      passing.complete(answer.head);
      if (passing.is_to_be_told()) {
        const bool is_known = co_await is_told(passing);
        passed.untold = !is_known;
      }
      if (passed.untold) co_return passed;
    }
    if (!std::exchange(passed.begun, true)) {
      const auto written = co_await client_link.write_head(answer.head, answer.length);
      if (!written) co_return passed;
    }
    const std::string_view bytes = held.empty() ? *piece : std::string_view(held.append(*piece));
    if (!bytes.empty()) {
      const auto written = co_await client_link.write_body(bytes);
      if (!written) co_return passed;
      held.clear();
    }
    if (is_end) break;
  }
  const auto finished = co_await client_link.finish();
  passed.delivered = finished.ok();
  co_return passed;
}

arm::Response refuse_action(Parts& parts, Exchange& exchange) {
  exchange.report.reason = "cluster-unavailable";
  return make_busy(kCannotTake, parts.shared.options.retry_after);
}

// The same action must not be sent by two of several processes.
Task<std::optional<arm::Response>> meet_the_others(Parts& parts, Exchange& exchange, const KeyedPlan& plan,
                                                   const Client& client, const RelayedAction& action) {
  const bool is_recorded = co_await until_recorded(parts, exchange.executor);
  if (!is_recorded || !may_send(parts)) co_return refuse_action(parts, exchange);
  if (!action.is_sent_elsewhere(arrival_of(parts, exchange, plan, client, nullptr))) co_return std::nullopt;
  co_return not_again(SendingLedger::Match::InDoubt, exchange, plan);
}

}  // namespace

Task<Receipt> relay(Parts& parts, Exchange& exchange, ClientLink& client_link, const KeyedPlan& plan, const Client& client,
                    const Tap* tap) {
  // Only what was accepted before this read was sent can be learnt from its answer: a slow 404 from before a resource was
  // made says nothing about the end of its deletion.
  PolledOperations polls;
  if (exchange.request.head.method == arm::Method::Get) {
    const std::string& target = exchange.request.head.target;
    const bool is_whole = plan.target.kind == arm::TargetKind::Resource && !shows_a_part(plan, target);
    polls = operations_at(parts, exchange.request.head.host, target, is_whole ? plan.resource_key : Hash128{});
  }
  if (is_guarded_read(plan)) parts.shared.turns.note_read(plan.resource_key, client.key);
  const bool acts = acts_on_a_resource(exchange, plan);
  RelayGate gate(parts, exchange, client_link, acts ? ClientGate::Sender::OneOfSeveral : ClientGate::Sender::Any);
  if (acts && !takes_more(parts)) {
    auto refused = refuse_action(parts, exchange);
    co_await write_failure(exchange, client_link, std::move(refused));
    co_return Receipt();
  }
  std::optional<RelayedAction> action;
  if (acts) gate.begin_presence();
  if (acts) action.emplace(parts, exchange, client_link, plan, client);
  if (action && action->is_resend()) {
    auto known = not_again(action->match(), exchange, plan);
    co_await write_failure(exchange, client_link, std::move(known));
    co_return Receipt();
  }
  if (plan.mode == rules::Mode::Protect && is_guarded_read(plan) && !may_show(parts)) {
    auto refused = refuse_to_show(parts, exchange);
    co_await write_failure(exchange, client_link, std::move(refused));
    co_return Receipt();
  }
  if (action && parts.cluster != nullptr) {
    if (auto refused = co_await meet_the_others(parts, exchange, plan, client, *action)) {
      co_await write_failure(exchange, client_link, *std::move(refused));
      co_return Receipt();
    }
  }
  auto sent = co_await send_relayed(parts, exchange, gate, acts);
  if (!sent) {
    const bool is_given_up = gate.may_be_given_up() && gate.client_gone();
    const bool is_kept = sent.error().kind == ErrorKind::Cancelled && (sent.error().sent == Sent::No || is_given_up);
    auto failure = is_kept ? note_kept(parts, exchange, gate, sent.error().sent)
                           : note_failure(parts, exchange, plan, client, action ? &*action : nullptr, sent.error());
    if (tap != nullptr) tap->lost(sent.error());
    co_await write_failure(exchange, client_link, std::move(failure));
    co_return Receipt();
  }
  UpstreamAnswer answer = *std::move(sent);
  exchange.status = answer.head.status;
  if (has_ended_what_runs(plan, answer.head.status)) note_early_end(parts, plan.resource_key);
  Passing passing{parts, exchange, plan, client, tap};
  passing.polls = std::move(polls);
  passing.capture = capture_for(parts, plan, answer, !passing.polls.empty(), tap);
  const bool to_be_explained = exchange.report.attempts > 1 || !exchange.report.reason.empty();
  if (to_be_explained && plan.mode == rules::Mode::Protect) explain(answer.head, exchange.report);
  const Passed passed = co_await pass_answer(passing, client_link, answer);
  exchange.delivered = passed.delivered;
  // A doubt about a write is settled by what its client has seen, not by what it may see.
  const bool shows_by_get =
      exchange.request.head.method == arm::Method::Get && plan.target.kind == arm::TargetKind::Resource &&
      (exchange.status == 404 || (exchange.status == 200 && !shows_a_part(plan, exchange.request.head.target)));
  const bool shows_resource = shows_by_get || passing.showing.what == Showing::What::State;
  if (passed.delivered && shows_resource) client.state->sendings().resolve(plan.resource_key, exchange.arrived);
  if (tap != nullptr && !passing.completed) tap->answered(answer.head, std::nullopt);
  std::optional<arm::Response> failure;
  if (passed.untold) failure = refuse_to_show(parts, exchange);
  if (passed.broken) failure = note_failure(parts, exchange, plan, client, action ? &*action : nullptr, *passed.broken);
  if (failure && !passed.begun) co_await write_failure(exchange, client_link, *std::move(failure));
  std::optional<SendingLedger::Asking> entry;
  const bool may_have_run = answer.head.status < 400 || answer.head.status >= 500;
  if (action && may_have_run && !passed.broken) entry = action->answered(passed.delivered);
  if (!passed.delivered) take_back(parts, *client.state, passing.showing);
  co_return Receipt(std::make_unique<ReadReceipt>(parts, client.state, passing.showing, entry));
}

}  // namespace armgate
