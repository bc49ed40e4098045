// Goal: OpenSSL's reasons are told once and the error queue is empty afterwards.
#include "certs/ssl_handles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "certs/certificate.h"

namespace armgate::certs {
namespace {

TEST(SslHandles, TellsReasonsOnce) {
  const auto bad = certificate_from_pem("nonsense");
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.error().context, ::testing::HasSubstr("no start line"));
  EXPECT_EQ(take_openssl_errors(), "no reason given");
}

TEST(SslHandles, ShareOneObject) {
  KeyHandle key = *make_key();
  const KeyHandle other = share(key);
  key.reset();
  EXPECT_EQ(EVP_PKEY_get_bits(other.get()), 256);
}

}  // namespace
}  // namespace armgate::certs
