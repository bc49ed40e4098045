// test_origin.h – a small HTTPS server that plays a script.
#pragma once

#include <deque>
#include <string>
#include <tuple>
#include <vector>

#include "proxy/net/client/intercept.h"
#include "proxy/net/client/listener.h"
#include "tests/proxy/net/net_test_support.h"

namespace armgate::net {

// What the origin does with one request.
struct Play {
  std::string answer;
  enum class Then { Keep, CloseNotify, BareFin, Reset } then = Then::Keep;
  enum class When { RequestIsWhole, HeadIsWhole } when = When::RequestIsWhole;
};

class TestOrigin {
 public:
  TestOrigin(Clock& clock, const Executor& executor, certs::CertCache& cache)
      : clock_(clock),
        executor_(executor),
        interceptor_(*Interceptor::make(cache, clock, {{"*.example.test"}, std::chrono::seconds(10)})),
        listener_(*Listener::open(clock, executor, "127.0.0.1", 0)) {
    spawn(executor, listener_->run([this](AcceptedSocket accepted) { spawn(executor_, serve(accepted.fd)); }, {}));
  }

  uint16_t port() const { return listener_->port(); }
  void stop() {
    listener_->stop();
    close_all();
  }
  void close_all() {
    for (const auto& stream : streams_) stream->close();
  }
  void send_all(const std::string& text) {
    for (const auto& stream : streams_) spawn(executor_, send(*stream, text));
  }
  // Ends the TCP connections under TLS without close_notify, as a load balancer does with idle ones.
  void reset_all() {
    for (const auto& stream : streams_) {
      reset_when_closed(SSL_get_fd_of(*stream));
      stream->close();
    }
  }

  std::deque<Play> plays;             // one for each request; without one the request stays unanswered
  std::vector<std::string> requests;  // as received
  int connections = 0;                // TLS handshakes that succeeded
  int resumed = 0;
  int refused = 0;  // handshakes that failed

 private:
  static int SSL_get_fd_of(TlsStream& stream) {
    return static_cast<SocketBioState*>(BIO_get_data(SSL_get_rbio(stream.ssl())))->fd;
  }

  static Task<void> send(TlsStream& stream, std::string text) { std::ignore = co_await stream.write_all(text, kNever); }
  Task<void> serve(int fd) {
    auto socket = std::make_unique<Socket>(clock_, executor_, fd, Peer{ErrorSource::Client, "the client"});
    auto accepted = co_await interceptor_->accept_direct(std::move(socket));
    if (!accepted) {
      ++refused;
      co_return;
    }
    ++connections;
    resumed += SSL_session_reused(accepted->stream->ssl());
    streams_.push_back(std::move(accepted->stream));
    TlsStream& stream = *streams_.back();
    std::string text;
    while (true) {
      char piece[4096];
      const auto got = co_await stream.read_some(piece, kNever);
      if (!got || *got == 0) co_return;
      text.append(piece, *got);
      const bool early = !plays.empty() && plays.front().when == Play::When::HeadIsWhole;
      if (early ? text.find("\r\n\r\n") == std::string::npos : !is_whole(text)) continue;
      requests.push_back(std::exchange(text, {}));
      if (plays.empty()) continue;
      const Play play = plays.front();
      plays.pop_front();
      std::ignore = co_await stream.write_all(play.answer, kNever);
      if (play.then == Play::Then::CloseNotify) co_await stream.shutdown(kNever);
      if (play.then == Play::Then::BareFin) ::shutdown(SSL_get_fd_of(stream), SHUT_WR);
      if (play.then == Play::Then::Reset) reset_all();
    }
  }
  static bool is_whole(const std::string& text) {
    const size_t end = text.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    const size_t length = text.find("Content-Length: ");
    const size_t content = length == std::string::npos ? 0 : std::stoul(text.substr(length + 16));
    return text.size() >= end + 4 + content;
  }

  Clock& clock_;
  const Executor executor_;
  std::unique_ptr<Interceptor> interceptor_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<TlsStream>> streams_;
};

}  // namespace armgate::net
