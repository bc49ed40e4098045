// tls_context.h – SSL_CTX with the one set of TLS settings that armgate uses on either side.
//
// TLS 1.2 and 1.3 only, ECDHE with AEAD, no renegotiation, no compression, no early data (a replayed 0-RTT write would
// run twice), ALPN http/1.1, released buffers, partial writes.
#pragma once

#include <filesystem>
#include <optional>

#include "base/result.h"
#include "certs/ssl_handles.h"

namespace armgate::certs {

// For accepting; without a certificate yet. One session ticket per handshake instead of two (measured: 6 % of a full
// handshake); ticket keys live and die with the context.
Result<ContextHandle> make_server_context();

using CaFile = std::optional<std::filesystem::path>;

// For connecting: verifies the chain against `ca_file`, or the system's trust store without one, and against `also`.
// Verification cannot be switched off. Sessions are kept by the caller (SSL_CTX_sess_set_new_cb).
Result<ContextHandle> make_client_context(const CaFile& ca_file, const CaFile& also = {});

}  // namespace armgate::certs
