// poller.h – tells the sockets of one event loop when they become ready.
//
// Why not Asio's own waits: each arms its socket anew by a system call, and is an operation with a block of memory, a
// cancellation slot and two coroutine frames of its own. Here a socket is registered once, edge-triggered, and Asio waits
// only for "some socket is ready".
//
// Invariants
//   1. No edge is lost: what is reported while nobody waits for it is remembered by the socket until its next wait.
//   2. The event loop is kept running only while somebody waits.
// Threads   one event loop.
// Cancel    when the loop is destroyed, so is every coroutine that waits here.
#pragma once

#include <sys/epoll.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "proxy/async/task.h"

namespace armgate::net {

using PolledHook = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// What is told; in no list unless it is registered.
class Polled : public PolledHook {
 public:
  // The events of epoll(7) that happened. May destroy this and any other.
  virtual void became_ready(uint32_t events) = 0;
  // The loop is being destroyed. May destroy this and any other.
  virtual void abandon() = 0;

 protected:
  ~Polled() = default;
};

class Poller final : public boost::asio::execution_context::service {
 public:
  static boost::asio::execution_context::id id;
  static Poller& of(const Executor& executor);

  explicit Poller(boost::asio::execution_context& context);

  // It is told these events from now on, also if they are there already. False, with errno, if the system has no room for it.
  bool watch_for(int fd, Polled& polled, uint32_t events);
  // It is told nothing more.
  void forget(int fd, Polled& polled);

  // Somebody waits for a registered socket, or does not any more.
  void begin_wait();
  void end_wait();

  // A writer should wait until all events that the system reported at once are delivered. The wait is over before the event
  // loop does anything else.
  //
  // Why: a write wakes the process that reads, which costs more than the write, and with one message at a time it sleeps again
  // before the next. Of writes behind each other only the first wakes it.
  bool others_come_first() const { return more_to_come_; }
  Task<void> let_others_come_first();

 private:
  using Registered = boost::intrusive::list<Polled, boost::intrusive::constant_time_size<false>>;

  void shutdown() override;
  void arm();
  void pass_on();
  void let_write();

  boost::asio::posix::stream_descriptor epoll_;
  Registered registered_;
  std::span<epoll_event> events_;  // that are being passed on
  size_t waits_ = 0;
  bool armed_ = false;
  bool passing_on_ = false;
  bool more_to_come_ = false;    // of what is being passed on
  std::vector<Parked> writers_;  // that let others come first; none while nothing is passed on
};

}  // namespace armgate::net
