// certificate.h – builds one X.509 certificate that strict verifiers accept (RFC 5280; Python 3.13's default is
// strict).
//
// Threads   any; no state.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "certs/ssl_handles.h"

namespace armgate::certs {

// Clocks differ: what begins now begins this much earlier.
inline constexpr auto kClockSkew = std::chrono::hours(1);

struct Validity {
  WallTime from;
  WallTime until;
};

struct CertificateRequest {
  std::string common_name;  // at most 64 bytes (RFC 5280 appendix A, ub-common-name)
  Validity validity;
  std::vector<std::pair<int, std::string>> extensions;  // NID and value in OpenSSL's configuration syntax
};

struct Issuer {
  X509* certificate = nullptr;  // nullptr: self-signed
  EVP_PKEY* key = nullptr;
};

Result<KeyHandle> make_key();  // EC P-256

// Signs a certificate for `subject_key`: version 3, a random 20-byte serial, SKI, AKI (unless self-signed) and the
// extensions asked for. Extension values must come from validated text only.
Result<CertificateHandle> make_certificate(const CertificateRequest& request, EVP_PKEY* subject_key, Issuer issuer);

// A host name as it may stand in a certificate: lower-case letters, digits, hyphens and dots, labels of 1 to 63 bytes,
// 253 bytes in all (RFC 1123 §2.1). No addresses.
bool is_host_name(std::string_view host);

WallTime not_before(const X509* certificate);
WallTime not_after(const X509* certificate);

Result<std::string> to_pem(X509* certificate);
Result<std::string> to_pem(EVP_PKEY* key);
Result<CertificateHandle> certificate_from_pem(std::string_view pem);
Result<KeyHandle> key_from_pem(std::string_view pem);

}  // namespace armgate::certs
