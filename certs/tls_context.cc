#include "certs/tls_context.h"

#include <fmt/format.h>

#include <string_view>

#include "certs/secret_file.h"

namespace armgate::certs {
namespace {

// AES-128 first, as for 1.2: no weaker than the P-256 keys beside it, and cheaper for large contents (bench/README.md).
constexpr const char* kCiphers13 = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr const char* kCiphers12 =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:"
    "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-CHACHA20-POLY1305";

// Length-prefixed, as ALPN wants it (RFC 7301 §3.1).
constexpr std::string_view kProtocols = "\x08http/1.1";
constexpr std::string_view kServedProtocols = "\x08http/1.1\x08http/1.0";  // `curl --http1.0` offers the latter alone

int select_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes, const unsigned char* offered,
                    unsigned int offered_bytes, void*) {
  unsigned char* match = nullptr;
  const int found = SSL_select_next_proto(&match, chosen_bytes, reinterpret_cast<const unsigned char*>(kServedProtocols.data()),
                                          static_cast<unsigned int>(kServedProtocols.size()), offered, offered_bytes);
  if (found != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;  // RFC 7301 §3.2: no_application_protocol
  *chosen = match;
  return SSL_TLSEXT_ERR_OK;
}

bool apply_common_settings(SSL_CTX* context) {
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);  // see record_pool.h
  SSL_CTX_set_read_ahead(context, 1);                   // a record's head and content in one system call
  SSL_CTX_set_max_early_data(context, 0);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 && SSL_CTX_set_ciphersuites(context, kCiphers13) == 1 &&
         SSL_CTX_set_cipher_list(context, kCiphers12) == 1;
}

// The certificates in the file count besides those that the context trusts already.
Result<void> trust(SSL_CTX* context, const std::filesystem::path& ca_file) {
  if (SSL_CTX_load_verify_file(context, ca_file.c_str()) == 1) return {};
  take_openssl_errors();  // they do not say which of the two it is
  if (const auto text = read_file(ca_file); !text) return text.error();
  return gateway_error(ErrorKind::BadInput, fmt::format("{} holds no PEM certificate", ca_file.string()));
}

}  // namespace

Result<ContextHandle> make_server_context() {
  ContextHandle context(SSL_CTX_new(TLS_server_method()));
  if (!context || !apply_common_settings(context.get())) return openssl_failure("making a TLS server context");
  SSL_CTX_set_num_tickets(context.get(), 1);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);  // tickets hold the state, not this process
  SSL_CTX_set_alpn_select_cb(context.get(), select_protocol, nullptr);
  return context;
}

Result<ContextHandle> make_client_context(const CaFile& ca_file, const CaFile& also) {
  ContextHandle context(SSL_CTX_new(TLS_client_method()));
  if (!context || !apply_common_settings(context.get())) return openssl_failure("making a TLS client context");
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  if (SSL_CTX_set_alpn_protos(context.get(), reinterpret_cast<const unsigned char*>(kProtocols.data()),
                              static_cast<unsigned int>(kProtocols.size())) != 0) {
    return openssl_failure("setting ALPN");
  }
  if (!ca_file && SSL_CTX_set_default_verify_paths(context.get()) != 1) {
    return openssl_failure("loading the system's trust store");
  }
  for (const CaFile* file : {&ca_file, &also}) {
    if (!*file) continue;
    if (auto trusted = trust(context.get(), **file); !trusted) return std::move(trusted).error();
  }
  return context;
}

}  // namespace armgate::certs
