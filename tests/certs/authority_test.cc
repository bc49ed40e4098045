// Goal: the authority on disk is private, complete and refused when anything about it is off. Method: real files in a
// temporary directory; each fault is made by hand.
#include "certs/authority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cert_test_support.h"

namespace armgate::certs {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kHosts{"management.azure.com"};

mode_t mode_of(const std::filesystem::path& file) {
  struct stat status {};
  ::stat(file.c_str(), &status);
  return status.st_mode & 07777;
}

class AuthorityOnDisk : public ::testing::Test {
 protected:
  AuthorityOnDisk() : home_(directory_.path() / "private") {
    auto authority = make_authority(kHosts, kNow);
    EXPECT_TRUE(save_authority(*authority, home_, Overwrite::Refuse).ok());
  }
  std::string refusal(const std::vector<std::string>& hosts = kHosts, WallTime now = kNow) {
    auto loaded = load_authority(home_, hosts, now);
    return loaded.ok() ? "loaded" : loaded.error().context;
  }

  TemporaryDirectory directory_;
  std::filesystem::path home_;
};

TEST_F(AuthorityOnDisk, IsPrivateAndHoldsNoRootKey) {
  EXPECT_EQ(mode_of(home_), 0700u);
  EXPECT_EQ(mode_of(files_in(home_).key), 0600u);
  int files = 0;
  auto root = load_authority(home_, kHosts, kNow);
  ASSERT_TRUE(root.ok());
  for (const auto& entry : std::filesystem::directory_iterator(home_)) {
    ++files;
    std::ifstream in(entry.path());
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    if (auto key = key_from_pem(text); key.ok()) {
      EXPECT_NE(X509_check_private_key(root->root.get(), key->get()), 1) << entry.path();
    }
  }
  take_openssl_errors();
  EXPECT_EQ(files, 3);
}

TEST_F(AuthorityOnDisk, IsNotOverwrittenUnlessForced) {
  auto other = make_authority(kHosts, kNow);
  auto refused = save_authority(*other, home_, Overwrite::Refuse);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().context, HasSubstr("ca.pem exists already"));
  EXPECT_TRUE(save_authority(*other, home_, Overwrite::Force).ok());
  auto loaded = load_authority(home_, kHosts, kNow);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(X509_cmp(loaded->root.get(), other->root.get()), 0);
}

TEST_F(AuthorityOnDisk, StaysItsOwnersWhenRootReplacesIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const auto files = files_in(home_);
  const auto owner_of = [](const std::filesystem::path& file) {
    struct stat status {};
    ::stat(file.c_str(), &status);
    return std::pair(status.st_uid, status.st_gid);
  };
  const auto replace = [&] { return save_authority(*make_authority(kHosts, kNow), home_, Overwrite::Force).ok(); };
  ASSERT_EQ(::chown(files.key.c_str(), 65533, 65532), 0);
  ASSERT_TRUE(replace());
  for (const auto& file : {files.root, files.intermediate, files.key})
    EXPECT_EQ(owner_of(file), std::pair(65533u, 65532u)) << file;
  EXPECT_EQ(mode_of(files.key), 0600u);

  std::filesystem::remove(files.key);
  ASSERT_EQ(::chown(home_.c_str(), 65531, 65530), 0);
  ASSERT_TRUE(replace());
  EXPECT_EQ(owner_of(files.key), std::pair(65531u, 65530u)) << "there was no key: the directory's owner's";

  ASSERT_EQ(::chown(files.key.c_str(), 0, 2000), 0);
  ::chmod(files.key.c_str(), 0440);
  ASSERT_TRUE(replace());
  EXPECT_EQ(owner_of(files.key), std::pair(0u, 2000u)) << "root's, for one group to read";
  EXPECT_EQ(mode_of(files.key), 0640u);
}

