#include "proxy/net/client/listener.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "proxy/async/spawn.h"
#include "proxy/net/socket/log_throttle.h"
#include "proxy/net/upstream/address_policy.h"
#include "proxy/net/upstream/connector.h"

namespace armgate::net {
namespace {

namespace ip = boost::asio::ip;

// Out of descriptors or memory: the kernel keeps the connection waiting, so trying again at once would spin.
constexpr auto kPauseAfterFailure = std::chrono::milliseconds(100);
constexpr uint32_t kAcceptedAtOnce = 64;                       // until others run: while more wait, accepting waits for nothing
constexpr auto kBetweenComplaints = std::chrono::seconds(10);  // ten lines a second would fill the log

bool is_about_one_connection(int number) {
  return number == ECONNABORTED || number == EINTR || number == EPROTO || number == EPERM || number == ENETDOWN ||
         number == EHOSTUNREACH || number == ENETUNREACH;
}

std::string address_text(ip::tcp::endpoint& endpoint) { return endpoint.address().to_string(); }

}  // namespace

Result<std::unique_ptr<Listener>> Listener::open(Clock& clock, const Executor& executor, const std::string& address,
                                                 uint16_t port, PortUse use) {
  const auto bad = [&] {
    // Only what is forbidden stays so: others end, and an address comes with its interface.
    const auto kind = errno == EACCES || errno == EPERM ? ErrorKind::BadInput : ErrorKind::Internal;
    return gateway_error(kind, fmt::format("cannot listen on {} port {}: {}{}", address, port, std::strerror(errno),
                                           errno == EADDRINUSE ? "; another armgate may run there" : ""));
  };
  const auto parsed = address_of(address);
  if (!parsed) return gateway_error(ErrorKind::BadInput, fmt::format("\"{}\" is no address to listen on", address));
  ip::tcp::endpoint endpoint(*parsed, port);
  const int fd = ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return bad();
  auto socket = std::make_unique<Socket>(clock, executor, fd, Peer{ErrorSource::Gateway, "the listener"});
  const int on = 1;
  const auto share_port = [&] { return ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0; };
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);  // the last owner's connections may still be in TIME_WAIT
  if (use == PortUse::Join && !share_port()) return bad();
  if (::bind(fd, endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) return bad();
  if (::listen(fd, SOMAXCONN) != 0) return bad();
  // The first owner shares the port only after listen() has succeeded. The kernel looks for other owners of the port at bind()
  // and again at listen(), and admits a socket only if all of them share (inet_csk_get_port()). If two call listen() in the
  // same instant, it may refuse both.
  if (use == PortUse::First && !share_port()) return bad();
  socklen_t size = static_cast<socklen_t>(endpoint.capacity());
  if (::getsockname(fd, endpoint.data(), &size) != 0) return bad();
  return std::unique_ptr<Listener>(new Listener(clock, std::move(socket), endpoint.port()));
}

Task<void> Listener::run(std::function<void(AcceptedSocket)> take, NetEventSink events) {
  LogThrottle complaints(kBetweenComplaints);
  uint32_t accepted = 0;
  while (socket_->is_open()) {
    ip::tcp::endpoint peer;
    socklen_t size = static_cast<socklen_t>(peer.capacity());
    const int fd = ::accept4(socket_->fd(), peer.data(), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      peer.resize(size);
      tune_tcp(fd);
      take({fd, address_text(peer)});
      if (++accepted % kAcceptedAtOnce == 0) co_await let_others_run();
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (const auto ready = co_await socket_->wait(Waiting::Reader, Readiness::Readable, kNever); !ready) co_return;
    } else if (!is_about_one_connection(errno)) {
      const std::string why = std::strerror(errno);
      if (const uint64_t times = complaints.count(clock_.now()); times > 0) {
        const std::string text = times == 1 ? why : fmt::format("{} ({} times since this was last told)", why, times);
        emit(events, {.kind = NetEventKind::AcceptFailed, .text = text});
      }
      co_await clock_.sleep_for(kPauseAfterFailure);
    }
  }
}

}  // namespace armgate::net
