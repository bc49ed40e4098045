// What `armgate check` finds out about files and addresses before a start does.
#include "cli/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

#include "cli/ca/authority.h"
#include "tests/support/temporary_directory.h"

namespace armgate {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr WallTime kNow = WallTime(std::chrono::seconds(1767225600));  // 2026-01-01

rules::FaultList notices_beside_authority(FileFindings found) {
  std::erase_if(found.notices, [](const rules::Fault& notice) { return notice.pointer == "/ca/directory"; });
  return found.notices;
}

TEST(CheckOfFiles, EveryFileOfTrustedCertificatesIsRead) {
  TemporaryDirectory directory;
  Config config;
  config.source = "a.json";
  config.upstream.ca_file = (directory.path() / "gone.pem").string();
  config.hosts["management.azure.com"].ca_file = directory.write("text.pem", "no certificate\n").string();
  const auto faults = look_at_files(config, kNow).faults;
  ASSERT_THAT(faults, SizeIs(2));
  EXPECT_EQ(faults[0].file, "a.json");
  EXPECT_EQ(faults[0].pointer, "/upstream/ca_file");
  EXPECT_THAT(faults[0].message, HasSubstr("gone.pem"));
  EXPECT_EQ(faults[1].pointer, "/hosts/management.azure.com/ca_file");
  EXPECT_THAT(faults[1].message, HasSubstr("text.pem"));
}

// The start refuses one that nobody reads; to look would end the reading of whoever does.
TEST(CheckOfFiles, WhetherAPipeIsReadIsNotLookedAt) {
  TemporaryDirectory directory;
  Config config;
  config.log.file = (directory.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(config.log.file.c_str(), 0600), 0);
  const FileFindings found = look_at_files(config, kNow);
  EXPECT_THAT(found.faults, IsEmpty());
  const auto notices = notices_beside_authority(found);
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_EQ(notices[0].pointer, "/log/file");
  EXPECT_EQ(notices[0].message,
            "not looked at: whether anybody reads the pipe " + config.log.file + "; `armgate run` needs it");
}

TEST(CheckOfTheCluster, WhatTheStartWouldRefuseWithoutAskingItsEngineIsAFault) {
  TemporaryDirectory directory;
  Config config;
  const auto pointers = [&] {
    std::vector<std::string> all;
    for (const auto& fault : look_at_files(config, kNow).faults) all.push_back(fault.pointer);
    return all;
  };
  config.cluster.engine = "postgres://u@127.0.0.1/x?sslmod=require";
  config.journal.file = (directory.path() / "journal.db").string();
  EXPECT_THAT(pointers(),
              testing::IsSupersetOf({"/journal/file", "/cluster/experimental", "/cluster/key_file", "/cluster/engine"}));

  config.journal.file.clear();
  config.cluster.engine = "postgres://u@127.0.0.1/x?sslmode=require";
  config.cluster.experimental = true;
  const auto key = directory.write("cluster.key", std::string(48, 'k'));
  config.cluster.key_file = key.string();
  std::filesystem::permissions(key, std::filesystem::perms(0644));
  EXPECT_THAT(pointers(), testing::ElementsAre("/cluster/key_file")) << "others may read it";
  std::filesystem::permissions(key, std::filesystem::perms(0600));
  EXPECT_THAT(pointers(), IsEmpty());
  config.cluster.key_file = (directory.path() / "gone").string();
  EXPECT_THAT(pointers(), testing::ElementsAre("/cluster/key_file"));
}

TEST(CheckOfTheCluster, AWayToItsEngineThatIsNotSafeIsAWarning) {
  Config config;
  const auto warns = [&] {
    const auto warnings = warnings_about_options(config);
    return std::any_of(warnings.begin(), warnings.end(),
                       [](const auto& warning) { return warning.pointer == "/cluster/engine"; });
  };
  EXPECT_FALSE(warns());
  config.cluster.engine = "postgres://u@db/x?sslmode=require";
  EXPECT_TRUE(warns());
  config.cluster.engine = "postgres://u@db/x?sslmode=verify-full";
  EXPECT_FALSE(warns());
}

TEST(CheckOfFiles, ALogFileThatCouldNotBeMadeIsAFaultAndOneThatCouldIsNotMade) {
  TemporaryDirectory directory;
  Config config;
  const auto faults_with_log = [&](const std::filesystem::path& file) {
    config.log.file = file.string();
    return look_at_files(config, kNow).faults;
  };
  EXPECT_THAT(faults_with_log(directory.path() / "new.log"), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "new.log"));
  EXPECT_THAT(faults_with_log(directory.write("old.log", "line\n")), IsEmpty());
  EXPECT_THAT(faults_with_log("/dev/null"), IsEmpty());

