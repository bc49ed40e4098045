#include "proxy/net/socket/poller.h"

#include <array>
#include <cerrno>

#include "base/check.h"
#include "proxy/seams/real_clock.h"

namespace armgate::net {
namespace {

constexpr size_t kEventsAtOnce = 64;

int make_epoll() {
  const int fd = ::epoll_create1(EPOLL_CLOEXEC);
  GATE_CHECK(fd >= 0, "an event loop needs one descriptor");
  return fd;
}

}  // namespace

boost::asio::execution_context::id Poller::id;

Poller& Poller::of(const Executor& executor) {
  return boost::asio::use_service<Poller>(boost::asio::query(executor, boost::asio::execution::context));
}

Poller::Poller(boost::asio::execution_context& context)
    : boost::asio::execution_context::service(context), epoll_(static_cast<boost::asio::io_context&>(context), make_epoll()) {}

bool Poller::watch_for(int fd, Polled& polled, uint32_t events) {
  epoll_event wanted{};
  wanted.events = events | EPOLLET;
  wanted.data.ptr = &polled;
  const bool known = polled.is_linked();
  if (::epoll_ctl(epoll_.native_handle(), known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &wanted) != 0) return false;
  if (!known) registered_.push_back(polled);
  return true;
}

void Poller::forget(int fd, Polled& polled) {
  if (!polled.is_linked()) return;
  polled.unlink();
  // Closing alone does not do while a child of this process still has the descriptor.
  ::epoll_ctl(epoll_.native_handle(), EPOLL_CTL_DEL, fd, nullptr);
  for (epoll_event& event : events_) {
    if (event.data.ptr == &polled) event.data.ptr = nullptr;
  }
}

void Poller::begin_wait() {
  ++waits_;
  if (!armed_ && !passing_on_) arm();
}

void Poller::end_wait() {
  --waits_;
  if (waits_ == 0 && armed_) epoll_.cancel();
}

void Poller::arm() {
  armed_ = true;
  epoll_.async_wait(boost::asio::posix::descriptor_base::wait_read, [this](const boost::system::error_code& failure) {
    armed_ = false;
    if (!failure) pass_on();
    if (waits_ > 0 && !armed_) arm();
  });
}

void Poller::pass_on() {
  std::array<epoll_event, kEventsAtOnce> events;
  const int count = ::epoll_wait(epoll_.native_handle(), events.data(), static_cast<int>(events.size()), 0);
  if (count <= 0) return;
  const RealClock::LoopIteration iteration;
  passing_on_ = true;
  events_ = std::span(events).first(static_cast<size_t>(count));
  for (size_t i = 0; i < events_.size(); ++i) {
    more_to_come_ = i + 1 < events_.size();
    auto* const polled = static_cast<Polled*>(events_[i].data.ptr);
    events_[i].data.ptr = nullptr;
    if (polled != nullptr) polled->became_ready(events_[i].events);
  }
  events_ = {};
  let_write();
  passing_on_ = false;
}

Task<void> Poller::let_others_come_first() {
  if (!others_come_first()) co_return;
  co_await park([this](Parked parked) { writers_.push_back(std::move(parked)); });
}

// None joins them meanwhile: nothing more is to come.
void Poller::let_write() {
  for (Parked& writer : writers_) writer();
  writers_.clear();
}

void Poller::shutdown() {
  while (!registered_.empty()) {
    Polled& next = registered_.front();
    registered_.pop_front();
    next.abandon();
  }
  boost::system::error_code ignored;
  epoll_.close(ignored);
  armed_ = false;  // what is destroyed later may end its wait, and there is nothing to cancel any more
}

}  // namespace armgate::net
