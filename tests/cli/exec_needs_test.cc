// What `exec` makes for itself: an authority, and a place for its files; and what it says where it cannot.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "cli/ca/authority.h"
#include "cli/process/runtime_directory.h"
#include "tests/support/temporary_directory.h"

namespace armgate {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr WallTime kOnThatDay = WallTime(std::chrono::seconds(1767225600));  // 2026-01-01

TEST(EnsureAuthority, MakesOneOnce) {
  const TemporaryDirectory directory;
  Config config;
  config.ca.directory = (directory.path() / "ca").string();
  ASSERT_TRUE(ensure_authority(config, kOnThatDay).ok());
  const auto made = std::filesystem::last_write_time(certs::files_in(config.ca.directory).root);
  ASSERT_TRUE(ensure_authority(config, kOnThatDay).ok());
  EXPECT_EQ(std::filesystem::last_write_time(certs::files_in(config.ca.directory).root), made);
}

// Not even root makes a directory in /proc.
TEST(EnsureAuthority, WithoutAPlaceSaysHowToNameOne) {
  Config config;
  config.ca.directory = "/proc/nobody/.armgate/ca";
  const auto made = ensure_authority(config, kOnThatDay);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().context, AllOf(HasSubstr("/proc/nobody"), HasSubstr("set HOME"), HasSubstr("--config FILE")));
}

TEST(BundleDirectory, WithoutAHomeSaysWhatToSet) {
  Config config;
  config.ca.directory = "/proc/ca";
  const auto made = bundle_directory(config, "/proc/nobody");
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().context,
              AllOf(HasSubstr("/proc/nobody"), HasSubstr("set HOME"), HasSubstr("may write to /proc/ca")));
}

TEST(EnsureAuthority, OfAnotherUserIsLeftToThatOnesService) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const TemporaryDirectory directory;
  Config config;
  config.ca.directory = (directory.path() / "ca").string();
  config.source = "/etc/armgate/armgate.json";
  ASSERT_TRUE(ensure_authority(config, kOnThatDay).ok());
  ASSERT_EQ(::chown(certs::files_in(config.ca.directory).key.c_str(), 12345, 12345), 0);
  const auto found = ensure_authority(config, kOnThatDay);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().context,
              AllOf(HasSubstr("is another user's"), HasSubstr("`eval \"$(armgate env --config /etc/armgate/armgate.json)\"`")));
}

TEST(RuntimeDirectory, LivesWhereTheEnvironmentWantsItAndGoesAgain) {
  const TemporaryDirectory directory;
  std::filesystem::path path;
  {
    const auto made = RuntimeDirectory::make({{"XDG_RUNTIME_DIR", directory.path().string()}, {"TMPDIR", "/tmp"}}, "some");
    ASSERT_TRUE(made.ok());
    path = made->path();
    EXPECT_EQ(path.parent_path(), directory.path());
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

// After su(1) XDG_RUNTIME_DIR is the former user's. /proc stands for it: not even root makes a directory there.
TEST(RuntimeDirectory, LivesInTheNextPlaceWhereItCanBeMade) {
  const TemporaryDirectory directory;
  const auto next = RuntimeDirectory::make({{"XDG_RUNTIME_DIR", "/proc"}, {"TMPDIR", directory.path().string()}}, "some");
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next->path().parent_path(), directory.path());
  for (const char* bad : {"/proc", "/no/such/directory", "relative", ""}) {
    const auto last = RuntimeDirectory::make({{"XDG_RUNTIME_DIR", bad}, {"TMPDIR", bad}}, "some");
    ASSERT_TRUE(last.ok()) << bad;
    EXPECT_EQ(last->path().parent_path(), "/tmp");
  }
}

}  // namespace
}  // namespace armgate