TEST_F(AuthorityOnDisk, ThatRootTookAwaySaysHowToHandItBack) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ::chmod(directory_.path().c_str(), 0711);
  ASSERT_EQ(::chown(home_.c_str(), 65532, 65532), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65532) != 0 || ::setuid(65532) != 0) ::_exit(3);
    const std::string why = refusal();
    ::_exit(why.find("`sudo chown 65532:65532 " + files_in(home_).key.string() + "`") != why.npos ? 0 : 1);
  }
  int ended = 0;
  ::waitpid(child, &ended, 0);
  EXPECT_EQ(WEXITSTATUS(ended), 0);
  EXPECT_EQ(refusal(), "loaded") << "root can read what is root's";
}

TEST_F(AuthorityOnDisk, RefusesAKeyThatOthersCanRead) {
  for (const mode_t mode : {0660, 0644, 0604, 0620, 0610}) {
    ::chmod(files_in(home_).key.c_str(), mode);
    EXPECT_THAT(refusal(), HasSubstr("chmod 600 " + files_in(home_).key.string())) << mode;
  }
}

TEST_F(AuthorityOnDisk, RefusesTheKeyOfAnotherCertificate) {
  auto key = make_key();
  { std::ofstream(files_in(home_).key) << *to_pem(key->get()); }
  EXPECT_THAT(refusal(), HasSubstr("is not the key of"));
  EXPECT_THAT(refusal(), HasSubstr("restore all files of the authority from a backup, or replace it"));
}

TEST_F(AuthorityOnDisk, RefusesAnIntermediateOfAnotherRoot) {
  auto other = make_authority(kHosts, kNow);
  { std::ofstream(files_in(home_).root) << *to_pem(other->root.get()); }
  EXPECT_THAT(refusal(), HasSubstr("was not signed by"));
}

TEST_F(AuthorityOnDisk, NamesMissingAndBrokenFiles) {
  { std::ofstream(files_in(home_).intermediate) << "nonsense"; }
  EXPECT_THAT(refusal(), HasSubstr("intermediate.pem holds no PEM certificate"));
  std::filesystem::remove(files_in(home_).intermediate);
  EXPECT_THAT(refusal(), HasSubstr(files_in(home_).intermediate.string() + " is not there; restore all files"));
  std::filesystem::remove(files_in(home_).root);
  EXPECT_THAT(refusal(), HasSubstr("make it with `armgate ca init`"));
}

TEST_F(AuthorityOnDisk, IsBoundToItsValidity) {
  EXPECT_THAT(refusal(kHosts, kNow + std::chrono::days(3651)),
              HasSubstr("has expired; replace it with `armgate ca init --force`"));
  EXPECT_THAT(refusal(kHosts, kNow - std::chrono::days(1)), HasSubstr("not valid yet"));
}

TEST_F(AuthorityOnDisk, MustCoverEveryInterceptedHost) {
  EXPECT_EQ(refusal({"management.azure.com", "*.management.azure.com", "westeurope.management.azure.com"}), "loaded");
  EXPECT_THAT(refusal({"management.usgovcloudapi.net"}), HasSubstr("may not sign for \"management.usgovcloudapi.net\""));
  EXPECT_THAT(refusal({"evilmanagement.azure.com"}), HasSubstr("may not sign for"));
  EXPECT_THAT(refusal({"azure.com"}), HasSubstr("may not sign for"));
}

TEST(Authority, RefusesWhatIsNoHostName) {
  for (const char* host : {"", "*", "10.0.0.1", "::1", "a b", "a,permitted;DNS:b", "UPPER.case", "-a.b", "a..b", "a.b."}) {
    EXPECT_FALSE(make_authority({host}, kNow).ok()) << host;
  }
  EXPECT_FALSE(make_authority({}, kNow).ok());
}

TEST(Authority, RefusesADirectoryThatOthersCanWriteTo) {
  const TemporaryDirectory directory;
  ::chmod(directory.path().c_str(), 0777);
  auto authority = make_authority(kHosts, kNow);
  auto refused = save_authority(*authority, directory.path(), Overwrite::Refuse);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().context, HasSubstr("chmod go-w"));
}

}  // namespace
}  // namespace armgate::certs
