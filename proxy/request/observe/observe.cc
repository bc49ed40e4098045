#include "proxy/request/observe/observe.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "proxy/async/spawn.h"
#include "proxy/request/content_coding.h"
#include "proxy/request/guard/find_bases.h"
#include "proxy/request/guard/patch_copy.h"
#include "proxy/request/observe/would_be_stale.h"
#include "proxy/request/operation/leased_write.h"
#include "proxy/request/operation/result.h"
#include "proxy/request/operation/watch.h"
#include "proxy/request/queue/breaker.h"
#include "proxy/request/queue/lock.h"
#include "proxy/request/read/relay.h"
#include "proxy/request/timed_wait.h"
#include "proxy/request/write/close_write.h"
#include "proxy/request/write/coalesce.h"
#include "proxy/request/write/references.h"
#include "proxy/request/write/settle.h"

namespace armgate {
namespace {

// An operation that nobody has asked about for so long is not followed any more: armgate does not ask by itself here, and what
// may have ended long ago would make every later write look like an overlap.
constexpr Duration kUnaskedMax = std::chrono::minutes(2);

void report(const Parts& parts, const ObserveFinding& finding) {
  auto& counters = parts.shared.counters;
  const auto add = [](std::atomic<uint64_t>& counter) { counter.fetch_add(1, std::memory_order_relaxed); };
  switch (finding.kind) {
    case ObserveFinding::Kind::Stale: add(counters.would_be_stale); break;
    case ObserveFinding::Kind::Merged: add(counters.would_be_merged); break;
    case ObserveFinding::Kind::Overlap: add(counters.would_overlap); break;
    case ObserveFinding::Kind::Duplicate: add(counters.would_be_duplicate); break;
    case ObserveFinding::Kind::Sick: break;  // counted where it is found
    case ObserveFinding::Kind::Wait: add(counters.would_wait); break;
  }
  if (parts.report_finding) parts.report_finding(finding);
}

std::string words_for(const ObservedWrites::Write& write) { return write.method + " " + write.resource; }

void report(const Parts& parts, const std::vector<ObservedWrites::Wait>& over) {
  const TimePoint now = parts.clock.now();
  for (const auto& wait : over) {
    ObserveFinding finding;
    finding.kind = ObserveFinding::Kind::Wait;
    finding.client = wait.write.client_label;
    finding.method = wait.write.method;
    finding.resource = wait.write.resource;
    finding.other_client = wait.last.client_label;
    finding.other = words_for(wait.last);
    finding.waited = now - wait.write.since;
    report(parts, finding);
  }
}

void end_observed(const Parts& parts, uint64_t id, ObservedWrites::End how) {
  report(parts, parts.shared.observed.end(id, how));
}

// Waits for the end of the operation to pass by.
Task<void> follow_quietly(Parts& parts, std::shared_ptr<OperationLease> op_lease, uint64_t id) {
  const Duration give_up_after = std::max(kUnaskedMax, 3 * op_lease->write().interval);
  while (op_lease->is_open()) {
    const TimePoint due = std::max(op_lease->write().opened, op_lease->last_asked()) + give_up_after;
    if (parts.clock.now() >= due) {
      conclude(parts, op_lease, arm::Progress::Unknown);
      break;
    }
    co_await wait_until(parts, op_lease->waiter(), due, OperationLease::kWake);
  }
  const auto last = op_lease->finished();
  const bool seen = last && arm::is_terminal(*last);
  end_observed(parts, id, seen ? ObservedWrites::End::Seen : ObservedWrites::End::Unseen);
}

// A write that is on its way, and what is to be told about it.
struct Observed {
  const Write& write;
  uint64_t id = 0;                              // among the unfinished
  std::vector<ObservedWrites::Write> before{};  // unfinished when it arrived
  Outcome::Kind kind = Outcome::Kind::Answered;
  Showing shown{};
};

ObservedWrites::Sending note_duplicate(const Write& write, const SendingLedger::Arrival& arrival) {
  if (!write.ledger().knows(arrival)) return ObservedWrites::Sending::First;
  ObserveFinding finding = make_finding(write, ObserveFinding::Kind::Duplicate, "earlier-sending-unanswered");
  finding.other_client = write.client.label;
  report(write.parts, finding);
  return ObservedWrites::Sending::Again;
}

// What it meets when it arrives.
void note_arrival(Observed& observed, const SendingLedger::Arrival& arrival, ObservedWrites::Sending sending) {
  const Write& write = observed.write;
  const auto& parts = write.parts;
  tell_if_sick(write);
  ObservedWrites::Write arriving;
  arriving.request = parts.shared.hasher.chain(arrival.request, arrival.request_id);
  arriving.request_hash = write.request_hash;
  arriving.client = write.client.key;
  arriving.client_label = write.client.label;
  arriving.method = write.head().method_token;
  arriving.resource = write.plan.target.resource.id;
  arriving.since = write.exchange.arrived.time;
  arriving.is_reentrant = is_reentrant(write);
  arriving.admits_own =
      may_run_beside_its_own(write.plan) && !write.plan.rule->late.is_on();  // as settle.cc: not while it is owned
  auto begun = parts.shared.observed.begin(std::move(arriving), all_keys(write), sending);
  observed.id = begun.id;
  observed.before = std::move(begun.before);
  if (observed.before.empty()) return;
  ObserveFinding finding = make_finding(write, ObserveFinding::Kind::Overlap, "another-write-unfinished");
  finding.other_client = observed.before.front().client_label;
  finding.other = words_for(observed.before.front());
  report(parts, finding);
}

void accepted(Observed& observed, const Outcome& outcome) {
  const Write& write = observed.write;
  auto& parts = write.parts;
  if (const auto stale = would_be_stale(write)) report(parts, *stale);
  report(parts, parts.shared.observed.taken(observed.id, keys_until_answer(write)));
  const Moment now = parts.clock.next_moment();
  note_accepted(write);
  note_state(parts, write.plan, outcome.tracking.state);
  auto op_lease = open_operation_lease(write, outcome, change_of(write, true), LeaseInputs(), now);
  observed.shown = remember_answer(write, outcome);
  if (op_lease && op_lease->is_open()) {
    spawn(parts.executor, follow_quietly(parts, std::move(op_lease), observed.id));
  } else {
    end_observed(parts, observed.id, ObservedWrites::End::Seen);
  }
}

// ARM has answered. Without the whole of its body only the head tells what became of the write.
void answered(Observed& observed, const arm::ResponseHead& head, std::optional<std::string> body) {
  const Write& write = observed.write;
  const bool is_whole = body.has_value();
  Outcome outcome;
  outcome.answer.head = head;
  outcome.answer.body = std::move(body).value_or("");
  if (arm::is_success(head.status)) {
    observed.kind = outcome.kind = Outcome::Kind::Accepted;
    const auto plain = plain_content(head, outcome.answer.body, write.parts.shared.options.write_answer_bytes_max);
    outcome.tracking = arm::tracking_of(write.head().method, head, plain ? plain->text() : std::string_view());
    accepted(observed, outcome);
  } else {
    end_observed(write.parts, observed.id, ObservedWrites::End::Seen);
  }
  std::shared_ptr<const arm::Response> answer;
  if (is_whole) answer = std::make_shared<const arm::Response>(std::move(outcome.answer));
  outcome.kind = observed.kind;
  share_answer(write, outcome, std::move(answer));
}

// No answer came. It may have taken effect: its re-send is a second one then.
void lost(Observed& observed, const Error& error) {
  const Write& write = observed.write;
  end_observed(write.parts, observed.id, ObservedWrites::End::Unseen);
  if (error.sent != Sent::No) {
    write.ledger().note_maybe_applied(write.sending);
    share_answer(write, {Outcome::Kind::InDoubt, {}, {}}, nullptr);
  } else {
    share_answer(write, {Outcome::Kind::Answered, {}, {}}, nullptr);
  }
}

}  // namespace

Task<Receipt> observe_write(Parts& parts, Exchange& exchange, ClientLink& client_link, const KeyedPlan& plan,
                            const Client& client) {
  ClientWait give_up_after(parts.clock, exchange.executor, client_link, exchange.arrived.time);  // it waits for nothing
  Write write = make_write(parts, exchange, plan, client, give_up_after);
  const auto arrival = arrival_of(write, client_link.presence());
  const auto sending = note_duplicate(write, arrival);
  const auto asking = client.state->sendings().add(arrival);
  write.sending = asking.sending;
  write.asking = asking.number;
  client.state->set_label(client.label);
  detect_patch_copy(write);
  const WriteUnderWay under_way(write);
  if (write.replaces) find_bases(write);
  write.references = references_of(write);
  Observed observed{write};
  note_arrival(observed, arrival, sending);
  client.state->sendings().sent(write.sending);

  Tap tap;
  tap.bytes_max = parts.shared.options.write_answer_bytes_max;
  tap.answered = [&observed](const arm::ResponseHead& head, std::optional<std::string> body) {
    answered(observed, head, std::move(body));
  };
  tap.lost = [&observed](const Error& error) { lost(observed, error); };
  co_await relay(parts, exchange, client_link, plan, client, &tap);
  co_return close_exchange(write, observed.kind, observed.shown);
}

}  // namespace armgate
