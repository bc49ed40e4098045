// Goal: what is told about certificates is what openssl tells, and an authority that is not fine is shown as far as it can be.
// Method: an authority in a temporary directory, spoiled by hand; the openssl program as a second opinion.
#include "certs/authority_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "cert_test_support.h"
#include "certs/secret_file.h"

namespace armgate::certs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

const std::vector<std::string> kFactHosts{"management.azure.com"};

std::string printed_by(const std::string& command) {
  const std::unique_ptr<FILE, decltype([](FILE* pipe) { ::pclose(pipe); })> pipe(::popen(command.c_str(), "r"));
  char text[1024] = {};
  return {text, std::fread(text, 1, sizeof text, pipe.get())};
}

class FactsOfAuthority : public ::testing::Test {
 protected:
  FactsOfAuthority() : home_(directory_.path() / "ca"), files_(files_in(home_)) {
    const auto authority = make_authority({"management.azure.com", "*.example.net"}, kNow);
    EXPECT_TRUE(save_authority(*authority, home_, Overwrite::Refuse).ok());
  }
  AuthorityFacts look(WallTime now = kNow, const std::vector<std::string>& hosts = kFactHosts) {
    return look_at_authority(home_, hosts, now, "armgate ca init");
  }

  TemporaryDirectory directory_;
  std::filesystem::path home_;
  AuthorityFiles files_;
};

TEST_F(FactsOfAuthority, AreWhatOpensslTells) {
  const auto facts = look();
  EXPECT_EQ(facts.fault, "");
  EXPECT_EQ(facts.key, KeyState::Good);
  EXPECT_THAT(facts.hosts, ElementsAre("example.net", "management.azure.com"));
  ASSERT_TRUE(facts.root && facts.intermediate);
  EXPECT_TRUE(facts.root->is_armgate_root);
  EXPECT_FALSE(facts.intermediate->is_armgate_root);
  EXPECT_EQ(facts.root->until - kNow, std::chrono::days(3650));
  EXPECT_LT(facts.root->from, kNow);
  const std::string told = printed_by("openssl x509 -noout -fingerprint -sha256 -subject -in " + files_.root.string());
  EXPECT_EQ(told, "sha256 Fingerprint=" + facts.root->fingerprint + "\nsubject=" + facts.root->subject + "\n");
}

TEST_F(FactsOfAuthority, WarnOfAnEndThatIsNearAndOfOthersWhoMayWrite) {
  EXPECT_THAT(look().warnings, IsEmpty());
  const auto until = look().intermediate->until;
  const auto ends = look(until - std::chrono::days(3)).warnings;
  ASSERT_THAT(ends, SizeIs(1));
  EXPECT_THAT(ends[0].text, HasSubstr("ca.pem is valid for 3 more days"));
  EXPECT_THAT(ends[0].remedy, HasSubstr("without a gap: make another one beside it (`armgate ca init --directory ANOTHER`)"));
  EXPECT_EQ(ends[0].remedy.find("--force"), std::string::npos) << "that is the gap";
  const auto of_end = [&](std::chrono::seconds left) { return warning_of_end(home_, until, until - left, "armgate ca init"); };
  EXPECT_FALSE(of_end(std::chrono::days(30)));
  EXPECT_TRUE(of_end(std::chrono::days(30) - std::chrono::seconds(1)));
  EXPECT_THAT(of_end(std::chrono::seconds(0))->text, HasSubstr("ca.pem has expired"));
  EXPECT_THAT(of_end(std::chrono::seconds(0))->remedy, HasSubstr("`armgate ca init --force`"));
  ::chmod(home_.c_str(), 0770);
  const auto open = look();
  EXPECT_EQ(open.fault, "");
  ASSERT_THAT(open.warnings, SizeIs(1));
  EXPECT_THAT(open.warnings[0].text, HasSubstr("others may write to " + home_.string()));
  EXPECT_EQ(open.warnings[0].remedy, "`chmod go-w " + home_.string() + "`");
}

