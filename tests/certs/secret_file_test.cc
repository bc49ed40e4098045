// Goal: files are written whole with exactly the mode asked for, and secrets that others can reach are refused.
#include "certs/secret_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cert_test_support.h"

namespace armgate::certs {
namespace {

using ::testing::HasSubstr;

TEST(SecretFile, IsReplacedWholeWithItsModeWhateverTheUmask) {
  const TemporaryDirectory directory;
  const auto file = directory.write("secret", "a much longer old content");
  const mode_t before = ::umask(0);
  EXPECT_TRUE(write_file(file, "new", 0600).ok());
  ::umask(before);
  struct stat status {};
  ::stat(file.c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  EXPECT_EQ(*read_secret_file(file), "new");
  EXPECT_FALSE(std::filesystem::exists(file.string() + ".new"));
}

TEST(SecretFile, IsRefusedWhenOthersCanReachIt) {
  const TemporaryDirectory directory;
  const auto file = directory.write("secret", "x");
  ::chmod(file.c_str(), 0604);
  const auto refused = read_secret_file(file);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().context, HasSubstr("chmod 600"));
}

TEST(SecretFile, IsNamedWhenItCannotBeReadOrIsTooLarge) {
  const TemporaryDirectory directory;
  EXPECT_THAT(read_file(directory.path() / "absent").error().context, HasSubstr("absent"));
  const auto large = directory.write("large", std::string((1 << 20) + 1, 'x'));
  EXPECT_EQ(read_file(large).error().kind, ErrorKind::TooLarge);
}

TEST(SecretFile, MakesItsDirectoryPrivate) {
  const TemporaryDirectory directory;
  const auto inner = directory.path() / "a" / "b";
  ASSERT_TRUE(make_private_directory(inner).ok());
  EXPECT_EQ(std::filesystem::status(inner).permissions(), std::filesystem::perms::owner_all);
  EXPECT_TRUE(make_private_directory(inner).ok()) << "again";
  EXPECT_FALSE(make_private_directory(directory.write("file", "")).ok());
}

}  // namespace
}  // namespace armgate::certs
