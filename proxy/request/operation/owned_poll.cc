#include "proxy/request/operation/owned_poll.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "arm/url.h"
#include "base/mutant.h"
#include "proxy/cluster/replica.h"
#include "proxy/request/answer.h"
#include "proxy/request/cluster/recorded.h"
#include "proxy/request/content_coding.h"
#include "proxy/request/operation/polled.h"
#include "proxy/request/operation/progress.h"
#include "proxy/request/send_whole.h"
#include "proxy/request/write/own_operation.h"

namespace armgate {
namespace {

using Form = arm::OperationUrl;
using Known = OwnedOperation::Known;
using Phase = OwnedOperation::Phase;

constexpr int kRoundsMax = 3;  // a poll during which the write went again asks for the new operation

arm::Response json_answer(int status, std::string body) {
  arm::Response answer;
  answer.head.status = status;
  answer.head.fields.add("Content-Type", "application/json; charset=utf-8");
  answer.body = std::move(body);
  return answer;
}

// {"id","name","status"} as ARM tells an operation; `more` goes before the closing brace.
std::string status_body(const OwnedOperation& operation, std::string_view status, std::string_view more = {}) {
  const auto url = arm::parse_url(arm::owned_url(operation.host(), operation.target(), {operation.id(), Form::Status}));
  const std::string_view id = url ? arm::path_of(url->target) : std::string_view();
  return fmt::format(R"({{"id":"{}","name":"{}","status":"{}"{}}})", id, operation.id().hex(), status, more);
}

arm::Response make_running(const OwnedOperation& operation, Form form, Duration retry_after) {
  const bool is_status = form == Form::Status;
  arm::Response answer = is_status ? json_answer(200, status_body(operation, "InProgress")) : json_answer(202, "");
  if (!is_status)
    answer.head.fields.add("Location", arm::owned_url(operation.host(), operation.target(), {operation.id(), form}));
  const auto seconds = std::max<int64_t>(1, std::chrono::ceil<std::chrono::seconds>(retry_after).count());
  answer.head.fields.add("Retry-After", std::to_string(seconds));
  return answer;
}

// What is known of the end, for an operation of which ARM tells nothing (any more).
arm::Response make_last_word(const OwnedOperation& operation, Form form, const Known& known) {
  const bool is_status = form == Form::Status;
  if (known.result.how == arm::Progress::Succeeded && !known.in_doubt) {
    return is_status ? json_answer(200, status_body(operation, "Succeeded")) : json_answer(204, "");
  }
  const bool ended = !known.in_doubt && arm::is_terminal(known.result.how);
  const std::string code = !ended                       ? "ArmgateOutcomeUnknown"
                           : known.result.error.empty() ? "OperationFailed"
                                                        : known.result.error.code;
  const std::string_view why = ended ? "This is ARM's last word on the operation, which it does not know any more."
                                     : "How the operation ended is not known. Read the resource to see, then decide.";
  const std::string error = arm::error_body(code, why);
  const std::string_view how = ended ? arm::to_text(known.result.how) : "Failed";
  if (!is_status) return json_answer(409, error);
  return json_answer(200, status_body(operation, how, "," + error.substr(1, error.size() - 2)));
}

// Where ARM tells it; nothing: nowhere, in this form.
std::optional<arm::Url> place_of(const OwnedOperation& operation, Form form, const Known& known) {
  const bool is_status = form == Form::Status;
  auto url = arm::parse_url(is_status ? known.tracking.status_url : known.tracking.location_url);
  if (url) return url;
  // The result of a success is the resource, with the reader's own token.
  const bool shows_result =
      !is_status && known.phase == Phase::Over && known.result.how == arm::Progress::Succeeded && !known.in_doubt;
  if (!shows_result) return std::nullopt;
  return arm::Url{operation.host(), 443, operation.target()};
}

Task<Result<arm::Response>> ask(Parts& parts, Exchange& exchange, const arm::Url& at) {
  arm::Request request = exchange.request;
  request.head.host = at.host;
  request.head.target = at.target;
  const TimePoint deadline = parts.clock.now() + parts.shared.options.answer_timeout;
  ++exchange.report.attempts;
  co_return co_await send_whole(parts, exchange.principal, request, deadline);
}

// Its watchers hear what ARM said, and may look for what they wait for. True: it has failed.
bool learn(const Parts& parts, const PolledOperations& operations, Form form, TimePoint asked, const arm::Response& answer) {
  const auto plain = plain_content(answer.head, answer.body, parts.shared.options.write_answer_bytes_max);
  const std::string_view body = plain ? plain->text() : "";
  learn_from_poll(parts, operations, asked, answer.head, body);
  const auto by = form == Form::Status ? arm::TrackedBy::StatusUrl : arm::TrackedBy::LocationUrl;
  return arm::has_failed(progress_of(by, answer.head, body));
}

bool is_gone(int status) { return status == 404 || status == 410; }

PolledOperations at(const Parts& parts, const std::optional<arm::Url>& place) {
  return place ? operations_at(parts, place->host, place->target, Hash128{}) : PolledOperations();
}

Task<arm::Response> answer_to(Parts& parts, Exchange& exchange, const OwnedOperation& operation, Form form) {
  const Duration soon = parts.shared.options.retry_after;
  Report& report = exchange.report;
  for (int round = 0; round < kRoundsMax; ++round) {
    const Known known = operation.snapshot();
    auto place = place_of(operation, form, known);
    if (place && !parts.shared.options.may_ask(place->host)) place.reset();  // no token is sent there (P8)
    const PolledOperations polled = at(parts, place);
    if (known.phase == Phase::Again) {
      for (const auto& match : polled.here) match.op_lease->waiter().signal(OperationLease::kWake);
      break;
    }
    if (!place && known.phase != Phase::Over) {
      report.reason = "own-operation-followed";
      co_return make_running(operation, form, soon);
    }
    if (!place) {
      report.reason = "last-word";
      co_return make_last_word(operation, form, known);
    }
    const TimePoint asked = parts.clock.now();
    auto answer = co_await ask(parts, exchange, *place);
    if (!answer) {
      report.upstream_error = answer.error().context;
      report.reason = "upstream-failure";
      co_return make_upstream_failure(answer.error(), soon);
    }
    const bool failed = learn(parts, polled, form, asked, *answer);
    const Known after = operation.snapshot();
    if (after.newest != known.newest) continue;
    if (after.phase == Phase::Again) break;
    // Whether the write goes again is another replica's to say.
    if (failed && after.is_led_elsewhere && !is_mutant(Mutant::LedElsewhereIgnored)) break;
    if (after.phase == Phase::Over && is_gone(answer->head.status)) {
      report.reason = "last-word";
      co_return make_last_word(operation, form, after);
    }
    put_own_urls(operation, answer->head.fields);
    co_return *std::move(answer);
  }
  report.reason = "operation-sent-again";
  co_return make_running(operation, form, soon);
}

}  // namespace

OwnedPoll owned_poll_of(const Parts& parts, const arm::RequestHead& head) {
  const bool may_be_any = parts.cluster != nullptr || !parts.shared.owned.empty();
  if (!may_be_any || head.method != arm::Method::Get) return {};
  const auto url = arm::owned_url_in(head.target);
  if (!url) return {};
  OwnedPoll poll{parts.shared.owned.find(url->id), url->form};
  poll.may_be_told_yet = parts.cluster != nullptr && !poll.operation;
  return poll;
}

Task<OwnedPoll> once_all_is_known(Parts& parts, const Exchange& exchange) {
  parts.cluster->mark();
  const bool is_known = co_await until_recorded(parts, exchange.executor);
  OwnedPoll poll = owned_poll_of(parts, exchange.request.head);
  poll.may_be_told_yet = !is_known && !poll.operation;
  co_return poll;
}

Task<Receipt> serve_owned_poll(Parts& parts, Exchange& exchange, ClientLink& link, const OwnedPoll& poll) {
  arm::Response answer;
  if (poll.may_be_told_yet) {
    exchange.report.reason = "cluster-unavailable";
    answer = make_busy("The cluster's engine does not tell what this operation stands for.", parts.shared.options.retry_after);
  } else {
    const std::string_view token = exchange.request.head.fields.get("Authorization");
    parts.shared.owned.note_poll(*poll.operation, exchange.principal, token, parts.clock.now());
    answer = co_await answer_to(parts, exchange, *poll.operation, poll.form);
  }
  exchange.report.altered = true;
  explain(answer.head, exchange.report);
  co_await write_answer(exchange, link, answer);
  co_return Receipt();
}

}  // namespace armgate
