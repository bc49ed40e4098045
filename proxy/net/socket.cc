#include "proxy/net/socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <cerrno>
#include <cstring>

namespace armgate::net {

namespace asio = boost::asio;

Socket::Side::Side(Clock& clock, const Executor& executor)
    : deadline(clock, executor, [this] {
        timed_out = true;
        interrupt.emit(asio::cancellation_type::all);
      }) {}

Socket::Socket(Clock& clock, const Executor& executor, int fd, Peer peer)
    : descriptor_(executor, fd), peer_(std::move(peer)), sides_{Side(clock, executor), Side(clock, executor)} {
  const int flags = ::fcntl(fd, F_GETFL);
  ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

Task<Result<void>> Socket::wait(Waiting who, Readiness what, TimePoint deadline) {
  if (!descriptor_.is_open()) co_return cancelled();
  Side& side = sides_[static_cast<size_t>(who)];
  side.timed_out = false;
  side.deadline.set(deadline);
  const auto [failure] = co_await descriptor_.async_wait(
      what == Readiness::Readable ? asio::posix::descriptor_base::wait_read : asio::posix::descriptor_base::wait_write,
      asio::bind_cancellation_slot(side.interrupt.slot(), asio::as_tuple(asio::use_awaitable)));
  side.deadline.clear();
  if (!failure && descriptor_.is_open()) co_return Result<void>{};
  if (side.timed_out) {
    co_return Error{ErrorKind::TimedOut, peer_.source, Sent::No, fmt::format("{} did not answer in time", peer_.name)};
  }
  co_return cancelled();
}

void Socket::cancel(Waiting who) { sides_[static_cast<size_t>(who)].interrupt.emit(asio::cancellation_type::all); }

void Socket::shutdown_write() {
  if (descriptor_.is_open()) ::shutdown(descriptor_.native_handle(), SHUT_WR);
}

void Socket::close() {
  boost::system::error_code ignored;
  descriptor_.close(ignored);
}

size_t Socket::unacknowledged() {
  int bytes = 0;
  if (!descriptor_.is_open() || ::ioctl(descriptor_.native_handle(), SIOCOUTQ, &bytes) != 0) return 0;
  return static_cast<size_t>(bytes);
}

Error Socket::error_of(int number) const {
  if (number == ECONNRESET || number == EPIPE || number == ETIMEDOUT || number == ENOTCONN || number == ECONNABORTED) {
    return {ErrorKind::Reset, peer_.source, Sent::No, fmt::format("{} broke the connection", peer_.name)};
  }
  return {ErrorKind::Reset, peer_.source, Sent::No,
          fmt::format("the connection to {} failed: {}", peer_.name, std::strerror(number))};
}

Error Socket::cancelled() const {
  return {ErrorKind::Cancelled, peer_.source, Sent::No,
          fmt::format("the connection to {} was closed here", peer_.name)};
}

}  // namespace armgate::net
