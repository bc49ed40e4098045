#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>

namespace armgate {
namespace {

Result<int> half_of(int number) {
  if (number % 2 != 0) return client_error(ErrorKind::BadInput, "odd");
  return number / 2;
}

Result<void> require_even(int number) {
  auto half = half_of(number);
  if (!half) return std::move(half).error();
  return {};
}

TEST(Result, IsAValueOrAnError) {
  EXPECT_TRUE(half_of(4).ok());
  EXPECT_EQ(*half_of(4), 2);
  const auto odd = half_of(3);
  EXPECT_FALSE(odd);
  EXPECT_EQ(odd.error().kind, ErrorKind::BadInput);
  EXPECT_EQ(odd.error().context, "odd");
}

TEST(Result, OfNothingIsSuccessOrAnError) {
  EXPECT_TRUE(require_even(2).ok());
  EXPECT_EQ(require_even(1).error().context, "odd");
}

TEST(Result, GivesAwayWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 7);
}

TEST(Result, AnErrorSaysWhoseItIsAndWhetherItWasSent) {
  EXPECT_EQ(client_error(ErrorKind::BadInput, "").source, ErrorSource::Client);
  EXPECT_EQ(gateway_error(ErrorKind::TooLarge, "").source, ErrorSource::Gateway);
  const Error lost = upstream_error(ErrorKind::Reset, Sent::Maybe, "");
  EXPECT_EQ(lost.source, ErrorSource::Upstream);
  EXPECT_EQ(lost.sent, Sent::Maybe);
  static_assert(!std::is_default_constructible_v<Error>, "nobody knows whether something was sent unless somebody says so");
}

TEST(ResultDeathTest, TakingWhatIsNotThereStopsTheProcess) {
  EXPECT_DEATH((void)half_of(3).value(), "value\\(\\) of an error");
  EXPECT_DEATH((void)half_of(4).error(), "error\\(\\) of a value");
  EXPECT_DEATH((void)require_even(2).error(), "error\\(\\) of success");
}

}  // namespace
}  // namespace armgate
