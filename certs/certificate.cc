#include "certs/certificate.h"

#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace armgate::certs {
namespace {

time_t to_seconds(WallTime time) { return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count(); }

bool set_serial(X509* certificate) {
  std::array<unsigned char, 20> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return false;
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x3f) | 0x40);  // positive and of full length (RFC 5280 §4.1.2.2)
  const std::unique_ptr<BIGNUM, Freed<BN_free>> number(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
  return number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool set_names(X509* certificate, const std::string& common_name, const X509* issuer) {
  X509_NAME* name = X509_get_subject_name(certificate);
  const auto* text = reinterpret_cast<const unsigned char*>(common_name.data());
  if (X509_NAME_add_entry_by_NID(name, NID_organizationName, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>("armgate"),
                                 -1, -1, 0) != 1) {
    return false;
  }
  if (X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, text, static_cast<int>(common_name.size()), -1, 0) != 1) {
    return false;
  }
  return X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1;
}

bool add_extension(X509* certificate, X509V3_CTX* context, int nid, const std::string& value) {
  const std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, context, nid, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

WallTime wall_time_of(const ASN1_TIME* time) {
  std::tm parts{};
  ASN1_TIME_to_tm(time, &parts);
  return WallTime(std::chrono::seconds(timegm(&parts)));
}

template <class Write>
Result<std::string> pem_text(const char* what, Write write) {
  const BioHandle memory(BIO_new(BIO_s_mem()));
  if (!memory || write(memory.get()) != 1) return openssl_failure(what);
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

BioHandle memory_bio(std::string_view text) { return BioHandle(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

// The same certificate, read from its encoding. Why: OpenSSL keeps the encoding of what it has read, but encodes what was made
// here anew for each handshake that sends it (3 % of one).
Result<CertificateHandle> as_read(X509* made) {
  unsigned char* der = nullptr;
  const int bytes = i2d_X509(made, &der);
  const std::unique_ptr<unsigned char, decltype([](unsigned char* p) { OPENSSL_free(p); })> owner(der);
  if (bytes <= 0) return openssl_failure("encoding a certificate");
  const unsigned char* at = der;
  CertificateHandle read(d2i_X509(nullptr, &at, bytes));
  if (!read) return openssl_failure("reading a certificate back");
  return read;
}

}  // namespace

Result<KeyHandle> make_key() {
  KeyHandle key(EVP_EC_gen("P-256"));
  if (!key) return openssl_failure("making an EC P-256 key");
  return key;
}

Result<CertificateHandle> make_certificate(const CertificateRequest& request, EVP_PKEY* subject_key, Issuer issuer) {
  CertificateHandle certificate(X509_new());
  if (!certificate) return openssl_failure("making a certificate");
  X509* const self = certificate.get();
  X509* const signer = issuer.certificate != nullptr ? issuer.certificate : self;
  const bool filled = X509_set_version(self, X509_VERSION_3) == 1 && set_serial(self) &&
                      set_names(self, request.common_name, signer) &&
                      ASN1_TIME_set(X509_getm_notBefore(self), to_seconds(request.validity.from)) != nullptr &&
                      ASN1_TIME_set(X509_getm_notAfter(self), to_seconds(request.validity.until)) != nullptr &&
                      X509_set_pubkey(self, subject_key) == 1;
  if (!filled) return openssl_failure("filling a certificate");

  X509V3_CTX context;
  X509V3_set_ctx(&context, signer, self, nullptr, nullptr, 0);
  X509V3_set_ctx_nodb(&context);
  bool extended = add_extension(self, &context, NID_subject_key_identifier, "hash");
  if (signer != self) {
    extended = extended && add_extension(self, &context, NID_authority_key_identifier, "keyid:always");
  }
  for (const auto& [nid, value] : request.extensions) {
    extended = extended && add_extension(self, &context, nid, value);
  }
  if (!extended) return openssl_failure("adding an extension to a certificate");
  if (X509_sign(self, issuer.key, EVP_sha256()) == 0) return openssl_failure("signing a certificate");
  return as_read(self);
}

bool is_host_name(std::string_view host) {
  if (host.empty() || host.size() > 253) return false;
  const std::string_view last = host.substr(host.rfind('.') + 1);
  if (std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; })) return false;
  while (true) {
    const std::string_view label = host.substr(0, host.find('.'));
    const bool clean = std::all_of(label.begin(), label.end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
    if (label.empty() || label.size() > 63 || !clean || label.front() == '-' || label.back() == '-') return false;
    if (label.size() == host.size()) return true;
    host.remove_prefix(label.size() + 1);
  }
}

WallTime not_before(const X509* certificate) { return wall_time_of(X509_get0_notBefore(certificate)); }
WallTime not_after(const X509* certificate) { return wall_time_of(X509_get0_notAfter(certificate)); }

Result<std::string> to_pem(X509* certificate) {
  return pem_text("writing a certificate as PEM", [&](BIO* out) { return PEM_write_bio_X509(out, certificate); });
}

Result<std::string> to_pem(EVP_PKEY* key) {
  return pem_text("writing a key as PEM",
                  [&](BIO* out) { return PEM_write_bio_PKCS8PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

Result<CertificateHandle> certificate_from_pem(std::string_view pem) {
  const BioHandle in = memory_bio(pem);
  CertificateHandle certificate(PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr));
  if (!certificate) return openssl_failure("reading a PEM certificate");
  return certificate;
}

Result<KeyHandle> key_from_pem(std::string_view pem) {
  const BioHandle in = memory_bio(pem);
  // The empty passphrase keeps OpenSSL from asking at the terminal for an encrypted key.
  KeyHandle key(PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, const_cast<char*>("")));
  if (!key) return openssl_failure("reading a PEM private key");
  return key;
}

}  // namespace armgate::certs
