// Goal: who counts as one sender: what stays the same when a token is renewed, and nobody else. Method: pairs of credentials.
#include "proxy/request/identify.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

const Hasher kHasher{HashKey{1, 2}};

// Unsigned: {"tid":"t","oid":"o","exp":1}, the same with "exp":2, with another "tid", and without a name.
constexpr std::string_view kFirst = "Bearer x.eyJ0aWQiOiJ0Iiwib2lkIjoibyIsImV4cCI6MX0.s";
constexpr std::string_view kRenewed = "Bearer x.eyJ0aWQiOiJ0Iiwib2lkIjoibyIsImV4cCI6Mn0.z";
constexpr std::string_view kOtherTenant = "Bearer x.eyJ0aWQiOiJ1Iiwib2lkIjoibyIsImV4cCI6MX0.s";
constexpr std::string_view kNameless = "Bearer x.eyJ0aWQiOiJ0In0.s";

TEST(Identify, APrincipalIsWhoTheTokenNamesHoweverOftenItIsRenewed) {
  EXPECT_EQ(principal_of(kHasher, kFirst), principal_of(kHasher, kRenewed));
  EXPECT_NE(principal_of(kHasher, kFirst), principal_of(kHasher, kOtherTenant));
}

TEST(Identify, WhoseTokenNamesNobodyIsTheCredentialItself) {
  EXPECT_FALSE(principal_of(kHasher, kNameless).is_zero());
  EXPECT_NE(principal_of(kHasher, kNameless), principal_of(kHasher, "Bearer opaque"));
  EXPECT_EQ(principal_of(kHasher, "Bearer opaque"), principal_of(kHasher, "Bearer opaque"));
  EXPECT_TRUE(principal_of(kHasher, "").is_zero());
}

TEST(Identify, ANameIsNoCredential) {
  EXPECT_EQ(client_key(kHasher, "nightly"), client_key(kHasher, "nightly"));
  EXPECT_NE(client_key(kHasher, "nightly"), client_key(kHasher, "Nightly"));
  EXPECT_NE(client_key(kHasher, "Bearer opaque"), principal_of(kHasher, "Bearer opaque"));
}

}  // namespace
}  // namespace armgate
