// answer_body.h – the content of an upstream's answer, read from its connection; gives the connection back at the end.
//
// Invariants
//   1. The connection is reused only if the content ended where its framing said, keep-alive holds, and nothing more was
//      received: an unsolicited second answer would be taken for the next request's.
//   2. Content that ends with the connection is whole only if the end was notified (close_notify); a bare FIN may be a cut.
// Threads   one event loop.
// Cancel    destroying it before the end closes the connection.
#pragma once

#include <memory>

#include "proxy/http/body_decoder.h"
#include "proxy/net/socket/record_area.h"
#include "proxy/net/upstream/upstream_host.h"
#include "proxy/seams/upstream.h"

namespace armgate::net {

class AnswerBody final : public BodySource {
 public:
  AnswerBody(std::shared_ptr<UpstreamHost> host, std::unique_ptr<UpstreamConnection> connection, Clock& clock,
             const http::ParsedResponseHead& head, const http::Limits& limits, Duration stall_max);
  ~AnswerBody() override;

  Task<Result<std::string_view>> read() override;
  bool ended() const override { return ended_; }

 private:
  // What was received and not used yet: what came with the head stands in the connection's input, the rest in `area_`.
  std::string_view unused() const { return area_ ? in_area_ : connection_->input.bytes(); }
  void use(size_t count);
  Task<Result<void>> read_more();
  void release_connection();

  const std::shared_ptr<UpstreamHost> host_;
  std::unique_ptr<UpstreamConnection> connection_;  // gone once settled
  Clock& clock_;
  const Duration stall_max_;  // between two pieces
  const bool until_close_;
  const bool keep_alive_;
  http::BodyDecoder decoder_;
  RecordArea area_;           // not made until more is needed than came with the head
  std::string_view in_area_;  // not used yet
  size_t area_filled_ = 0;    // at most, by one read
  size_t handed_out_ = 0;     // bytes of the input that the last piece lies in
  bool ended_ = false;
};

}  // namespace armgate::net
