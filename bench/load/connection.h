// connection.h – one HTTPS client connection that never blocks, through CONNECT or not, with one request at a time.
//
// Threads   one. The owner waits for events (edge-triggered, both directions) and calls advance() on each.
// Limits    answers' heads as in proxy/http/limits.h; bodies are counted, and kept only where the caller asks.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bench/load/options.h"
#include "certs/ssl_handles.h"
#include "proxy/http/body_decoder.h"

namespace armgate::load {

// What all connections to one target have in common.
struct Route {
  sockaddr_storage address{};
  socklen_t address_bytes = 0;
  std::string host;        // for TLS
  std::string authority;   // for Host and CONNECT
  std::string proxy_user;  // as in Target
  bool through_proxy = false;
  certs::ContextHandle tls;

  static Result<Route> make(const Target& target);
};

enum class KeepBody { Yes, No };

class Connection {
 public:
  enum class Progress { Working, Done, Failed };

  // `number` replaces "{c}" in the proxy's user name.
  Connection(const Route& route, size_t number) : route_(route), number_(number) {}
  ~Connection() { close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Opens a socket unless one is open. True: it is new, and must be added to the owner's epoll.
  Result<bool> ensure_open();
  int socket() const { return socket_; }

  // Begins a request; `request` is copied. Follow with advance().
  void begin(std::string_view request, arm::Method method, KeepBody keep);
  // Goes as far as it gets without waiting.
  Progress advance();
  void close();

  // After Done.
  int status() const { return status_; }
  bool can_continue() const { return keep_alive_; }
  uint64_t body_bytes() const { return body_bytes_; }
  const std::string& body() const { return body_; }
  // After Failed: why.
  const std::string& failure() const { return failure_; }

 private:
  enum class State { Closed, Connecting, ProxyWriting, ProxyReading, Handshaking, Ready };
  enum class Io { Ok, Wait, Failed };

  Io connect_step();
  Io proxy_step();
  Io handshake_step();
  Io write_step();
  Io read_step();
  Io take_head(size_t seen);
  Io take_body(std::string_view bytes);
  Io fail(std::string why);
  Io tls_outcome(int result, std::string_view attempted);
  std::string proxy_request() const;

  const Route& route_;
  const size_t number_;
  int socket_ = -1;
  State state_ = State::Closed;
  certs::SslHandle tls_;
  std::string out_;  // the request, or the CONNECT before it
  size_t written_ = 0;
  std::string request_;  // waits here until the tunnel and TLS stand
  arm::Method method_ = arm::Method::Get;
  KeepBody keep_ = KeepBody::No;

  std::string head_;
  std::optional<http::BodyDecoder> decoder_;
  bool answered_ = false;
  int status_ = 0;
  bool keep_alive_ = true;
  uint64_t body_bytes_ = 0;
  std::string body_;
  std::string failure_;
};

}  // namespace armgate::load
