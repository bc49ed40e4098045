// client_connection.h – writes one answer at a time to a real client (the real ClientLink).
//
// Invariants
//   1. The head and the first piece of the content leave in one write.
//   2. An answer that is not written to its declared end is never followed by another: the connection is closed instead, so
//      that the client sees it cut.
// Threads   one event loop.
#pragma once

#include <string>

#include "proxy/http/compose.h"
#include "proxy/net/client/client_input.h"
#include "proxy/seams/client_link.h"

namespace armgate::net {

class ClientConnection final : public ClientLink {
 public:
  ClientConnection(ByteStream& stream, ClientInput& input, Clock& clock, Duration write_max)
      : stream_(stream), input_(input), clock_(clock), write_max_(write_max) {}

  // A request was read; its answer may be written now.
  void begin(arm::Method method, int minor_version, http::Connection connection);

  // The connection ends after this answer, if its head is not written yet: else the client was not told, and may ask again.
  void close_after_answer() {
    if (state_ != State::Writing) connection_ = http::Connection::Close;
  }

  // From now on it is closing().
  void stop_waiting() {
    closing_ = true;
    input_.wake_watcher();
  }

  Task<Result<void>> write_head(const arm::ResponseHead& head, BodyLength length) override;
  Task<Result<void>> write_body(std::string_view piece) override;
  Task<Result<void>> finish() override;
  bool gone() const override { return input_.gone(); }
  std::shared_ptr<const Presence> presence() const override { return input_.presence(); }
  bool closing() const override { return closing_; }
  void watch(Waiter* waiter, uint32_t bits) override { input_.watch(waiter, bits); }

  bool complete() const { return state_ == State::Complete; }

  // After a complete answer: whether something of the next request was here before the answer's end was written. Its sender had
  // not read that answer. For bytes that were read already the moment is known; for unread ones the caller passes it.
  bool next_came_early() const { return read_came_early_ || unread_came_early_; }
  bool unread_came_early() const { return unread_came_early_; }

  // After a complete answer.
  bool can_continue() const { return complete() && connection_ == http::Connection::Keep; }
  bool ends_with_connection() const { return ends_with_connection_; }

 private:
  enum class State { Nothing, Writing, Complete, Failed };

  Result<void> noted(Result<void> written);  // after a failure nothing more may be written
  Result<void> refuse(std::string_view why);
  void note_early_input() {
    read_came_early_ = !input_.bytes().empty();
    unread_came_early_ = stream_.has_input();
  }

  ByteStream& stream_;
  ClientInput& input_;
  Clock& clock_;
  const Duration write_max_;

  bool closing_ = false;
  bool read_came_early_ = false;
  bool unread_came_early_ = false;
  State state_ = State::Nothing;
  arm::Method method_ = arm::Method::Get;
  int minor_version_ = 1;
  http::Connection connection_ = http::Connection::Keep;
  http::ComposedResponse::Content content_ = http::ComposedResponse::Content::None;
  bool counted_ = false;               // the answer declared its length ...
  uint64_t left_ = 0;                  // ... and this much of it is still to come
  bool ends_with_connection_ = false;  // only the end of the connection ends the content
  std::string pending_;                // the head, until the first piece or the end
};

}  // namespace armgate::net
