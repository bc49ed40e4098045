// Goal: what a certificate may sign for is read as verifiers would, and limits that do not bind count as none. Method: certificates
// with one thing wrong each.
#include "certs/constraints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/x509v3.h>

#include "cert_test_support.h"
#include "certs/authority.h"

namespace armgate::certs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kNoAddress = ",excluded;IP:0.0.0.0/0.0.0.0,excluded;IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0";

CertificateHandle with(const std::vector<std::pair<int, std::string>>& extensions) {
  const auto key = make_key();
  return *make_certificate({"it", {kNow, kNow + std::chrono::hours(1)}, extensions}, key->get(), {nullptr, key->get()});
}

bool binds(const std::string& names) { return constraints_of(with({{NID_name_constraints, names}}).get()).names_bind; }

TEST(Constraints, OfWhatArmgateMakesBindOnBothCertificates) {
  const auto authority = make_authority({"management.azure.com", "*.example.net"}, kNow);
  ASSERT_TRUE(authority.ok());
  const auto root = constraints_of(authority->root.get());
  EXPECT_TRUE(root.is_authority);
  EXPECT_EQ(root.authorities_below, 1);
  EXPECT_TRUE(root.names_bind);
  EXPECT_THAT(root.names, ElementsAre("example.net", "management.azure.com"));
  const auto intermediate = constraints_of(authority->intermediate.get());
  EXPECT_TRUE(intermediate.is_authority);
  EXPECT_EQ(intermediate.authorities_below, 0);
  EXPECT_TRUE(intermediate.names_bind);
  EXPECT_EQ(intermediate.names, root.names);
}

TEST(Constraints, ThatLeaveAWayOutDoNotBind) {
  EXPECT_TRUE(binds("critical,permitted;DNS:example.net" + kNoAddress));
  EXPECT_FALSE(binds("permitted;DNS:example.net" + kNoAddress)) << "a program may overlook it";
  EXPECT_FALSE(binds("critical" + kNoAddress)) << "any name";
  EXPECT_FALSE(binds("critical,permitted;DNS:example.net")) << "any address";
  EXPECT_FALSE(binds("critical,permitted;DNS:example.net,excluded;IP:0.0.0.0/0.0.0.0")) << "any of IPv6";
  EXPECT_FALSE(binds("critical,permitted;DNS:example.net,excluded;IP:10.0.0.0/255.0.0.0" + kNoAddress.substr(28)));
  EXPECT_FALSE(binds("critical,permitted;DNS:.example.net" + kNoAddress)) << "no name of a host, as armgate writes it";
}

TEST(Constraints, OfACertificateWithoutAnyAreNone) {
  const auto none = constraints_of(with({{NID_basic_constraints, "critical,CA:TRUE"}}).get());
  EXPECT_TRUE(none.is_authority);
  EXPECT_EQ(none.authorities_below, std::nullopt);
  EXPECT_FALSE(none.names_bind);
  EXPECT_THAT(none.names, IsEmpty());
  EXPECT_FALSE(constraints_of(with({{NID_basic_constraints, "critical,CA:FALSE"}}).get()).is_authority);
  EXPECT_FALSE(constraints_of(with({}).get()).is_authority);
}

TEST(Constraints, AHostIsWithinANameOrNot) {
  const std::vector<std::string> names{"example.net"};
  EXPECT_TRUE(is_within(names, "example.net"));
  EXPECT_TRUE(is_within(names, "*.example.net"));
  EXPECT_TRUE(is_within(names, "a.b.example.net"));
  EXPECT_FALSE(is_within(names, "anexample.net"));
  EXPECT_FALSE(is_within(names, "net"));
  EXPECT_FALSE(is_within({}, "example.net"));
}

TEST(Constraints, AreMadeOfHostNamesOnly) {
  EXPECT_EQ(*name_constraints({"*.b.test", "b.test", "a.test"}),
            "critical,permitted;DNS:a.test,permitted;DNS:b.test" + kNoAddress);
  EXPECT_THAT(name_constraints({}).error().context, HasSubstr("useless"));
  EXPECT_THAT(name_constraints({"a,permitted;DNS:b"}).error().context, HasSubstr("is not a host name"));
}

}  // namespace
}  // namespace armgate::certs
