// ssl_handles.h – owners for OpenSSL's objects, and its error queue as text.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace armgate::certs {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

using KeyHandle = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using CertificateHandle = std::unique_ptr<X509, Freed<X509_free>>;
using ContextHandle = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using SslHandle = std::unique_ptr<SSL, Freed<SSL_free>>;
using SessionHandle = std::unique_ptr<SSL_SESSION, Freed<SSL_SESSION_free>>;
using BioHandle = std::unique_ptr<BIO, Freed<BIO_free_all>>;

// One more owner of the same object; OpenSSL counts references.
KeyHandle share(const KeyHandle& key);
CertificateHandle share(const CertificateHandle& certificate);

// The reasons in OpenSSL's error queue of this thread, oldest first; empties the queue.
std::string take_openssl_errors();

// An Internal error: what was attempted, and OpenSSL's reasons.
Error openssl_failure(std::string_view attempted);

}  // namespace armgate::certs
