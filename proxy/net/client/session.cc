#include "proxy/net/client/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "proxy/async/spawn.h"
#include "proxy/http/body_decoder.h"
#include "proxy/net/client/body_room.h"
#include "proxy/net/client/connect_policy.h"

namespace armgate::net {
namespace {

constexpr size_t kReceiptsMax = 16;    // answers to pipelined requests; beyond it the oldest stay unconfirmed
constexpr uint32_t kStepsAtOnce = 64;  // of content, until others run: a client that sends fast is never waited for
// Until it is looked whether a last answer is acknowledged; each pause after that is twice as long.
constexpr Duration kFirstLook = std::chrono::milliseconds(5);

constexpr const char* kLedBack =
    "armgate has sent this request itself, and was led back to itself: let it find the host's own address, by DNS or "
    "hosts.address";

bool has_content(const http::Framing& framing) {
  return framing.kind == http::Framing::Kind::Chunked || (framing.kind == http::Framing::Kind::Length && framing.bytes > 0);
}

// Not only waited for in vain.
bool is_broken(const Result<size_t>& got) {
  return !got && got.error().kind != ErrorKind::TimedOut && got.error().kind != ErrorKind::Cancelled;
}

Error client_left() { return client_error(ErrorKind::Closed, "the client closed the connection within a request"); }

Error no_room(size_t bytes_max) {
  return gateway_error(ErrorKind::Busy, fmt::format("the bodies of other requests take all {} bytes that armgate holds at once "
                                                    "(limits.request_bodies_total); send it again",
                                                    bytes_max));
}

}  // namespace

Session::Session(std::unique_ptr<ByteStream> stream, SessionSetup setup)
    : stream_(std::move(stream)),
      setup_(std::move(setup)),
      input_(*stream_, setup_.clock, setup_.executor, setup_.options.early_bytes_max),
      link_(*stream_, input_, setup_.clock, setup_.options.write_max) {}

Task<void> Session::run() {
  After after = After::NextRequest;
  while (after == After::NextRequest) {
    if (!co_await wait_for_request()) break;
    after = co_await serve_request();
  }
  if (after == After::Linger) co_await linger();
  stream_->close();
  co_await input_.stop();
}

void Session::drain() {
  draining_ = true;
  link_.close_after_answer();
  if (idle_ || arriving_) stream_->cancel_read();
}

// False: the connection is over.
Task<bool> Session::wait_for_request() {
  const TimePoint deadline = setup_.clock.now() + setup_.options.idle_max;
  bool is_here = early_;  // and unread, maybe: it was asked before its client could be told that the connection ends
  Result<size_t> got(size_t{0});
  skipped_ = 0;
  while (true) {
    const bool has_skipped = skipped_ > 0;
    skip_empty_lines();
    if (skipped_ > setup_.options.limits.head_bytes_max) co_return true;  // read_head() refuses it
    if (!input_.bytes().empty()) {  // if it did not come just now: pipelined, or while the handler still watched for it
      if (!early_) confirm_receipts();
      co_return true;
    }
    if (draining_ && !is_here) break;
    idle_ = true;
    // Half a TLS record counts as something, and the rest of it may never come.
    const TimePoint soon = std::min(deadline, setup_.clock.now() + setup_.options.drain_quiet_max);
    const bool was_draining = draining_;
    got = co_await input_.more(was_draining ? soon : deadline);
    idle_ = false;
    // The drain woke this session, and not what had come just before: read, it is answered; unread, it would be reset.
    const bool drain_began = !got && got.error().kind == ErrorKind::Cancelled && draining_ && !was_draining;
    is_here = drain_began && stream_->has_input();
    if (is_here) continue;
    if (!got || *got == 0) break;
    if (has_skipped) co_await let_others_run();
  }
  if (is_broken(got)) {
    drop_receipts();
    co_return false;
  }
  co_await end_in_order();
  co_return false;
}

// They are no part of the request, but count towards its head's limit: else they had none.
bool Session::skip_empty_lines() {
  const size_t empty = http::empty_lines_before(input_.bytes());
  input_.consume(empty);
  skipped_ += empty;
  return empty > 0;
}

Task<Session::After> Session::serve_request() {
  Exchange exchange;
  exchange.arrived = input_.arrived();
  exchange.executor = setup_.executor;
  exchange.from = setup_.from;
  exchange.last_sender = &sender_;

  auto head = co_await read_head();
  if (!head) {
    if (head.error().kind == ErrorKind::Closed || head.error().kind == ErrorKind::Reset) co_return After::Close;
    co_return co_await refuse(refuse_head(head.error(), input_.bytes(), setup_.options.limits), nullptr);
  }
  const bool may_keep = head->keep_alive && !draining_ && !setup_.options.one_request_each;
  link_.begin(head->head.method, head->minor_version, may_keep ? http::Connection::Keep : http::Connection::Close);
  const auto right =
      setup_.host.empty() ? Result<void>() : http::check_authority(*head, setup_.host, setup_.port, setup_.led_by);
  if (!right) {
    Refusal refusal{400, "ArmgateBadRequest", right.error().context};  // named: g++ 12 destroys such a temporary twice
    co_return co_await refuse(std::move(refusal), &head->head);
  }
  if (carries_mark(head->head.fields, setup_.options.own_mark)) {
    Refusal refusal{508, "ArmgateLoopDetected", kLedBack};
    co_return co_await refuse(std::move(refusal), &head->head);
  }
  BodyShare share(setup_.bodies);
  auto body = co_await read_body(*head, exchange.request.body, share);
  if (!body) {
    std::string().swap(exchange.request.body);
    share.give_back();
    const ErrorKind kind = body.error().kind;
    if (kind == ErrorKind::Closed || kind == ErrorKind::Reset || kind == ErrorKind::Cancelled) co_return After::Close;
    co_return co_await refuse(refuse_body(body.error()), &head->head);
  }
  exchange.request.head = std::move(head->head);

  Receipt receipt = co_await setup_.handler(exchange, link_);
  if (input_.is_watching()) co_await input_.stop();  // in case the handler left its watch set
  if (!link_.complete()) {
    receipt.drop();
    co_return After::Close;
  }
  keep_receipt(std::move(receipt));
  early_ = link_.next_came_early();
  if (link_.unread_came_early()) input_.note_early(exchange.arrived);
  co_return link_.can_continue() ? After::NextRequest : After::Linger;
}

Task<Result<http::ParsedRequestHead>> Session::read_head() {
  const http::Limits& limits = setup_.options.limits;
  const TimePoint deadline = setup_.clock.now() + setup_.options.head_max;
  size_t seen = 0;
  while (true) {
    if (skip_empty_lines()) seen = 0;
    if (skipped_ > limits.head_bytes_max) {
      co_return client_error(ErrorKind::BadInput, "more empty lines came before the request than a head may be long");
    }
    const std::string_view bytes = input_.bytes();
    const auto end = http::find_head_end(bytes, seen);
    if (end.value_or(bytes.size()) > limits.head_bytes_max) co_return http::head_too_large(limits, ErrorSource::Client);
    if (end) {
      auto head = http::parse_request_head(bytes.substr(0, *end), limits);
      if (head) input_.consume(*end);
      co_return head;
    }
    seen = bytes.size();
    if (skipped_ > 0) co_await let_others_run();
    auto got = co_await more_of_request(deadline);
    if (!got) co_return std::move(got).error();
    if (*got == 0) co_return client_left();
  }
}

Task<Result<void>> Session::read_body(const http::ParsedRequestHead& head, std::string& body, BodyShare& share) {
  const http::Limits& limits = setup_.options.limits;
  const TimePoint deadline = setup_.clock.now() + setup_.options.body_max;
  if (head.expects_continue && has_content(head.framing) && input_.bytes().empty()) {
    auto written = co_await stream_->write_all(http::kContinue, deadline);
    if (!written) co_return written;
  }
  http::BodyDecoder decoder(head.framing, ErrorSource::Client, limits, limits.request_body_bytes_max);
  for (uint32_t steps = 1;; ++steps) {
    if (steps % kStepsAtOnce == 0) co_await let_others_run();
    auto step = decoder.feed(input_.bytes());
    if (!step) co_return std::move(step).error();
    if (!share.grow_to(body.size() + step->piece.size())) co_return no_room(setup_.bodies->bytes_max());
    body.append(step->piece);
    const bool advanced = step->consumed > 0;
    input_.consume(step->consumed);
    if (step->done) co_return Result<void>{};
    if (advanced && !input_.bytes().empty()) continue;
    auto got = co_await more_of_request(deadline);
    if (!got) co_return std::move(got).error();
    if (*got == 0) co_return client_left();
  }
}

// A client that sends head and content apart, with Nagle's algorithm on (RFC 896; urllib3 switches it on for proxies), keeps
// the content back until its head is acknowledged.
Task<Result<size_t>> Session::more_of_request(TimePoint deadline) {
  stream_->acknowledge_now();
  const TimePoint soon = std::min(deadline, setup_.clock.now() + setup_.options.drain_quiet_max);
  const bool was_draining = draining_;
  arriving_ = true;
  auto got = co_await input_.more(was_draining ? soon : deadline);
  arriving_ = false;
  const bool drain_began = !got && got.error().kind == ErrorKind::Cancelled && draining_ && !was_draining;
  if (drain_began) co_return co_await input_.more(soon);
  co_return got;
}

Task<Session::After> Session::refuse(Refusal refusal, const arm::RequestHead* head) {
  NetEvent event{.kind = refusal.code == kTooManyBodies ? NetEventKind::BodyLimit : NetEventKind::RequestRefused,
                 .peer = setup_.from.peer,
                 .client = setup_.from.proxy_user,
                 .host = setup_.host,
                 .text = refusal.message};
  if (head != nullptr) event.method = head->method_token;
  // Of armgate's own pages it may name a lease, which whoever knows its name may end.
  if (head != nullptr && !setup_.host.empty()) event.path = arm::path_of(head->target);
  emit(setup_.events, event);
  link_.begin(head != nullptr ? head->method : arm::Method::Get, 1, http::Connection::Close);
  const arm::Response response = to_response(refusal);
  auto written = co_await link_.write_head(response.head, {BodyLength::Kind::Known, response.body.size()});
  if (written) written = co_await link_.write_body(response.body);
  if (written) written = co_await link_.finish();
  co_return written ? After::Linger : After::Close;
}

// Takes in and forgets what the client still sends, so that it reads our answer before it sees the connection end.
Task<void> Session::linger() {
  const TimePoint last = setup_.clock.now() + setup_.options.body_max;
  TimePoint deadline = setup_.clock.now() + setup_.options.linger_max;
  const bool ends_first = link_.ends_with_connection();
  bool has_ended = ends_first;  // our side
  TimePoint until = ends_first ? deadline : setup_.clock.now() + setup_.options.close_first_max;
  if (ends_first) co_await stream_->shutdown(deadline);
  while (true) {
    input_.discard();
    const auto got = co_await input_.more(until);
    const TimePoint now = setup_.clock.now();
    if (got && *got > 0) {
      // Many read nothing before all is sent.
      if (!draining_) deadline = std::min(last, now + setup_.options.linger_max);
      if (has_ended) until = deadline;
    }
    if (got && *got > 0 && now < until) {
      co_await let_others_run();  // however fast the client sends
      continue;
    }
    if (is_broken(got)) {
      if (!ends_first) drop_receipts();  // else it may be what our farewell met, see session.h
      co_return;
    }
    const bool is_over = (got && *got == 0) || setup_.clock.now() >= deadline || aborted_;
    if (is_over) break;
    confirm_acknowledged();
    co_await stream_->shutdown(deadline);
    has_ended = true;
    until = deadline;
  }
  co_await end_in_order();
}

// Nothing more is to be said on either side.
Task<void> Session::end_in_order() {
  const TimePoint deadline = setup_.clock.now() + setup_.options.linger_max;
  if (aborted_) co_return;
  confirm_acknowledged();
  co_await stream_->shutdown(deadline);
  if (!receipts_.empty()) co_await await_acknowledgement(deadline);
}

// A client that has only ended its own direction acknowledges the last answer; one that had left before it came, never does.
// The system tells neither by itself.
Task<void> Session::await_acknowledgement(TimePoint deadline) {
  for (Duration pause = kFirstLook; !aborted_; pause *= 2) {
    confirm_acknowledged();
    if (receipts_.empty()) co_return;
    if (stream_->is_broken() || setup_.clock.now() >= deadline) break;
    co_await setup_.clock.sleep_until(std::min(setup_.clock.now() + pause, deadline));
  }
  if (!aborted_) drop_receipts();
}

void Session::keep_receipt(Receipt receipt) {
  if (!receipt.has_effect()) return;
  if (receipts_.size() == kReceiptsMax) receipts_.erase(receipts_.begin());
  receipts_.push_back({std::move(receipt), stream_->bytes_written()});
}

void Session::confirm_receipts() {
  for (auto& [receipt, end] : receipts_) receipt.confirm();
  receipts_.clear();
}

void Session::drop_receipts() {
  for (auto& [receipt, end] : std::exchange(receipts_, {})) receipt.drop();
}

// Of a client that has left; it may have gone before the answer came.
void Session::confirm_acknowledged() {
  const uint64_t acknowledged = stream_->bytes_acknowledged();
  const auto first_left = std::find_if(receipts_.begin(), receipts_.end(),
                                       [acknowledged](const Unconfirmed& answer) { return answer.end > acknowledged; });
  for (auto answer = receipts_.begin(); answer != first_left; ++answer) answer->receipt.confirm();
  receipts_.erase(receipts_.begin(), first_left);
}

}  // namespace armgate::net
