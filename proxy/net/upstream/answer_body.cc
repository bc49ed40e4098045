#include "proxy/net/upstream/answer_body.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace armgate::net {
namespace {

Error answered(Error error) {
  error.source = ErrorSource::Upstream;
  error.sent = Sent::Answered;
  return error;
}

}  // namespace

AnswerBody::AnswerBody(std::shared_ptr<UpstreamHost> host, std::unique_ptr<UpstreamConnection> connection, Clock& clock,
                       const http::ParsedResponseHead& head, const http::Limits& limits, Duration stall_max)
    : host_(std::move(host)),
      connection_(std::move(connection)),
      clock_(clock),
      stall_max_(stall_max),
      until_close_(head.framing.kind == http::Framing::Kind::UntilClose),
      keep_alive_(head.keep_alive),
      decoder_(head.framing, ErrorSource::Upstream, limits) {
  const bool no_content = head.framing.kind == http::Framing::Kind::None ||
                          (head.framing.kind == http::Framing::Kind::Length && head.framing.bytes == 0);
  if (!no_content) return;
  ended_ = true;  // nobody may ever read it, and the connection is free already
  release_connection();
}

AnswerBody::~AnswerBody() { release_connection(); }

Task<Result<std::string_view>> AnswerBody::read() {
  while (!ended_) {
    use(std::exchange(handed_out_, 0));
    const auto step = decoder_.feed(unused());
    if (!step) {
      release_connection();
      co_return answered(step.error());
    }
    ended_ = step->done;
    if (!step->piece.empty()) {
      handed_out_ = step->consumed;
      co_return step->piece;
    }
    use(step->consumed);
    if (ended_ || (step->consumed > 0 && !unused().empty())) continue;
    auto more = co_await read_more();
    if (!more) {
      release_connection();
      co_return answered(std::move(more).error());
    }
  }
  release_connection();
  co_return std::string_view{};
}

void AnswerBody::use(size_t count) {
  if (area_)
    in_area_.remove_prefix(count);
  else
    connection_->input.consume(count);
}

// Straight into memory of its own: content may be long, and a copy of it would cost as much as the kernel's.
Task<Result<void>> AnswerBody::read_more() {
  GATE_CHECK(unused().empty(), "what was received is decoded before more is read");
  ByteStream& stream = *connection_->stream;
  if (!area_) area_.make();
  const auto got = co_await stream.read_some(area_.bytes(), clock_.now() + stall_max_);
  if (!got && got.error().kind == ErrorKind::TimedOut) {
    co_return upstream_error(ErrorKind::TimedOut, Sent::Answered,
                             fmt::format("the answer of {} stood still for too long (upstream.stall_max)", host_->name()));
  }
  if (!got) co_return got.error();
  if (*got > 0) {
    in_area_ = std::string_view(area_.bytes().data(), *got);
    area_filled_ = std::max(area_filled_, *got);
    co_return Result<void>{};
  }
  if (until_close_ && stream.end() == StreamEnd::Bare) {
    co_return upstream_error(ErrorKind::Closed, Sent::Answered, fmt::format("the answer of {} was cut", host_->name()));
  }
  auto whole = decoder_.end_of_input();
  if (whole) ended_ = true;
  co_return whole;
}

void AnswerBody::release_connection() {
  if (!connection_) return;
  use(std::exchange(handed_out_, 0));
  const bool nothing_more = connection_->input.empty() && in_area_.empty();
  if (area_) ::explicit_bzero(area_.bytes().data(), area_filled_);  // answers may show secrets (listKeys)
  if (ended_ && keep_alive_ && !until_close_ && nothing_more) {
    host_->give_back(std::move(connection_));
  } else {
    host_->discard(std::move(connection_));
  }
}

}  // namespace armgate::net
