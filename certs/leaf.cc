#include "certs/leaf.h"

#include <fmt/format.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <utility>

#include "certs/certificate.h"

namespace armgate::certs {
namespace {

constexpr size_t kCommonNameBytesMax = 64;

}  // namespace

Result<LeafMinter> LeafMinter::make(Authority authority) {
  auto key = make_key();
  if (!key) return std::move(key).error();
  return LeafMinter(std::move(authority), *std::move(key));
}

Result<CertificateHandle> LeafMinter::mint(std::string_view host, WallTime now) const {
  if (!is_host_name(host)) {
    return gateway_error(ErrorKind::BadInput, fmt::format("\"{}\" is no host name a certificate can be made for", host));
  }
  if (!covers(authority_, host)) {
    return gateway_error(
        ErrorKind::BadInput,
        fmt::format("the certificate authority may not sign for {}; a new one may: `armgate ca init --force`", host));
  }
  // A tool that looks at nothing but the leaf must not find it good when its issuer is not any more.
  const WallTime until = std::min<WallTime>(now + kLeafLifetime, end_of(authority_));
  const Validity validity{std::min(now, until) - kClockSkew, until};
  return make_certificate({host.size() <= kCommonNameBytesMax ? std::string(host) : "armgate intercepted host",
                           validity,
                           {{NID_basic_constraints, "critical,CA:FALSE"},
                            {NID_key_usage, "critical,digitalSignature"},
                            {NID_ext_key_usage, "serverAuth"},
                            {NID_subject_alt_name, fmt::format("DNS:{}", host)}}},
                          key_.get(), {authority_.intermediate.get(), authority_.key.get()});
}

}  // namespace armgate::certs