  const auto nowhere = faults_with_log(directory.path() / "no" / "such" / "a.log");
  ASSERT_THAT(nowhere, SizeIs(1));
  EXPECT_EQ(nowhere[0].pointer, "/log/file");
  EXPECT_THAT(nowhere[0].message, HasSubstr("there is no directory"));
  ASSERT_THAT(faults_with_log(directory.path()), SizeIs(1));
  if (::geteuid() == 0) return;  // who may do everything
  const auto closed = directory.write("closed.log", "");
  std::filesystem::permissions(closed, std::filesystem::perms::none);
  EXPECT_THAT(faults_with_log(closed), IsEmpty()) << "the service's user may write it";
  const auto notices = notices_beside_authority(look_at_files(config, kNow));
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_THAT(notices[0].message, HasSubstr("closed.log cannot be written"));
}

class CheckOfTheAuthority : public testing::Test {
 protected:
  CheckOfTheAuthority() {
    config_.source = "a.json";
    config_.ca.directory = (directory_.path() / "ca").string();
  }
  void make() { ASSERT_TRUE(init_authority(config_, kNow, certs::Overwrite::Refuse).ok()); }
  std::filesystem::path key() const { return certs::files_in(config_.ca.directory).key; }
  // The one fault; empty if there is none.
  std::string fault(WallTime now = kNow) const {
    const auto faults = look_at_files(config_, now).faults;
    if (faults.empty()) return "";
    EXPECT_THAT(faults, SizeIs(1));
    EXPECT_EQ(faults[0].pointer, "/ca/directory");
    return faults[0].message;
  }
  std::string notice() const {
    const auto notices = look_at_files(config_, kNow).notices;
    if (notices.empty()) return "";
    EXPECT_THAT(notices, SizeIs(1));
    return rules::to_text(notices[0]);
  }

  const TemporaryDirectory directory_;
  Config config_;
};

TEST_F(CheckOfTheAuthority, OneThatIsStillToBeMadeIsOnlyMentioned) {
  EXPECT_EQ(fault(), "");
  EXPECT_EQ(notice(), "a.json: /ca/directory: not looked at: there is no authority in " + config_.ca.directory +
                          " yet (`armgate ca init --config a.json` makes it); `armgate run` needs it");
  EXPECT_FALSE(std::filesystem::exists(config_.ca.directory));
  make();
  EXPECT_EQ(fault() + notice(), "");
}

TEST_F(CheckOfTheAuthority, OneThatTheStartWouldRefuseIsAFault) {
  make();
  EXPECT_THAT(fault(kNow + std::chrono::hours(24 * 365 * 50)), HasSubstr("armgate ca init --config a.json"));
  config_.intercept.push_back("management.example.org");
  EXPECT_THAT(fault(), HasSubstr("may not sign for \"management.example.org\""));
  config_.intercept.pop_back();
  std::filesystem::permissions(key(), std::filesystem::perms(0644));
  EXPECT_THAT(fault(), HasSubstr("chmod 600"));
  std::filesystem::remove(key());
  EXPECT_THAT(fault(), HasSubstr("intermediate.key"));
  Config other = config_;
  other.ca.directory = (directory_.path() / "other").string();
  ASSERT_TRUE(init_authority(other, kNow, certs::Overwrite::Refuse).ok());
  std::filesystem::copy_file(certs::files_in(other.ca.directory).key, key());
  std::filesystem::permissions(key(), std::filesystem::perms(0600));
  EXPECT_THAT(fault(), HasSubstr("is not the key of"));
  std::filesystem::remove(certs::files_in(config_.ca.directory).root);
  EXPECT_THAT(fault(), HasSubstr("ca.pem is not there")) << "a part of one is not still to be made";
}

TEST_F(CheckOfTheAuthority, AnEndThatIsNearAndOthersWhoMayWriteAreWarnings) {
  make();
  EXPECT_THAT(look_at_files(config_, kNow).warnings, IsEmpty());
  std::filesystem::permissions(config_.ca.directory, std::filesystem::perms(0777));
  const auto found = look_at_files(config_, kNow + std::chrono::days(3649));
  EXPECT_THAT(found.faults, IsEmpty());
  ASSERT_THAT(found.warnings, SizeIs(2));
  EXPECT_EQ(found.warnings[0].pointer, "/ca/directory");
  EXPECT_THAT(found.warnings[0].message, HasSubstr("more days; replace it without a gap: make another one beside it "
                                                   "(`armgate ca init --config a.json --directory ANOTHER`)"));
  EXPECT_THAT(found.warnings[1].message, HasSubstr("`chmod go-w " + config_.ca.directory + "`"));
}

TEST_F(CheckOfTheAuthority, WhatIsPrivateToAnotherUserIsOnlyMentioned) {
  make();
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(key().c_str(), 12345, 12345), 0);
    EXPECT_THAT(notice(), HasSubstr("intermediate.key is private to another user; `armgate run` needs it"));
  } else {
    std::filesystem::permissions(config_.ca.directory, std::filesystem::perms::none);
    EXPECT_THAT(notice(), HasSubstr("cannot be read by this user; `armgate run` needs it"));
    std::filesystem::permissions(config_.ca.directory, std::filesystem::perms::owner_all);
  }
  EXPECT_EQ(fault(), "");
}

