#include "proxy/net/answer_body.h"

#include <fmt/format.h>

#include <utility>

namespace armgate::net {
namespace {

Error answered(Error error) {
  error.source = ErrorSource::Upstream;
  error.sent = Sent::Answered;
  return error;
}

}  // namespace

AnswerBody::AnswerBody(std::shared_ptr<UpstreamHost> host, std::unique_ptr<UpstreamConnection> connection, Clock& clock,
                       const http::ParsedResponseHead& head, const AnswerBodyOptions& options)
    : host_(std::move(host)),
      connection_(std::move(connection)),
      clock_(clock),
      stall_max_(options.stall_max),
      until_close_(head.framing.kind == http::Framing::Kind::UntilClose),
      keep_alive_(head.keep_alive),
      decoder_(head.framing, ErrorSource::Upstream, options.limits) {
  const bool no_content = head.framing.kind == http::Framing::Kind::None ||
                          (head.framing.kind == http::Framing::Kind::Length && head.framing.bytes == 0);
  if (!no_content) return;
  ended_ = true;  // nobody may ever read it, and the connection is free already
  settle();
}

AnswerBody::~AnswerBody() { settle(); }

Task<Result<std::string_view>> AnswerBody::read() {
  while (!ended_) {
    InputBuffer& input = connection_->input;
    input.consume(std::exchange(handed_out_, 0));
    const auto step = decoder_.feed(input.bytes());
    if (!step) {
      settle();
      co_return answered(step.error());
    }
    ended_ = step->done;
    if (!step->piece.empty()) {
      handed_out_ = step->consumed;
      co_return step->piece;
    }
    input.consume(step->consumed);
    if (ended_ || (step->consumed > 0 && !input.empty())) continue;
    auto more = co_await read_more();
    if (!more) {
      settle();
      co_return answered(std::move(more).error());
    }
  }
  settle();
  co_return std::string_view{};
}

Task<Result<void>> AnswerBody::read_more() {
  ByteStream& stream = *connection_->stream;
  const auto got = co_await stream.read_some(scratch_area(), clock_.now() + stall_max_);
  if (!got) co_return got.error();
  if (*got > 0) {
    connection_->input.append(std::string_view(scratch_area().data(), *got));
    co_return Result<void>{};
  }
  if (until_close_ && stream.end() == StreamEnd::Bare) {
    co_return upstream_error(ErrorKind::Closed, Sent::Answered, fmt::format("the answer of {} was cut", host_->name()));
  }
  auto whole = decoder_.end_of_input();
  if (whole) ended_ = true;
  co_return whole;
}

void AnswerBody::settle() {
  if (!connection_) return;
  connection_->input.consume(std::exchange(handed_out_, 0));
  if (ended_ && keep_alive_ && !until_close_ && connection_->input.empty()) {
    host_->give_back(std::move(connection_));
  } else {
    host_->discard(std::move(connection_));
  }
}

}  // namespace armgate::net
