// Goal: as root one does not come to trust what somebody else has put there. Method: authorities as armgate makes them, and as somebody
// would who wants to sign for any host; those whose authorities root takes in are given.
#include "cli/ca/trust_origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "certs/authority.h"
#include "certs/authority_facts.h"
#include "certs/certificate.h"
#include "certs/secret_file.h"
#include "tests/support/temporary_directory.h"

namespace armgate {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::HasSubstr;

constexpr WallTime kOriginNow = WallTime(std::chrono::seconds(1767225600));  // 2026-01-01
constexpr uid_t kUser = 4321;
const std::string kBound =
    "critical,permitted;DNS:management.azure.com,excluded;IP:0.0.0.0/0.0.0.0,excluded;IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0";
const std::string kAnyRoot = "critical,CA:TRUE";
const std::string kIntermediate = "critical,CA:TRUE,pathlen:0";

class TrustOrigin : public testing::Test {
 protected:
  TrustOrigin() : place_(directory_.path() / "ca") {
    save(*certs::make_authority({"management.azure.com"}, kOriginNow));
    system_.believed = {0, ::geteuid()};
  }

  void save(const certs::Authority& authority) {
    EXPECT_TRUE(certs::save_authority(authority, place_, certs::Overwrite::Force).ok());
  }

  // With the right subjects, and limits as given; empty: none.
  void forge(const std::string& root_basics, const std::string& root_names, const std::string& basics,
             const std::string& names) {
    const certs::Validity validity{kOriginNow, kOriginNow + std::chrono::hours(1)};
    auto root_key = certs::make_key();
    auto key = certs::make_key();
    const auto extensions = [](const std::string& basic, const std::string& name) {
      std::vector<std::pair<int, std::string>> all{{NID_basic_constraints, basic}};
      if (!name.empty()) all.emplace_back(NID_name_constraints, name);
      return all;
    };
    auto root =
        certs::make_certificate({std::string(certs::kRootName) + "deadbeef", validity, extensions(root_basics, root_names)},
                                root_key->get(), {nullptr, root_key->get()});
    auto intermediate = certs::make_certificate({"armgate intermediate CA deadbeef", validity, extensions(basics, names)},
                                                key->get(), {root->get(), root_key->get()});
    save({*std::move(root), *std::move(intermediate), *std::move(key)});
  }

  // As if `user` had made it. Only root can do so; others have made it themselves.
  void give_to(uid_t user) {
    if (::geteuid() != 0) user = ::geteuid();
    for (const fs::path& file : {place_, certs::files_in(place_).root, certs::files_in(place_).intermediate})
      ASSERT_EQ(::chown(file.c_str(), user, static_cast<gid_t>(-1)), 0);
    system_.believed = {0, user};
  }

  std::string refusal(const std::string& fingerprint = "", const std::vector<std::string>& hosts = {"*.azure.com"}) {
    return refusal_of(*certs::read_file(certs::files_in(place_).root), fingerprint, hosts);
  }
  std::string refusal_of(const std::string& pem, const std::string& fingerprint, const std::vector<std::string>& hosts) {
    const auto checked = check_origin(system_, {place_, fingerprint, hosts}, pem, kOriginNow);
    return checked.ok() ? "taken" : checked.error().context;
  }
  std::string fingerprint() { return certs::facts_in(*certs::read_file(certs::files_in(place_).root)).front().fingerprint; }

