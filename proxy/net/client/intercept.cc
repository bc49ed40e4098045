#include "proxy/net/client/intercept.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "certs/tls_context.h"
#include "proxy/net/upstream/host_pattern.h"

namespace armgate::net {
namespace {

int check_name(SSL* ssl, int* alert, void*) { return TlsStream::of(ssl).name_check()(ssl, alert); }

// What to do about a handshake that failed. A client that hung up or sent an alert almost always does not trust our root.
Error explain(Error error, const std::string& host) {
  if (contains_ignoring_case(error.context, "no application protocol")) {
    error.context += "; the client insists on HTTP/2, and armgate serves HTTP/1.1 only";
    return error;
  }
  if (contains_ignoring_case(error.context, "callback failed")) {
    error.context += "; the client asked for a host that the option intercept does not name, or for none";
    return error;
  }
  const bool distrust =
      contains_ignoring_case(error.context, "alert") || error.kind == ErrorKind::Closed || error.kind == ErrorKind::Reset;
  if (distrust) {
    error.context += fmt::format(
        "; if the client does not trust armgate's certificate for {}, let it trust the file that `armgate ca path` names "
        "(`armgate env` tells most tools)",
        host.empty() ? "the host" : host);
  }
  return error;
}

}  // namespace

Result<std::unique_ptr<Interceptor>> Interceptor::make(certs::CertCache& cache, Clock& clock, InterceptOptions options) {
  auto front = certs::make_server_context();
  if (!front) return std::move(front).error();
  SSL_CTX_set_tlsext_servername_callback(front->get(), check_name);
  return std::unique_ptr<Interceptor>(new Interceptor(cache, clock, std::move(options), *std::move(front)));
}

Task<Result<Interceptor::Intercepted>> Interceptor::accept(std::unique_ptr<Socket> socket, std::string host,
                                                           std::string early) {
  return handshake(std::move(socket), std::move(host), std::move(early));
}

Task<Result<Interceptor::Intercepted>> Interceptor::accept_direct(std::unique_ptr<Socket> socket) {
  return handshake(std::move(socket), {}, {});
}

Task<Result<Interceptor::Intercepted>> Interceptor::handshake(std::unique_ptr<Socket> socket, std::string wanted,
                                                              std::string early) {
  auto made = TlsStream::make(std::move(socket), front_.get(), std::move(early));
  if (!made) co_return std::move(made).error();
  Intercepted result{*std::move(made), {}};
  SSL_set_accept_state(result.stream->ssl());
  std::string& host = result.host;
  result.stream->set_name_check(
      [this, &wanted, &host](SSL* ssl, int* alert) { return choose_certificate(ssl, alert, wanted, host); });
  const auto done = co_await result.stream->handshake(clock_.now() + options_.handshake_max);
  // OpenSSL asks for the name only within the handshake (renegotiation is off).
  result.stream->set_name_check([](SSL*, int*) { return SSL_TLSEXT_ERR_ALERT_FATAL; });
  if (!done) co_return explain(done.error(), wanted);
  co_return result;
}

// `wanted`: the host of CONNECT; empty on the direct port. `host` is set to the name that was chosen.
int Interceptor::choose_certificate(SSL* ssl, int* alert, const std::string& wanted, std::string& host) {
  const char* const sent = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  std::string name = sent != nullptr ? lower_text(sent) : wanted;
  if (name.ends_with('.')) name.pop_back();  // the root's, which RFC 6066 §3 leaves out and some clients do not
  *alert = SSL_AD_UNRECOGNIZED_NAME;
  if (name.empty() || (!wanted.empty() && name != wanted)) return SSL_TLSEXT_ERR_ALERT_FATAL;
  if (!matches_host(name, options_.hosts)) return SSL_TLSEXT_ERR_ALERT_FATAL;
  const auto context = cache_.context_for(name, clock_.wall());
  if (!context) {
    *alert = SSL_AD_INTERNAL_ERROR;
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  SSL_set_SSL_CTX(ssl, context->get());
  host = name;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace armgate::net
