// Goal: a body that was captured is the one that streamed by, and the one that was kept last is found again without a copy. Method: every
// way to cut a body into two or three pieces.
#include "proxy/request/read/capture.h"

#include <gtest/gtest.h>

namespace armgate::capture_test {
namespace {

constexpr size_t kMax = 10;

BodyLength known(uint64_t bytes) { return {BodyLength::Kind::Known, bytes}; }
BodyLength unknown() { return {BodyLength::Kind::Unknown, 0}; }

Capture captured(std::string_view body, size_t first, size_t second, BodyLength length, const policy::SharedBody& last) {
  Capture capture(kMax, length, last);
  for (const auto piece : {body.substr(0, first), body.substr(first, second - first), body.substr(second)}) {
    if (!piece.empty()) capture.add(piece);
  }
  return capture;
}

TEST(Capture, IsWhatStreamedByHoweverItIsCutAndWhateverWasKeptLast) {
  const policy::SharedBody lasts[] = {nullptr,
                                      policy::kept_body("abcdef"),
                                      policy::kept_body("abcdeX"),
                                      policy::kept_body("abXdef"),
                                      policy::kept_body("abc"),
                                      policy::kept_body("abcdefgh"),
                                      policy::kept_body("")};
  const std::string_view body = "abcdef";
  for (const auto& last : lasts) {
    for (const BodyLength length : {known(body.size()), unknown()}) {
      for (size_t first = 0; first <= body.size(); ++first) {
        for (size_t second = first; second <= body.size(); ++second) {
          Capture capture = captured(body, first, second, length, last);
          const bool is_same = last && last->bytes == body;
          ASSERT_TRUE(capture.has_all());
          EXPECT_EQ(capture.same_as_last(), is_same ? last : nullptr) << first << ' ' << second;
          EXPECT_EQ(std::move(capture).take(), body) << first << ' ' << second << ' ' << (last ? last->bytes : "nothing");
        }
      }
    }
  }
}

TEST(Capture, OfWhatIsTooLongIsNone) {
  const std::string longer(kMax + 1, 'x');
  EXPECT_FALSE(captured(longer, 4, 8, known(longer.size()), nullptr).has_all());
  EXPECT_FALSE(captured(longer, 4, 8, unknown(), nullptr).has_all());
  // What was kept last may be longer: its limit was another then.
  EXPECT_FALSE(captured(longer, 4, 8, known(longer.size()), policy::kept_body(longer)).has_all());
  EXPECT_FALSE(captured(longer, 4, 8, unknown(), policy::kept_body(std::string(kMax, 'x') + 'y')).has_all());
  EXPECT_TRUE(captured(longer.substr(1), 4, 8, unknown(), nullptr).has_all());
}

TEST(Capture, OfNothingTakesNothing) {
  Capture capture;
  capture.add("abc");
  EXPECT_FALSE(capture.has_all());
}

}  // namespace
}  // namespace armgate::capture_test
