// What `armgate check` finds out about files and addresses before a start does.
#include "proxy/cli_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/temporary_directory.h"

namespace armgate {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(CheckOfFiles, NothingIsWrongWithADefaultConfiguration) { EXPECT_THAT(faults_of_files(Config{}), IsEmpty()); }

TEST(CheckOfFiles, EveryFileOfTrustedCertificatesIsRead) {
  TemporaryDirectory directory;
  Config config;
  config.source = "a.json";
  config.upstream.ca_file = (directory.path() / "gone.pem").string();
  config.hosts["management.azure.com"].ca_file = directory.write("text.pem", "no certificate\n").string();
  const auto faults = faults_of_files(config);
  ASSERT_THAT(faults, SizeIs(2));
  EXPECT_EQ(faults[0].file, "a.json");
  EXPECT_EQ(faults[0].pointer, "/upstream/ca_file");
  EXPECT_THAT(faults[0].message, HasSubstr("gone.pem"));
  EXPECT_EQ(faults[1].pointer, "/hosts/management.azure.com/ca_file");
  EXPECT_THAT(faults[1].message, HasSubstr("text.pem"));
}

TEST(CheckOfFiles, ALogFileThatCouldNotBeMadeIsAFaultAndOneThatCouldIsNotMade) {
  TemporaryDirectory directory;
  Config config;
  const auto faults_with_log = [&](const std::filesystem::path& file) {
    config.log.file = file.string();
    return faults_of_files(config);
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
  EXPECT_THAT(faults_with_log(closed), SizeIs(1));
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
