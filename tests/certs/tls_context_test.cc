// Goal: both sides' contexts hold the settings that armgate promises.
#include "certs/tls_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cert_test_support.h"

namespace armgate::certs {
namespace {

TEST(TlsContext, AllowsModernTlsOnly) {
  const auto server = make_server_context();
  const auto client = make_client_context(std::nullopt);
  for (SSL_CTX* context : {server->get(), client->get()}) {
    EXPECT_EQ(SSL_CTX_get_min_proto_version(context), TLS1_2_VERSION);
    EXPECT_EQ(SSL_CTX_get_options(context) & (SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION),
              SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    EXPECT_EQ(SSL_CTX_get_max_early_data(context), 0u);
    const auto* ciphers = SSL_CTX_get_ciphers(context);
    for (int i = 0; i < sk_SSL_CIPHER_num(ciphers); ++i) {
      const SSL_CIPHER* cipher = sk_SSL_CIPHER_value(ciphers, i);
      EXPECT_EQ(SSL_CIPHER_is_aead(cipher), 1) << SSL_CIPHER_get_name(cipher);
    }
  }
  EXPECT_EQ(SSL_CTX_get_num_tickets(server->get()), 1u);
}

TEST(TlsContext, AlwaysVerifiesServers) {
  EXPECT_EQ(SSL_CTX_get_verify_mode(make_client_context(std::nullopt)->get()), SSL_VERIFY_PEER);
}

TEST(TlsContext, NamesAFileOfTrustThatItCannotUse) {
  const TemporaryDirectory directory;
  const auto refused = make_client_context(directory.write("ca.pem", "nonsense"));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().context, ::testing::HasSubstr("ca.pem"));
  const auto second = make_client_context(std::nullopt, directory.write("also.pem", "nonsense"));
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().context, ::testing::HasSubstr("also.pem"));
}

}  // namespace
}  // namespace armgate::certs
