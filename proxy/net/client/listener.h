// listener.h – accepts TCP connections on one address.
//
// Each event loop has a listener of its own on the same port (SO_REUSEPORT); the kernel spreads connections over them. That
// option lets another process of the same user in as well, whose locks and versions know nothing of ours, so the first listener
// of a port takes it without: the kernel gives it to nobody who has it already on any of the same addresses, nor to two that
// start at the same instant. Then it shares it with those that join; only this user's can.
// Threads   one event loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "proxy/net/socket/net_event.h"
#include "proxy/net/socket/socket.h"

namespace armgate::net {

struct AcceptedSocket {
  int fd = -1;       // non-blocking; the taker owns it
  std::string peer;  // the address without its port
};

enum class PortUse {
  First,  // nobody listens there yet
  Join,   // this process does
};

class Listener {
 public:
  // `port` 0: any free one. BadInput if the address is none, or is in use by another service.
  static Result<std::unique_ptr<Listener>> open(Clock& clock, const Executor& executor, const std::string& address,
                                                uint16_t port, PortUse use = PortUse::First);

  uint16_t port() const { return port_; }

  // Hands every connection to `take` until stop().
  Task<void> run(std::function<void(AcceptedSocket)> take, NetEventSink events);
  void stop() { socket_->close(); }

 private:
  Listener(Clock& clock, std::unique_ptr<Socket> socket, uint16_t port)
      : clock_(clock), socket_(std::move(socket)), port_(port) {}

  Clock& clock_;
  const std::unique_ptr<Socket> socket_;
  const uint16_t port_;
};

}  // namespace armgate::net