TEST_F(FactsOfAuthority, AreShownAsFarAsTheyGoWithWhatIsWrong) {
  ::chmod(files_.key.c_str(), 0644);
  auto facts = look();
  EXPECT_THAT(facts.fault, HasSubstr("chmod 600 " + files_.key.string()));
  EXPECT_EQ(facts.key, KeyState::Refused);
  EXPECT_TRUE(facts.root && facts.intermediate);

  ::chmod(files_.key.c_str(), 0600);
  facts = look(kNow + std::chrono::days(3651));
  EXPECT_THAT(facts.fault, HasSubstr("ca.pem has expired"));
  EXPECT_EQ(facts.key, KeyState::Good) << "the key is not what is wrong";
  EXPECT_THAT(look(kNow, {"elsewhere.org"}).fault, HasSubstr("may not sign for \"elsewhere.org\""));

  std::filesystem::remove(files_.intermediate);
  facts = look();
  EXPECT_THAT(facts.fault, HasSubstr(files_.intermediate.string()));
  EXPECT_TRUE(facts.root);
  EXPECT_FALSE(facts.intermediate);
  EXPECT_THAT(facts.hosts, IsEmpty());

  std::filesystem::remove_all(home_);
  facts = look();
  EXPECT_THAT(facts.fault, HasSubstr("make it with `armgate ca init`"));
  EXPECT_FALSE(facts.root);
}

TEST_F(FactsOfAuthority, APrivateKeyOfAnotherUserIsNoFault) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(files_.key.c_str(), 65534, 65534), 0);
  auto facts = look();
  EXPECT_EQ(facts.key, KeyState::OfAnotherUser);
  EXPECT_EQ(facts.fault, "");
  ::chmod(files_.key.c_str(), 0640);
  facts = look();
  EXPECT_EQ(facts.key, KeyState::Refused);
  EXPECT_THAT(facts.fault, HasSubstr("chmod 600"));
}

TEST_F(FactsOfAuthority, WarnOfAKeyThatTheServicesUserCannotRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(home_.c_str(), 65534, 65534), 0);
  const auto facts = look();
  EXPECT_EQ(facts.fault, "");
  ASSERT_THAT(facts.warnings, SizeIs(1));
  EXPECT_THAT(facts.warnings[0].text, HasSubstr("a service of that user cannot read it"));
  EXPECT_EQ(facts.warnings[0].remedy, "`chown --reference=" + home_.string() + " " + files_.key.string() + "`");
}

TEST_F(FactsOfAuthority, EveryCertificateOfABundleIsFoundBetweenWhatIsNone) {
  const std::string root = *read_file(files_.root);
  const std::string intermediate = *read_file(files_.intermediate);
  const std::string broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const auto found = facts_in("# a comment\n" + intermediate + broken + "\n" + root + "-----BEGIN CERTIFICATE-----\ncut");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(found[0].subject, StartsWith("O = armgate, CN = armgate intermediate CA "));
  EXPECT_THAT(found[1].subject, StartsWith("O = armgate, CN = armgate root CA "));
  EXPECT_THAT(facts_in(""), IsEmpty());
}

TEST(FactsOfCertificate, OnlyASelfSignedOneOfTheNameIsARootOfArmgate) {
  const auto is_root = [](const std::string& name) {
    const auto key = make_key();
    const auto made = make_certificate({name, {kNow, kNow + std::chrono::days(1)}, {}}, key->get(), {nullptr, key->get()});
    return facts_of(made->get()).is_armgate_root;
  };
  EXPECT_TRUE(is_root("armgate root CA 01234567"));
  EXPECT_FALSE(is_root("another root CA 01234567"));
  EXPECT_FALSE(is_root("not armgate root CA 01234567"));
}

}  // namespace
}  // namespace armgate::certs
