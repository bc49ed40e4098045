// Goal: host names are told from everything else, and PEM survives the way there and back.
#include "certs/certificate.h"

#include <gtest/gtest.h>

#include "cert_test_support.h"

namespace armgate::certs {
namespace {

TEST(Certificate, KnowsHostNames) {
  const std::pair<std::string, bool> rows[] = {
      {"management.azure.com", true},
      {"a", true},
      {"x-1.y2", true},
      {std::string(63, 'a') + ".b", true},
      {std::string(64, 'a') + ".b", false},
      {"", false},
      {".", false},
      {"a.", false},
      {".a", false},
      {"a_b", false},
      {"A.b", false},
      {"-a", false},
      {"a-", false},
      {"1.2.3.4", false},
      {"*.a", false},
      {std::string("a\0b", 3), false},
  };
  for (const auto& [host, is_one] : rows) EXPECT_EQ(is_host_name(host), is_one) << host;
}

TEST(Certificate, SurvivesPem) {
  auto key = make_key();
  auto certificate = make_certificate({"x", {kNow, kNow + std::chrono::days(1)}, {}}, key->get(), {nullptr, key->get()});
  ASSERT_TRUE(certificate.ok());
  auto again = certificate_from_pem(*to_pem(certificate->get()));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(X509_cmp(again->get(), certificate->get()), 0);
  EXPECT_EQ(X509_check_private_key(again->get(), key_from_pem(*to_pem(key->get()))->get()), 1);
  EXPECT_EQ(not_before(again->get()), kNow);
}

}  // namespace
}  // namespace armgate::certs
