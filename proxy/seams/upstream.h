// upstream.h – the seam to ARM. Real: a pool of verified TLS connections per host. Simulation: a hostile fake ARM.
//
// One call is one attempt: the implementation never sends a request twice on its own, except on a fresh connection
// after a pooled one turned out dead before the first byte of the request left (Sent::No).
// Threads   one Upstream per event loop; all calls from that loop.
// Cancel    destroying an UpstreamAnswer before its body ended closes the connection.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "arm/http.h"
#include "base/result.h"
#include "base/time.h"
#include "proxy/async/task.h"
#include "proxy/async/waiter.h"
#include "proxy/seams/clock.h"

namespace armgate {

// The content of one message, in pieces, transfer coding removed.
class BodySource {
 public:
  virtual ~BodySource() = default;

  // The next piece; empty at the end. The view is valid until the next call. An error means that the message was cut:
  // what was read so far is not the whole.
  virtual Task<Result<std::string_view>> read() = 0;

  // The piece that was given last is known to be the last one. What is not known yet is false.
  virtual bool ended() const { return false; }
};

// How long the content of a message will be.
struct BodyLength {
  enum class Kind { None, Known, Unknown } kind = Kind::None;  // None: this message has no content at all
  uint64_t bytes = 0;                                          // for Known
};

struct UpstreamAnswer {
  arm::ResponseHead head;  // the final response (1xx are consumed); hop-by-hop fields removed
  BodyLength length;       // for HEAD and 304: None, whatever Content-Length says
  std::unique_ptr<BodySource> body;
};

// The owner of a sending, while that waits for a connection. This may take long: meanwhile its client may leave, or armgate
// end. It outlives the call.
class SendGate {
 public:
  virtual ~SendGate() = default;

  // Asked before it waits in line for a connection, and again whenever waiter() is signalled: false, and it leaves the line.
  virtual bool may_wait() { return true; }
  virtual Waiter* waiter() { return nullptr; }  // null: its answer changes while nobody asks, if at all

  // Whether what was sent is given up when nobody waits for its answer any more, and whether somebody does: asked each
  // kLookForAsker while the answer has not begun. What ARM does with it goes on, so that only reads are.
  virtual bool may_be_given_up() const { return false; }
  virtual bool is_awaited() { return true; }

  // All is ready and the first byte is about to leave: false, and none does. Once more if no byte got through, on another
  // connection.
  bool begin(TimePoint now);
  const std::optional<TimePoint>& begun() const { return begun_; }  // since when the answer may come

 private:
  virtual bool may_begin() = 0;
  virtual void note_begun() {}  // the first time

  std::optional<TimePoint> begun_;
};

// Nearly every answer comes before, so that it costs nothing.
inline constexpr Duration kLookForAsker = std::chrono::seconds(1);

// Until when a request may leave, and its answer come.
struct SendLimits {
  SendLimits(TimePoint answered_by) : deadline(answered_by) {}  // NOLINT(google-explicit-constructor): mostly there is no other

  TimePoint deadline;                     // of the final answer's head
  TimePoint begin_by = kNever;            // of the first byte: until then it waits for a connection
  SendGate* gate = nullptr;               // null: it may wait and begin
  Duration answer_max = Duration::max();  // from the first byte to the final answer's head; it needs a gate
  Duration write_max = Duration::max();   // from the first byte to the last; then the connection is given up

  bool begin(TimePoint now) const { return gate == nullptr || gate->begin(now); }
  // The deadline, as far as it is known by now.
  TimePoint answered_by() const;
};

class Upstream {
 public:
  virtual ~Upstream() = default;

  // Sends the request to request.head.host and waits for the head of the final answer.
  // Errors say in `sent` whether any byte of the request may have arrived; Cancelled: its gate has said no.
  virtual Task<Result<UpstreamAnswer>> send(const arm::Request& request, SendLimits limits) = 0;
};

// An answer came, and broke the rules of HTTP or a limit: another sending would get the same.
inline bool is_unreadable(const Error& error) {
  return error.sent == Sent::Maybe && (error.kind == ErrorKind::BadInput || error.kind == ErrorKind::TooLarge);
}
Error may_not_begin();
Error given_up();  // nobody awaits it: Cancelled with Sent::Maybe

struct WholeLimits {
  size_t bytes = 0;
  TimePoint until{};
};

// Reads a whole body. TooLarge beyond that many bytes; TimedOut if more of it comes later; the body's own error if it was cut.
// All with Sent::Answered. The limit in time is for who drips: each piece has one of its own, and somebody may hold a lock
// until the last.
Task<Result<std::string>> read_whole(BodySource& body, Clock& clock, WholeLimits limits);

}  // namespace armgate