TEST(CheckOfTheJournal, ItsDirectoryMustBeThereAndTheFileAFile) {
  const TemporaryDirectory directory;
  Config config;
  config.ca.directory = (directory.path() / "ca").string();
  const auto fault_with = [&](const std::filesystem::path& file) {
    config.journal.file = file.string();
    const auto faults = look_at_files(config, kNow).faults;
    if (faults.empty()) return std::string();
    EXPECT_EQ(faults[0].pointer, "/journal/file");
    return faults[0].message;
  };
  EXPECT_EQ(fault_with(directory.path() / "journal.db"), "");
  EXPECT_TRUE(std::filesystem::is_empty(directory.path())) << "nothing is made";
  EXPECT_THAT(fault_with(directory.path() / "gone" / "journal.db"), HasSubstr("there is no directory"));
  EXPECT_THAT(fault_with(directory.path()), HasSubstr("is a directory; name a file in it"));
  const auto file = directory.write("a.db", "");
  EXPECT_THAT(fault_with(file / "journal.db"), HasSubstr("a.db"));
  std::filesystem::permissions(file, std::filesystem::perms(0664));
  EXPECT_EQ(fault_with(file), "") << "the start makes its own file private";
  if (::chown(file.c_str(), 65532, 65532) == 0) {
    EXPECT_THAT(fault_with(file),
                HasSubstr("belongs to user 65532, who lets others at it (mode 0664), and armgate runs as user 0: "
                          "run it as user 65532"));
  }
  const auto garbage = directory.write("garbage.db", std::string(5000, 'x'));
  std::filesystem::permissions(garbage, std::filesystem::perms(0600));
  EXPECT_THAT(fault_with(garbage), HasSubstr("is damaged or no journal at all"));
  std::filesystem::create_symlink(file, directory.path() / "link.db");
  EXPECT_THAT(fault_with(directory.path() / "link.db"), HasSubstr("symbolic link"));
}

// As in the configuration of the package, which is checked before it is installed anywhere.
TEST(CheckOfTheJournal, ADirectoryThatIsMadeWithTheAuthorityIsOnlyMentioned) {
  const TemporaryDirectory directory;
  Config config;
  config.ca.directory = (directory.path() / "state" / "ca").string();
  config.journal.file = (directory.path() / "state" / "journal.db").string();
  const auto before = look_at_files(config, kNow);
  EXPECT_THAT(before.faults, IsEmpty());
  EXPECT_THAT(before.notices, SizeIs(2));
  ASSERT_TRUE(init_authority(config, kNow, certs::Overwrite::Refuse).ok());
  const auto after = look_at_files(config, kNow);
  EXPECT_THAT(after.faults, IsEmpty());
  EXPECT_THAT(after.notices, IsEmpty());
}

// A pair of listeners, and whether both can be there.
struct Pair {
  const char* proxy;
  const char* tls;
  bool good;
};

TEST(CheckOfAddresses, TheTwoListenersNeedAnAddressEach) {
  for (const Pair& pair : std::initializer_list<Pair>{
           {"127.0.0.1:8080", "127.0.0.1:8443", true},
           {"127.0.0.1:8080", "127.0.0.1:8080", false},
           {"127.0.0.1:8080", "127.0.0.2:8080", true},
           {"127.0.0.1:8080", "0.0.0.0:8080", false},
           {"0.0.0.0:8080", "[::1]:8080", true},
           {"[::]:8080", "127.0.0.1:8080", false},
           {"[::1]:8080", "[::]:8080", false},
           {"127.0.0.1:0", "127.0.0.1:0", true},
       }) {
    SCOPED_TRACE(std::string(pair.proxy) + " " + pair.tls);
    const auto text = std::string(R"({"listen": {"proxy": ")") + pair.proxy + R"(", "tls": ")" + pair.tls + R"("}})";
    const auto loaded = parse_config("a.json", text, {});
    EXPECT_EQ(loaded.faults.empty(), pair.good);
    if (pair.good) continue;
    ASSERT_THAT(loaded.faults, SizeIs(1));
    EXPECT_EQ(loaded.faults[0].pointer, "/listen/tls");
    EXPECT_EQ(loaded.faults[0].line, 1);
  }
}

TEST(CheckOfAddresses, NorCanTheAdminListenerBeWhereAnotherIs) {
  const auto text = R"({"listen": {"proxy": "127.0.0.1:1", "tls": "127.0.0.1:2", "admin": "127.0.0.1:2"}})";
  const auto loaded = parse_config("a.json", text, {});
  ASSERT_THAT(loaded.faults, SizeIs(1));
  EXPECT_EQ(loaded.faults[0].pointer, "/listen/admin");
}

}  // namespace
}  // namespace armgate
