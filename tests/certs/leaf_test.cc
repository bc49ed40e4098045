// Goal: leaves pass strict verification for their host and nothing passes for any other. Method: the openssl program
// judges chains; a leaf outside the constraints is forged with the intermediate's key, as a thief would.
#include "certs/leaf.h"

#include <gtest/gtest.h>
#include <openssl/x509v3.h>

#include "cert_test_support.h"

namespace armgate::certs {
namespace {

class Leaf : public ::testing::Test {
 protected:
  Leaf() : minter_(*LeafMinter::make(*make_authority({"management.azure.com", "*.example.test"}, kNow))) {
    root_ = directory_.write("ca.pem", *to_pem(minter_.authority().root.get()));
    intermediate_ = directory_.write("intermediate.pem", *to_pem(minter_.authority().intermediate.get()));
  }
  // The exit code of a strict verification of `leaf` as a TLS server called `host`.
  int verify(X509* leaf, const std::string& host) {
    const auto file = directory_.write("leaf.pem", *to_pem(leaf));
    return exit_code("openssl verify -x509_strict -attime 1767225600 -purpose sslserver -verify_hostname " + host +
                     " -CAfile " + root_.string() + " -untrusted " + intermediate_.string() + " " + file.string());
  }
  CertificateHandle forge(const std::string& name, const std::string& alternative_name) {
    return *make_certificate({name,
                              {kNow, kNow + kLeafLifetime},
                              {{NID_basic_constraints, "critical,CA:FALSE"}, {NID_subject_alt_name, alternative_name}}},
                             minter_.key().get(), {minter_.authority().intermediate.get(), minter_.authority().key.get()});
  }

  TemporaryDirectory directory_;
  LeafMinter minter_;
  std::filesystem::path root_, intermediate_;
};

TEST_F(Leaf, PassesStrictVerificationForItsHostOnly) {
  auto leaf = minter_.mint("management.azure.com", kNow);
  ASSERT_TRUE(leaf.ok());
  EXPECT_EQ(verify(leaf->get(), "management.azure.com"), 0);
  EXPECT_NE(verify(leaf->get(), "login.microsoftonline.com"), 0);
  auto below = minter_.mint("a.b.example.test", kNow);
  ASSERT_TRUE(below.ok());
  EXPECT_EQ(verify(below->get(), "a.b.example.test"), 0);
}

TEST_F(Leaf, ForgedOutsideTheConstraintsIsRefused) {
  EXPECT_EQ(verify(forge("x", "DNS:management.azure.com").get(), "management.azure.com"), 0) << "the method works";
  EXPECT_NE(verify(forge("x", "DNS:login.microsoftonline.com").get(), "login.microsoftonline.com"), 0);
  EXPECT_NE(verify(forge("x", "DNS:management.azure.com,IP:10.0.0.1").get(), "management.azure.com"), 0);
  EXPECT_NE(verify(forge("x", "DNS:management.azure.com,IP:::1").get(), "management.azure.com"), 0);
}

TEST_F(Leaf, CannotSignFurtherAuthorities) {
  auto below = *make_certificate({"below",
                                  {kNow, kNow + kLeafLifetime},
                                  {{NID_basic_constraints, "critical,CA:TRUE"}, {NID_key_usage, "critical,keyCertSign"}}},
                                 minter_.key().get(), {minter_.authority().intermediate.get(), minter_.authority().key.get()});
  auto leaf = *make_certificate({"x", {kNow, kNow + kLeafLifetime}, {{NID_subject_alt_name, "DNS:management.azure.com"}}},
                                minter_.key().get(), {below.get(), minter_.key().get()});
  intermediate_ = directory_.write("chain.pem", *to_pem(below.get()) + *to_pem(minter_.authority().intermediate.get()));
  EXPECT_NE(verify(leaf.get(), "management.azure.com"), 0);
}

TEST_F(Leaf, LivesForAWeekFromAnHourAgo) {
  auto leaf = minter_.mint("management.azure.com", kNow);
  EXPECT_EQ(not_before(leaf->get()), kNow - std::chrono::hours(1));
  EXPECT_EQ(not_after(leaf->get()), kNow + std::chrono::days(7));
}

TEST_F(Leaf, EndsWithItsAuthority) {
  const WallTime end = end_of(minter_.authority());
  EXPECT_EQ(end, kNow + std::chrono::days(3650));
  const auto last = minter_.mint("management.azure.com", end - std::chrono::days(2));
  EXPECT_EQ(not_after(last->get()), end);
  const auto late = minter_.mint("management.azure.com", end + std::chrono::days(2));
  EXPECT_EQ(not_after(late->get()), end);
  EXPECT_LT(not_before(late->get()), end);
}

TEST_F(Leaf, HasAFullRandomSerial) {
  auto one = minter_.mint("management.azure.com", kNow);
  auto two = minter_.mint("management.azure.com", kNow);
  EXPECT_EQ(X509_get0_serialNumber(one->get())->length, 20);
  EXPECT_NE(ASN1_INTEGER_cmp(X509_get0_serialNumber(one->get()), X509_get0_serialNumber(two->get())), 0);
}

TEST_F(Leaf, IsNotMintedForForeignOrImpossibleHosts) {
  for (const char* host : {"login.microsoftonline.com", "xmanagement.azure.com", "azure.com", "10.0.0.1", "",
                           "a b.example.test", "MANAGEMENT.azure.com"}) {
    EXPECT_FALSE(minter_.mint(host, kNow).ok()) << host;
  }
}

TEST_F(Leaf, MayHaveANameLongerThanACommonName) {
  const std::string host = std::string(60, 'a') + ".example.test";
  auto leaf = minter_.mint(host, kNow);
  ASSERT_TRUE(leaf.ok()) << leaf.error().context;
  EXPECT_EQ(verify(leaf->get(), host), 0);
}

}  // namespace
}  // namespace armgate::certs