  const TemporaryDirectory directory_;
  const fs::path place_;
  SystemTrust system_;
};

TEST_F(TrustOrigin, WhatArmgateMadeIsTakenFromRootAndFromWhoAsks) {
  EXPECT_EQ(refusal(), "taken");
  give_to(kUser);
  EXPECT_EQ(refusal(), "taken");
}

TEST_F(TrustOrigin, OfAnyOtherUserItIsTakenByItsFingerprintAlone) {
  give_to(kUser);
  system_.believed = {54321};
  const std::string refused = refusal();
  EXPECT_THAT(refused, AllOf(HasSubstr("can be written to by"), HasSubstr("--fingerprint SHA256"), HasSubstr(place_.string())));
  EXPECT_TRUE(::geteuid() != 0 || refused.find("user 4321") != refused.npos) << refused;
  EXPECT_EQ(refusal(fingerprint()), "taken");
  std::string plain = lower_text(fingerprint());
  std::erase(plain, ':');
  EXPECT_EQ(refusal(plain), "taken");
  plain.front() = plain.front() == '0' ? '1' : '0';
  EXPECT_THAT(refusal(plain), AllOf(HasSubstr(fingerprint()), HasSubstr("not the one that --fingerprint names")));
  EXPECT_THAT(refusal(plain.substr(0, 8)), HasSubstr("not the one")) << "all of it";
}

TEST_F(TrustOrigin, WhereOthersMayWriteNothingIsTaken) {
  const auto root = certs::files_in(place_).root;
  ::chmod(root.c_str(), 0664);
  EXPECT_THAT(refusal(), AllOf(HasSubstr(root.string() + " can be written to by users besides its owner")));
  ::chmod(root.c_str(), 0644);
  ::chmod(place_.c_str(), 0770);
  EXPECT_THAT(refusal(), HasSubstr(place_.string() + " can be written to by"));
  ::chmod(place_.c_str(), 0755);
  EXPECT_EQ(refusal(), "taken");
  ::chmod(directory_.path().c_str(), 0777);
  EXPECT_THAT(refusal(), HasSubstr(directory_.path().string() + " can be written to by")) << "they could rename the directory";
  ::chmod(directory_.path().c_str(), 01777);
  EXPECT_EQ(refusal(), "taken") << "as /tmp";
  ::chmod(directory_.path().c_str(), 0777);
  system_.believed.clear();
  EXPECT_EQ(refusal(), "taken") << "who is not root can put nothing into the store";
  ::chmod(directory_.path().c_str(), 0700);
}

TEST_F(TrustOrigin, ARootThatMaySignForAnyHostIsTakenByItsFingerprintAlone) {
  forge(kAnyRoot, "", kIntermediate, kBound);
  for (const std::vector<uid_t>& believed : {std::vector<uid_t>{0, ::geteuid()}, std::vector<uid_t>{}}) {
    system_.believed = believed;
    EXPECT_THAT(refusal(), AllOf(HasSubstr("may sign for any host"), HasSubstr("`armgate ca init --force --directory")));
    EXPECT_EQ(refusal(fingerprint()), "taken") << "as older ones are";
  }
  forge("critical,CA:TRUE,pathlen:1", kBound, kIntermediate, kBound);
  EXPECT_EQ(refusal(), "taken");
  EXPECT_THAT(
      refusal("", {"arm.example.net"}),
      AllOf(HasSubstr("may sign for management.azure.com, which the option intercept does not name"), HasSubstr("--config")));
}

TEST_F(TrustOrigin, AnIntermediateWithoutLimitsIsNotTakenFromAnybody) {
  struct {
    std::string root, basics, names, says;
  } const cases[] = {
      {kAnyRoot, kIntermediate, "", "not limited to hosts of its own"},
      {kAnyRoot, kIntermediate, "critical,permitted;DNS:management.azure.com", "not limited to hosts of its own"},
      {kAnyRoot, "critical,CA:TRUE", kBound, "could make further authorities"},
      {kAnyRoot, "critical,CA:TRUE,pathlen:1", kBound, "could make further authorities"},
      {"critical,CA:TRUE,pathlen:2", kIntermediate, kBound, "could make further authorities"},
  };
  for (const auto& one : cases) {
    forge(one.root, "", one.basics, one.names);
    EXPECT_THAT(refusal(), HasSubstr(one.says)) << one.root << " " << one.basics << " " << one.names;
    EXPECT_THAT(refusal(fingerprint()), HasSubstr(one.says));
  }
}

TEST_F(TrustOrigin, WhatIsLookedAtIsWhatWillBeTrusted) {
  const std::string other = *certs::to_pem(certs::make_authority({"management.azure.com"}, kOriginNow)->root.get());
  EXPECT_THAT(refusal_of(other, "", {"management.azure.com"}), HasSubstr("is being replaced"));
  EXPECT_THAT(refusal_of(other, fingerprint(), {"management.azure.com"}), HasSubstr("not the one that --fingerprint names"));
  EXPECT_THAT(refusal_of(other, certs::facts_in(other).front().fingerprint, {}), HasSubstr("is being replaced"));
}

TEST_F(TrustOrigin, ARootOfAnotherIntermediateOrWithoutOneIsNotTaken) {
  const auto files = certs::files_in(place_);
  const std::string kept = *certs::read_file(files.intermediate);
  save(*certs::make_authority({"management.azure.com"}, kOriginNow));
  ASSERT_TRUE(certs::write_file(files.intermediate, kept, 0644).ok());
  EXPECT_THAT(refusal(), HasSubstr("was not signed by"));
  fs::remove(files.intermediate);
  EXPECT_THAT(refusal(), HasSubstr(files.intermediate.string()));
  EXPECT_EQ(refusal(fingerprint()), "taken") << "a copy of the root, which its user vouches for";
}

}  // namespace
}  // namespace armgate
