// intercept.h – answers TLS in the name of an intercepted host, with a certificate minted for it.
//
// The name decides: SNI must be the host that CONNECT named, if the client sends it at all; on the direct TLS port it
// is required and must be an intercepted host. Anything else gets the alert unrecognized_name (RFC 6066 §3) and mints
// nothing, so that a scanner cannot fill the cache.
// Threads   one per event loop; the certificate cache is shared.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "certs/cert_cache.h"
#include "proxy/net/socket/tls_stream.h"

namespace armgate::net {

struct InterceptOptions {
  std::vector<std::string> hosts;  // patterns, see matches_host()
  Duration handshake_max = std::chrono::seconds(10);
};

class Interceptor {
 public:
  static Result<std::unique_ptr<Interceptor>> make(certs::CertCache& cache, Clock& clock, InterceptOptions options);

  struct Intercepted {
    std::unique_ptr<TlsStream> stream;
    std::string host;
  };

  // After CONNECT to `host`. `early`: what the client sent behind its CONNECT.
  Task<Result<Intercepted>> accept(std::unique_ptr<Socket> socket, std::string host, std::string early);

  // On the direct TLS port. Cancelled: the client left without a word, or was cut here; nothing has failed.
  Task<Result<Intercepted>> accept_direct(std::unique_ptr<Socket> socket);

 private:
  Interceptor(certs::CertCache& cache, Clock& clock, InterceptOptions options, certs::ContextHandle front)
      : cache_(cache), clock_(clock), options_(std::move(options)), front_(std::move(front)) {}

  Task<Result<Intercepted>> handshake(std::unique_ptr<Socket> socket, std::string wanted, std::string early);
  int choose_certificate(SSL* ssl, int* alert, const std::string& wanted, std::string& host, std::string& why_refused);

  certs::CertCache& cache_;
  Clock& clock_;
  const InterceptOptions options_;
  const certs::ContextHandle front_;  // has no certificate; the name check switches to the host's context
};

}  // namespace armgate::net
