#include "proxy/net/client/intercept.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "certs/tls_context.h"
#include "proxy/net/upstream/host_pattern.h"

namespace armgate::net {
namespace {

constexpr size_t kShownMax = 253;  // of what the client sent: the longest name of a host

int check_name(SSL* ssl, int* alert, void*) { return TlsStream::of(ssl).name_check()(ssl, alert); }

std::string shown(std::string_view text) { return printable(text.substr(0, kShownMax)); }

// The protocols that the client offers (ALPN, RFC 7301 §3.1); empty: none, or not well-formed. Only before
// OpenSSL reads the hello.
std::string offered_protocols(SSL* ssl) {
  const unsigned char* bytes = nullptr;
  size_t count = 0;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation, &bytes, &count) != 1) return {};
  std::string_view list(reinterpret_cast<const char*>(bytes), count);
  list.remove_prefix(std::min<size_t>(list.size(), 2));  // its length
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const auto length = static_cast<uint8_t>(list.front());
    list.remove_prefix(1);
    if (length > list.size()) return {};
    names.push_back(list.substr(0, length));
    list.remove_prefix(length);
  }
  return shown(fmt::format("{}", fmt::join(names, ", ")));
}

// Where a connection's offered protocols go during its handshake, for the case that none is ours: nothing tells them later.
int place_of_offer() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

int note_offer(SSL* ssl, int*, void*) {
  if (void* place = SSL_get_ex_data(ssl, place_of_offer())) *static_cast<std::string*>(place) = offered_protocols(ssl);
  return SSL_CLIENT_HELLO_SUCCESS;
}

// What to do about a handshake that failed. A client that hung up or sent an alert almost always does not trust our root.
Error explain(Error error, const std::string& host, const std::string& why_refused, const std::string& offered) {
  if (contains_ignoring_case(error.context, "no application protocol")) {
    error.context += fmt::format("; the client offers {} only (ALPN), and armgate speaks http/1.1 and http/1.0",
                                 offered.empty() ? "another one" : offered);
    return error;
  }
  if (!why_refused.empty()) {
    // OpenSSL's own word says nothing.
    error.context = error.context.substr(0, error.context.find("callback failed")) + why_refused;
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
  SSL_CTX_set_client_hello_cb(front->get(), note_offer, nullptr);
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
  std::string why_refused;
  std::string offered;
  SSL_set_ex_data(result.stream->ssl(), place_of_offer(), &offered);
  result.stream->set_name_check(
      [&](SSL* ssl, int* alert) { return choose_certificate(ssl, alert, wanted, host, why_refused); });
  const auto done = co_await result.stream->handshake(clock_.now() + options_.handshake_max);
  SSL_set_ex_data(result.stream->ssl(), place_of_offer(), nullptr);
  // OpenSSL asks for the name only within the handshake (renegotiation is off).
  result.stream->set_name_check([](SSL*, int*) { return SSL_TLSEXT_ERR_ALERT_FATAL; });
  if (!done) {
    const bool has_left = done.error().kind == ErrorKind::Closed || done.error().kind == ErrorKind::Reset;
    const bool said_nothing = BIO_number_read(SSL_get_rbio(result.stream->ssl())) == 0;
    if (wanted.empty() && has_left && said_nothing) {
      co_return client_error(ErrorKind::Cancelled, "the client left without a word, as health probes do");
    }
    co_return explain(done.error(), wanted, why_refused, offered);
  }
  co_return result;
}

// `wanted`: the host of CONNECT; empty on the direct port. `host` is set to the name that was chosen, or `why_refused`.
int Interceptor::choose_certificate(SSL* ssl, int* alert, const std::string& wanted, std::string& host,
                                    std::string& why_refused) {
  const char* const sent = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  std::string name = sent != nullptr ? lower_text(sent) : wanted;
  if (name.ends_with('.')) name.pop_back();  // the root's, which RFC 6066 §3 leaves out and some clients do not
  *alert = SSL_AD_UNRECOGNIZED_NAME;
  if (name.empty()) {
    why_refused = "the client names no host in TLS (SNI); without CONNECT it must";
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  if (!wanted.empty() && name != wanted) {
    why_refused = fmt::format("the client asks TLS (SNI) for {}, but its CONNECT for {}; let it ask both for the same host",
                              shown(name), wanted);
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  if (!matches_host(name, options_.hosts)) {
    why_refused = fmt::format("the client asks for {}, which the option intercept does not name", shown(name));
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  const auto context = cache_.context_for(name, clock_.wall());
  if (!context) {
    why_refused = context.error().context;
    *alert = SSL_AD_INTERNAL_ERROR;
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  SSL_set_SSL_CTX(ssl, context->get());
  host = name;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace armgate::net
