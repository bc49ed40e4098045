#include "proxy/net/socket/socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "proxy/async/resume_later.h"
#include "proxy/async/spawn.h"

namespace armgate::net {

namespace asio = boost::asio;

Socket::Socket(Clock& clock, const Executor& executor, int fd, Peer peer)
    : executor_(executor),
      poller_(Poller::of(executor)),
      fd_(fd),
      peer_(std::move(peer)),
      sides_{Side(clock, executor, [this] { wake_later(Waiting::Reader, Wake::TimedOut); }),
             Side(clock, executor, [this] { wake_later(Waiting::Writer, Wake::TimedOut); })} {
  const int flags = ::fcntl(fd, F_GETFL);
  ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

Socket::~Socket() { close(); }

Task<Result<void>> Socket::wait(Waiting who, Readiness what, TimePoint deadline) {
  if (!is_open()) co_return cancelled();
  const uint32_t events = events_ | (what == Readiness::Readable ? EPOLLIN | EPOLLRDHUP : EPOLLOUT);
  if (events != events_ && !poller_.watch_for(fd_, *this, events)) co_return error_of(errno);
  events_ = events;
  if (take_ready(what)) co_return Result<void>{};
  Side& side = sides_[static_cast<size_t>(who)];
  GATE_CHECK(!side.parked, "two coroutines wait for one side of a socket");
  side.what = what;
  side.deadline.set(deadline);
  steps_at_once_ = 0;
  poller_.begin_wait();
  co_await park([&side](Parked parked) { side.parked = std::move(parked); });
  side.deadline.clear();
  if (side.wake == Wake::Ready && is_open()) co_return Result<void>{};
  if (side.wake == Wake::TimedOut) {
    co_return Error{ErrorKind::TimedOut, peer_.source, Sent::No, fmt::format("{} did not answer in time", peer_.name)};
  }
  co_return cancelled();
}

Task<Result<void>> Socket::let_others_run(Waiting who) {
  Side& side = sides_[static_cast<size_t>(who)];
  steps_at_once_ = 0;
  side.wake = Wake::Ready;
  side.lets_others_run = true;
  co_await armgate::let_others_run();
  side.lets_others_run = false;
  if (side.wake == Wake::Cancelled) co_return cancelled();
  co_return Result<void>{};
}

bool Socket::has_news(Readiness what) const {
  return ready_[static_cast<size_t>(what)] || (ended_ && what == Readiness::Readable);
}

bool Socket::take_ready(Readiness what) {
  const bool news = has_news(what);
  ready_[static_cast<size_t>(what)] = false;
  return news;
}

Parked Socket::unpark(Side& side, Wake wake) {
  if (!side.parked) return {};
  side.wake = wake;
  poller_.end_wait();
  return std::move(side.parked);
}

void Socket::wake_later(Waiting who, Wake wake) {
  if (Parked parked = unpark(sides_[static_cast<size_t>(who)], wake)) resume_later(executor_, std::move(parked));
}

void Socket::became_ready(uint32_t events) {
  constexpr uint32_t kBroken = EPOLLERR | EPOLLHUP;
  ended_ |= (events & (EPOLLRDHUP | kBroken)) != 0;
  ready_[static_cast<size_t>(Readiness::Readable)] |= (events & EPOLLIN) != 0 || ended_;
  ready_[static_cast<size_t>(Readiness::Writable)] |= (events & (EPOLLOUT | kBroken)) != 0;
  std::array<Parked, 2> woken;
  for (size_t i = 0; i < sides_.size(); ++i) {
    if (sides_[i].parked && has_news(sides_[i].what)) woken[i] = unpark(sides_[i], Wake::Ready);
  }
  // Only now: both may wait for the same kind, and it is told once.
  for (size_t i = 0; i < sides_.size(); ++i) {
    if (woken[i]) take_ready(sides_[i].what);
  }
  if (readable_ && ready_[static_cast<size_t>(Readiness::Readable)]) take_readable()();
  for (auto& parked : woken) {
    if (parked) parked();
  }
}

void Socket::abandon() {
  // Destroying a coroutine may destroy this.
  std::array<Parked, 2> abandoned;
  for (size_t i = 0; i < sides_.size(); ++i) abandoned[i] = unpark(sides_[i], Wake::Cancelled);
}

bool Socket::tell_readable(std::function<void()> readable) {
  take_readable();
  if (readable == nullptr) return true;
  const bool may_tell = (events_ & EPOLLIN) != 0 && !ended_ && !ready_[static_cast<size_t>(Readiness::Readable)];
  if (!may_tell) return false;
  readable_ = std::move(readable);
  poller_.begin_wait();
  return true;
}

std::function<void()> Socket::take_readable() {
  if (readable_) poller_.end_wait();
  return std::exchange(readable_, nullptr);
}

void Socket::cancel(Waiting who) {
  Side& side = sides_[static_cast<size_t>(who)];
  if (side.lets_others_run) side.wake = Wake::Cancelled;
  wake_later(who, Wake::Cancelled);
}

void Socket::shutdown_write() {
  if (is_open()) has_ended_writing_ = ::shutdown(fd_, SHUT_WR) == 0 || has_ended_writing_;
}

void Socket::close() {
  if (!is_open()) return;
  poller_.forget(fd_, *this);
  take_readable();
  if (takes_back_ && unacknowledged() == 0) set_linger(false);
  ::close(std::exchange(fd_, -1));
  cancel(Waiting::Reader);
  cancel(Waiting::Writer);
}

size_t Socket::unacknowledged() const {
  int bytes = 0;
  if (!is_open() || ::ioctl(fd_, SIOCOUTQ, &bytes) != 0) return 0;
  if (has_ended_writing_ && bytes > 0) --bytes;  // FIN
  return static_cast<size_t>(bytes);
}

// Not recv() with MSG_PEEK: it takes the error, and the next read finds an orderly end.
bool Socket::has_input() const {
  pollfd look{fd_, POLLIN, 0};
  return is_open() && ::poll(&look, 1, 0) > 0;
}

bool Socket::is_broken() const {
  pollfd look{fd_, 0, 0};  // errors are told unasked, and stay for the next read or write
  return is_open() && ::poll(&look, 1, 0) > 0 && (look.revents & POLLERR) != 0;
}

// Linux delays acknowledgements by 40 ms and more, hoping for data to send them with.
void Socket::acknowledge_now() {
  const int on = 1;
  if (is_open()) ::setsockopt(fd_, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

// RST in place of what the system would go on sending, minutes after the process has gone (socket(7), SO_LINGER).
void Socket::set_linger(bool resets) {
  const linger at_close{resets ? 1 : 0, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_close, sizeof at_close);
}

void Socket::take_back_unacknowledged(Duration after) {
  takes_back_ = is_open();
  if (!takes_back_) return;
  set_linger(true);
  const auto milliseconds = static_cast<unsigned>(std::chrono::duration_cast<std::chrono::milliseconds>(after).count());
  ::setsockopt(fd_, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
  // With it the system ends a quiet connection when the time is over, and not after TCP_KEEPCNT probes (tcp(7)): two of them
  // have to fit in, so that one may be lost.
  const int third = std::max(1, static_cast<int>(milliseconds / 3000));
  ::setsockopt(fd_, IPPROTO_TCP, TCP_KEEPIDLE, &third, sizeof third);
  ::setsockopt(fd_, IPPROTO_TCP, TCP_KEEPINTVL, &third, sizeof third);
}

Error Socket::error_of(int number) const {
  if (number == ECONNRESET || number == EPIPE || number == ETIMEDOUT || number == ENOTCONN || number == ECONNABORTED) {
    return {ErrorKind::Reset, peer_.source, Sent::No, fmt::format("{} broke the connection", peer_.name)};
  }
  return {ErrorKind::Reset, peer_.source, Sent::No,
          fmt::format("the connection to {} failed: {}", peer_.name, std::strerror(number))};
}

Error Socket::cancelled() const {
  return {ErrorKind::Cancelled, peer_.source, Sent::No, fmt::format("the connection to {} was closed here", peer_.name)};
}

}  // namespace armgate::net
