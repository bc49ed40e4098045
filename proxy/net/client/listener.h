// listener.h – accepts TCP connections on one address.
//
// Each event loop has a listener of its own on the same port (SO_REUSEPORT); the kernel spreads connections over them. That
// option lets another process of the same user in as well, whose locks and versions know nothing of ours, so the first
// listener of a port makes sure that it is alone: also of two that start at the same instant.
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
  void stop() {
    socket_->close();
    claim_.reset();
  }

 private:
  // A name that only one process of the machine (of its network namespace, as the port) can have, and that ends with it.
  class Claim {
   public:
    static Result<Claim> of_port(const std::string& address, uint16_t port);  // errno is set if another has it
    Claim() = default;
    Claim(Claim&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Claim& operator=(Claim&&) = delete;
    ~Claim() { reset(); }
    void reset();

   private:
    int fd_ = -1;
  };

  Listener(Clock& clock, std::unique_ptr<Socket> socket, uint16_t port, Claim claim)
      : clock_(clock), socket_(std::move(socket)), claim_(std::move(claim)), port_(port) {}

  Clock& clock_;
  const std::unique_ptr<Socket> socket_;
  Claim claim_;  // of the first listener of its port
  const uint16_t port_;
};

}  // namespace armgate::net
