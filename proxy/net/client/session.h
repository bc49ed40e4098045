// session.h – the life of one intercepted connection: request after request, in order, until either side ends it.
//
// Invariants
//   1. A request reaches the handler only with its whole content in memory and past every check of proxy/http.
//   2. A malformed request gets one 4xx in ARM's error shape and touches nothing else; the connection ends.
//   3. Receipts: confirmed when the next request's first byte arrives after the answer (what was here before the answer's end
//      was written does not count) or the connection ends in an orderly way with every byte of the answer acknowledged, within
//      linger_max; dropped when it is reset, or ends without that; left unconfirmed when it ends within a request or an answer,
//      or is reset when our end of it was the answer's.
//   4. A body that finds no room beside those of other requests (BodyRoom) is answered 503, and what was read of it is let go
//      first.
//   5. After an answer that ends the connection the client gets a moment to close first. A client that has destroyed its
//      socket (Node does so at once) answers our close_notify with RST, and a delivered answer would look undelivered. Only a
//      moment, because others wait for our end of it (RFC 9112 §9.6).
// Threads   one event loop.
// Limits    SessionOptions; each wait has a deadline.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/http/head_parser.h"
#include "proxy/http/limits.h"
#include "proxy/net/client/client_connection.h"
#include "proxy/net/client/refusal.h"
#include "proxy/net/socket/net_event.h"
#include "proxy/request/exchange.h"
#include "proxy/request/pipeline.h"

namespace armgate::net {

class BodyRoom;
class BodyShare;

// Answers one exchange: Pipeline::serve in production.
using RequestHandler = std::function<Task<Receipt>(Exchange& exchange, ClientLink& client)>;

struct SessionOptions {
  http::Limits limits;
  bool one_request_each = false;                              // each answer ends its connection
  std::string own_mark;                                       // of this process (connect_policy.h); empty: none
  Duration idle_max = std::chrono::minutes(2);                // between requests
  Duration head_max = std::chrono::seconds(10);               // from its first byte to its last
  Duration body_max = std::chrono::seconds(60);               // the whole content, however steadily it drips
  Duration drain_quiet_max = std::chrono::seconds(2);         // within a request, while it drains
  Duration write_max = std::chrono::seconds(60);              // each piece of an answer
  Duration close_first_max = std::chrono::milliseconds(200);  // for the client to close first
  Duration linger_max =
      std::chrono::seconds(2);         // for the client to take the end of its last answer, since it last sent anything
  size_t early_bytes_max = 64 * 1024;  // of later requests, while one is being served
};

struct SessionSetup {
  Clock& clock;
  Executor executor;
  const SessionOptions& options;
  const RequestHandler& handler;
  const NetEventSink& events;
  std::string host;  // that the connection was intercepted for; empty: any
  uint16_t port = 443;
  http::LedBy led_by = http::LedBy::Tunnel;
  ConnectionIdentity from;
  BodyRoom* bodies = nullptr;  // null: each has its own limit, and all of them none
};

class Session {
 public:
  Session(std::unique_ptr<ByteStream> stream, SessionSetup setup);

  // Serves until the connection has ended. Runs once.
  Task<void> run();

  // Closes now if idle, soon if a request has stopped arriving, else after the current exchange.
  void drain();

  // A client that only waits is told to come again.
  void stop_waiting() { link_.stop_waiting(); }

  // Cuts the connection; an exchange that runs is not interrupted, but its client is gone.
  void abort() {
    aborted_ = true;
    stream_->close();
  }

 private:
  enum class After { NextRequest, Linger, Close };

  // An answer whose arrival is not certain yet.
  struct Unconfirmed {
    Receipt receipt;
    uint64_t end;  // of the connection's bytes, the last one of the answer
  };

  Task<bool> wait_for_request();
  bool skip_empty_lines();  // false: there are none
  Task<After> serve_request();
  Task<Result<http::ParsedRequestHead>> read_head();
  Task<Result<void>> read_body(const http::ParsedRequestHead& head, std::string& body, BodyShare& share);
  Task<Result<size_t>> more_of_request(TimePoint deadline);
  Task<After> refuse(Refusal refusal, const arm::RequestHead* head);  // null: it was not read
  Task<void> linger();
  Task<void> end_in_order();
  Task<void> await_acknowledgement(TimePoint deadline);
  void keep_receipt(Receipt receipt);
  void confirm_receipts();
  void drop_receipts();
  void confirm_acknowledged();

  const std::unique_ptr<ByteStream> stream_;
  const SessionSetup setup_;
  ClientInput input_;
  ClientConnection link_;
  Sender sender_;                      // of the last request
  std::vector<Unconfirmed> receipts_;  // oldest first
  size_t skipped_ = 0;                 // bytes of empty lines before the next request
  bool early_ = false;                 // what comes next was sent before the last answer could be read
  bool idle_ = false;
  bool arriving_ = false;  // the rest of a request is waited for
  bool draining_ = false;
  bool aborted_ = false;
};

}  // namespace armgate::net
