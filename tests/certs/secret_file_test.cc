// Goal: files are written whole with exactly the mode asked for, and secrets that others can reach are refused.
#include "certs/secret_file.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

TEST(SecretFile, OfRootIsTakenFromItsOneGroupIfThatMayOnlyRead) {
  constexpr uid_t kArmgate = 65532;
  constexpr gid_t kGroup = 2000;
  const auto whose = [](uid_t owner, gid_t group, mode_t mode, const Reader& reader) {
    struct stat status {};
    status.st_uid = owner;
    status.st_gid = group;
    status.st_mode = S_IFREG | mode;
    return whose_secret(status, reader);
  };
  const Reader armgate{kArmgate, {100, kGroup}};
  for (const mode_t mode : {0400, 0600, 0200})
    EXPECT_EQ(whose(kArmgate, 100, mode, armgate), SecretOf::Reader) << std::oct << mode;
  for (const mode_t mode : {0440, 0640, 0040}) EXPECT_EQ(whose(0, kGroup, mode, armgate), SecretOf::Reader) << std::oct << mode;
  for (const mode_t mode : {0460, 0660, 0450, 0444, 0644, 0442, 0441, 0540, 02440, 04440, 01440}) {
    EXPECT_EQ(whose(0, kGroup, mode, armgate), SecretOf::Many) << std::oct << mode;
  }
  EXPECT_EQ(whose(0, 2001, 0440, armgate), SecretOf::Another) << "a group that armgate is not in";
  EXPECT_EQ(whose(kArmgate, kGroup, 0440, armgate), SecretOf::Many) << "its own file has no need of a group";
  EXPECT_EQ(whose(1000, kGroup, 0440, armgate), SecretOf::Many) << "whoever is not root is not to be trusted with it";
  EXPECT_EQ(whose(0, 0, 0440, {0, {0}}), SecretOf::Reader) << "a Secret in a container that runs as root";
  EXPECT_EQ(whose(0, kGroup, 0640, {0, {0, kGroup}}), SecretOf::Reader);
  EXPECT_EQ(whose(0, kGroup, 0440, {0, {0}}), SecretOf::Many) << "others than root get at it";
  EXPECT_EQ(whose(0, 0, 0600, armgate), SecretOf::Another);
  EXPECT_EQ(whose(1000, 100, 0600, {0, {0}}), SecretOf::Another);
}

TEST(SecretFile, IsReadByAProcessInItsGroupAndByNoOther) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const TemporaryDirectory directory;
  ::chmod(directory.path().c_str(), 0711);
  const auto file = directory.write("secret", "x");
  ASSERT_EQ(::chown(file.c_str(), 0, 2000), 0);
  ASSERT_EQ(::chmod(file.c_str(), 0440), 0);
  // What a process of another user makes of it: 0 it was read; 1 it was refused, and told about fsGroup; 2 anything else.
  const auto read_as = [&](gid_t group) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (::setgroups(1, &group) != 0 || ::setgid(65532) != 0 || ::setuid(65532) != 0) ::_exit(3);
      const auto text = read_secret_file(file);
      if (text.ok()) ::_exit(*text == "x" ? 0 : 2);
      ::_exit(text.error().context.find("belongs to user 0, armgate runs as user 65532") != std::string::npos &&
                      text.error().context.find("securityContext.fsGroup") != std::string::npos
                  ? 1
                  : 2);
    }
    int ended = 0;
    ::waitpid(child, &ended, 0);
    return WEXITSTATUS(ended);
  };
  EXPECT_EQ(read_as(2000), 0);
  EXPECT_EQ(read_as(2001), 1);
}

TEST(SecretFile, OfAServiceIsNotToBeGivenToRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const TemporaryDirectory directory;
  const auto file = directory.write("secret", "x");
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  ASSERT_EQ(::chown(file.c_str(), 65534, 65534), 0);
  const auto text = read_secret_file(file);
  ASSERT_FALSE(text.ok());
  EXPECT_THAT(text.error().context, HasSubstr("run it as that user: sudo -u '#65534'"));
  EXPECT_EQ(text.error().context.find("chown"), std::string::npos);
}

TEST(SecretFile, OfAnotherIsNotToBeTakenFromIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const TemporaryDirectory directory;
  ::chmod(directory.path().c_str(), 0711);
  const auto file = directory.write("secret", "x");
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  EXPECT_FALSE(is_secret_of_another(file));
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65532) != 0 || ::setuid(65532) != 0) ::_exit(3);
    const auto text = read_secret_file(file);
    const bool is_good = !text.ok() && text.error().context.find("run it as that user") != std::string::npos &&
                         text.error().context.find("chown") == std::string::npos && is_secret_of_another(file);
    ::_exit(is_good ? 0 : 1);
  }
  int ended = 0;
  ::waitpid(child, &ended, 0);
  EXPECT_EQ(WEXITSTATUS(ended), 0);
}

TEST(SecretFile, ThatADiskHasNoRoomForIsNoBadInput) {
  const TemporaryDirectory directory;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit nothing{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &nothing), 0);
  const auto written = write_file(directory.path() / "secret", "x", 0600);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().kind, ErrorKind::Internal) << written.error().context;
  EXPECT_EQ(write_file(directory.path() / "no" / "secret", "x", 0600).error().kind, ErrorKind::BadInput);
}

TEST(SecretFile, IsNamedWhenItCannotBeReadOrIsTooLarge) {
  const TemporaryDirectory directory;
  EXPECT_THAT(read_file(directory.path() / "absent").error().context, HasSubstr("absent"));
  const auto large = directory.write("large", std::string((1 << 20) + 1, 'x'));
  EXPECT_EQ(read_file(large).error().kind, ErrorKind::TooLarge);
}

TEST(RegularFile, IsNoDirectoryPipeOrDeviceAndIsNotWaitedFor) {
  const TemporaryDirectory directory;
  const auto pipe = directory.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(read_file(pipe).error().context, HasSubstr("pipe is no regular file"));
  EXPECT_THAT(read_file("/dev/null").error().context, HasSubstr("/dev/null is no regular file"));
  EXPECT_THAT(read_file(directory.path()).error().context, HasSubstr("is a directory; name a regular file"));
  EXPECT_THAT(read_file(directory.path() / "absent").error().context, HasSubstr("absent"));
  EXPECT_EQ(*read_file(directory.write("text", "words")), "words");
  EXPECT_EQ(read_file(directory.path() / "text", 4).error().kind, ErrorKind::TooLarge);
  EXPECT_EQ(*read_stream("/dev/null"), "") << "what a user names may be a pipe";
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
