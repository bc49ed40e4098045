// What az and kubectl print is read whole, however much that is within reason: here they are scripts.
#include "cli/heal/link/kubectl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <string>

#include "cli/heal/link/token.h"
#include "tests/support/temporary_directory.h"

namespace armgate::heal {
namespace {

using testing::HasSubstr;

constexpr const char* kPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

class HealKubectl : public testing::Test {
 protected:
  HealKubectl() { ::setenv("PATH", (directory_.path().string() + ":" + kPath).c_str(), 1); }
  ~HealKubectl() override { ::setenv("PATH", kPath, 1); }
  // A program of this name, found before any other.
  void install(const std::string& name, const std::string& script) {
    ::chmod(directory_.write(name, "#!/bin/sh\n" + script + "\n").c_str(), 0755);
  }
  Result<std::string> token() {
    return Token({}, "management.azure.com",
                 [this](const std::vector<std::string>& words) {
                   return run_command(words, environment_, std::chrono::minutes(1));
                 })
        .get();
  }

  TemporaryDirectory directory_;
  const Environment environment_{{"PATH", "/usr/bin:/bin"}};
};

TEST_F(HealKubectl, ALongTokenIsReadWhole) {
  install("az", R"(printf '{"accessToken": "'; head -c 10000 /dev/zero | tr '\0' t; printf '", "expiresOn": "later"}')");
  const auto read = token();
  ASSERT_TRUE(read.ok()) << read.error().context;
  EXPECT_EQ(*read, std::string(10'000, 't'));
}

TEST_F(HealKubectl, NodesOfALargePoolAreCounted) {
  install("kubectl", R"(i=0; while [ $i -lt 200 ]; do
    echo "aks-system-12345678-vmss$(printf %06d $i)   <none>   <none>   True"; i=$((i+1)); done)");
  const auto count = count_nodes({}, environment_, "system");
  ASSERT_TRUE(count.ok()) << count.error().context;
  EXPECT_EQ(count->ready, 200u);
  EXPECT_EQ(count->all, 200u);
}

TEST_F(HealKubectl, MoreThanIsReadIsAnErrorAndNotCutShort) {
  install("kubectl", "head -c 2000000 /dev/zero | tr '\\0' x");
  const auto count = count_nodes({}, environment_, "system");
  ASSERT_FALSE(count.ok());
  EXPECT_THAT(count.error().context, HasSubstr("kubectl printed more than the 1048576 bytes that are read of it"));
}

TEST_F(HealKubectl, OfAFailureTheLastLineIsToldAndNotMuchOfThat) {
  install("kubectl", "head -c 100000 /dev/zero | tr '\\0' x; exit 7");
  const auto count = count_nodes({}, environment_, "system");
  ASSERT_FALSE(count.ok());
  EXPECT_THAT(count.error().context, testing::StartsWith("kubectl ended with 7: xxx"));
  EXPECT_LT(count.error().context.size(), 10'000u);
}

}  // namespace
}  // namespace armgate::heal
