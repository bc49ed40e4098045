// tls_ends.h – the two ends of a TLS connection, each a stream of armgate's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "certs/tls_context.h"
#include "proxy/net/socket/tls_stream.h"
#include "tests/proxy/net/net_test_support.h"

namespace armgate::net {

inline Task<void> store_handshake(TlsStream& stream, TimePoint deadline, std::optional<Result<void>>& into) {
  into.emplace(co_await stream.handshake(deadline));
}

struct TlsEnds {
  static constexpr const char* kHost = "arm.example.test";

  TestAuthority authority;
  std::shared_ptr<SSL_CTX> server_context = *authority.cache().context_for(kHost, TestAuthority::now());
  certs::ContextHandle client_context = *certs::make_client_context(authority.root_file());
  std::unique_ptr<TlsStream> server, client;

  void make_server(std::unique_ptr<Socket> socket, std::string early = {}) {
    server = *TlsStream::make(std::move(socket), server_context.get(), std::move(early));
    SSL_set_accept_state(server->ssl());
  }
  void make_client(std::unique_ptr<Socket> socket) {
    client = *TlsStream::make(std::move(socket), client_context.get());
    SSL_set_connect_state(client->ssl());
    SSL_set1_host(client->ssl(), kHost);
  }
  // Runs both handshakes; whether both succeeded.
  static Task<bool> shake_hands(TlsStream& one, TlsStream& other) {
    const Executor executor = co_await current_executor();
    std::optional<Result<void>> of_one;
    Waiter done(executor);
    spawn(executor, shake_and_signal(one, of_one, done));
    const auto of_other = co_await other.handshake(kNever);
    co_await done.wait();
    co_return of_one->ok() && of_other.ok();
  }

 private:
  static Task<void> shake_and_signal(TlsStream& stream, std::optional<Result<void>>& into, Waiter& done) {
    co_await store_handshake(stream, kNever, into);
    done.signal(1);
  }
};

}  // namespace armgate::net
