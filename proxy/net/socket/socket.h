// socket.h – a non-blocking socket: try first, wait for readiness only when there is nothing to do.
//
// Threads   one event loop.
// Cancel    close() wakes waits; destroy only when none is running.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "base/result.h"
#include "proxy/async/task.h"
#include "proxy/net/socket/deadline_timer.h"
#include "proxy/net/socket/poller.h"

namespace armgate::net {

// The other side, which errors are about.
struct Peer {
  ErrorSource source = ErrorSource::Client;
  std::string name;  // for messages: a host or an address
};

enum class Readiness { Readable, Writable };

// What can wait at the same time; each wait has its own deadline and can be cancelled alone. A TLS read may have to wait for
// writability.
enum class Waiting { Reader, Writer };

class Socket final : private Polled {
 public:
  // Owns `fd` and makes it non-blocking.
  Socket(Clock& clock, const Executor& executor, int fd, Peer peer);
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  // May return although nothing is there: readiness is only news since the last wait for it.
  Task<Result<void>> wait(Waiting who, Readiness what, TimePoint deadline);
  void cancel(Waiting who);

  // Asked before each read or write: true once so many of them found something to do at once that others have to run first,
  // however fast the peer is. Then let_others_run(), which can be cancelled as a wait can.
  bool others_are_due() { return ++steps_at_once_ > kStepsAtOnce; }
  Task<Result<void>> let_others_run(Waiting who);

  // See Poller.
  bool others_come_first() const { return poller_.others_come_first(); }
  Task<void> let_others_come_first() { return poller_.let_others_come_first(); }

  // Calls `readable` once, when something may be there to read, without anybody waiting for it. False if something may be
  // there now: then it is not called. A null function takes the request back.
  bool tell_readable(std::function<void()> readable);

  void shutdown_write();
  void close();

  bool is_open() const { return fd_ >= 0; }
  int fd() { return fd_; }
  size_t unacknowledged() const;  // without the end of our direction, which has a sequence number as well
  bool is_broken() const;
  bool has_input() const;  // bytes, the end, or an error; takes none of them
  void acknowledge_now();
  // From now on the connection breaks when bytes were not acknowledged for so long, and what has not left is taken back at
  // close(), or when the process dies: nothing arrives that nobody waits for any more.
  void take_back_unacknowledged(Duration after);
  const Peer& peer() const { return peer_; }

  // The errno of a failed call, as the kind of error it is to the caller.
  Error error_of(int number) const;
  Error cancelled() const;

 private:
  // With 16 KiB each, about a quarter of a millisecond of TLS.
  static constexpr uint32_t kStepsAtOnce = 16;

  enum class Wake { Ready, TimedOut, Cancelled };

  struct Side {
    Side(Clock& clock, const Executor& executor, std::function<void()> expired)
        : deadline(clock, executor, std::move(expired)) {}
    Readiness what = Readiness::Readable;
    Parked parked;
    Wake wake = Wake::Ready;
    bool lets_others_run = false;
    DeadlineTimer deadline;
  };

  void became_ready(uint32_t events) override;
  void abandon() override;
  void set_linger(bool resets);
  bool has_news(Readiness what) const;
  bool take_ready(Readiness what);
  Parked unpark(Side& side, Wake wake);  // nobody if nobody waits
  std::function<void()> take_readable();
  void wake_later(Waiting who, Wake wake);

  const Executor executor_;
  Poller& poller_;
  int fd_;
  const Peer peer_;
  uint32_t events_ = 0;  // that the poller tells
  bool ended_ = false;   // by the peer or by an error: it stays readable
  bool has_ended_writing_ = false;
  bool takes_back_ = false;
  uint32_t steps_at_once_ = 0;   // since somebody waited here
  std::array<bool, 2> ready_{};  // news of each kind since the last wait for it
  std::array<Side, 2> sides_;
  std::function<void()> readable_;
};

}  // namespace armgate::net
