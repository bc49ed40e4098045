#include "certs/ssl_handles.h"

#include <fmt/format.h>
#include <openssl/err.h>

namespace armgate::certs {

KeyHandle share(const KeyHandle& key) {
  EVP_PKEY_up_ref(key.get());
  return KeyHandle(key.get());
}

CertificateHandle share(const CertificateHandle& certificate) {
  X509_up_ref(certificate.get());
  return CertificateHandle(certificate.get());
}

std::string take_openssl_errors() {
  std::string reasons;
  while (const unsigned long code = ERR_get_error()) {
    const char* reason = ERR_reason_error_string(code);
    if (!reasons.empty()) reasons += "; ";
    reasons += reason != nullptr ? std::string(reason) : fmt::format("error {:#x}", code);
  }
  return reasons.empty() ? "no reason given" : reasons;
}

Error openssl_failure(std::string_view attempted) {
  return gateway_error(ErrorKind::Internal, fmt::format("{} failed: {}", attempted, take_openssl_errors()));
}

}  // namespace armgate::certs
