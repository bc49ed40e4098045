#include "cli/introduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_directory.h"

namespace armgate {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Introduction, IsGivenOnceToEachUser) {
  const TemporaryDirectory one;
  const TemporaryDirectory other;
  EXPECT_THAT(introduction({}, one.path(), rules::Mode::Protect), HasSubstr("are protected"));
  EXPECT_THAT(introduction({}, one.path(), rules::Mode::Protect), IsEmpty());
  EXPECT_THAT(introduction({}, other.path(), rules::Mode::Observe), HasSubstr("mode observe"));
  EXPECT_TRUE(std::filesystem::exists(one.path() / ".local/state/armgate/exec-introduced"));
}

TEST(Introduction, IsRememberedWhereTheUserKeepsState) {
  const TemporaryDirectory home;
  const TemporaryDirectory state;
  const Environment environment{{"XDG_STATE_HOME", state.path().string()}};
  EXPECT_FALSE(introduction(environment, home.path(), rules::Mode::Protect).empty());
  EXPECT_TRUE(std::filesystem::exists(state.path() / "armgate/exec-introduced"));
  EXPECT_TRUE(std::filesystem::is_empty(home.path()));
  EXPECT_FALSE(introduction({{"XDG_STATE_HOME", "relative"}}, home.path(), rules::Mode::Protect).empty());
}

TEST(Introduction, IsNotGivenWhereItCannotBeRememberedOrNothingIsProtected) {
  const TemporaryDirectory home;
  home.write("file", "");
  EXPECT_THAT(introduction({}, home.path() / "file", rules::Mode::Protect), IsEmpty());
  EXPECT_THAT(introduction({}, home.path(), rules::Mode::Off), IsEmpty());
  EXPECT_FALSE(introduction({}, home.path(), rules::Mode::Protect).empty()) << "it was not remembered as told";
}

}  // namespace
}  // namespace armgate
