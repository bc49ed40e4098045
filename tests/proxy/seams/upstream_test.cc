// Goal: a whole answer is read to its end or given up in time, and each error says that ARM had answered. Method: bodies that drip,
// that are cut, and that come in pieces.
#include "proxy/seams/upstream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/proxy/net/net_test_support.h"

namespace armgate::net {
namespace {

// A byte every ten seconds, without end.
class Dripping final : public BodySource {
 public:
  explicit Dripping(TestClock& clock) : clock_(clock) {}
  Task<Result<std::string_view>> read() override {
    clock_.advance(std::chrono::seconds(10));
    ++pieces;
    co_return std::string_view("x");
  }
  size_t pieces = 0;

 private:
  TestClock& clock_;
};

class ReadWholeTest : public NetTest {};

TEST_F(ReadWholeTest, WhoDripsIsGivenUpInTime) {
  Dripping body(clock_);
  const auto whole = await(read_whole(body, clock_, {1 << 20, clock_.now() + std::chrono::minutes(5)}));
  ASSERT_FALSE(whole.ok());
  EXPECT_EQ(whole.error().kind, ErrorKind::TimedOut);
  EXPECT_EQ(whole.error().sent, Sent::Answered);
  EXPECT_EQ(body.pieces, 31u);
}

TEST_F(ReadWholeTest, WhatIsTooLongIsGivenUpAtOnce) {
  Dripping body(clock_);
  const auto whole = await(read_whole(body, clock_, {7, kNever}));
  ASSERT_FALSE(whole.ok());
  EXPECT_EQ(whole.error().kind, ErrorKind::TooLarge);
  EXPECT_EQ(body.pieces, 8u);
}

// These pieces, then the end or the error.
class Pieces final : public BodySource {
 public:
  Pieces(std::vector<std::string> pieces, std::optional<Error> cut) : pieces_(std::move(pieces)), cut_(std::move(cut)) {}
  Task<Result<std::string_view>> read() override {
    if (next_ < pieces_.size()) co_return std::string_view(pieces_[next_++]);
    if (cut_) co_return *cut_;
    co_return std::string_view();
  }

 private:
  const std::vector<std::string> pieces_;
  const std::optional<Error> cut_;
  size_t next_ = 0;
};

TEST_F(ReadWholeTest, PiecesAreOneTextUpToTheLimit) {
  const struct {
    std::vector<std::string> pieces;
    size_t most;
    const char* whole;  // null: too long
  } rows[] = {{{}, 0, ""}, {{"ab", "c"}, 3, "abc"}, {{"ab", "c"}, 2, nullptr}, {{"abc"}, 2, nullptr}};
  for (const auto& row : rows) {
    Pieces body(row.pieces, std::nullopt);
    const auto whole = await(read_whole(body, clock_, {row.most, kNever}));
    ASSERT_EQ(whole.ok(), row.whole != nullptr) << row.most;
    if (row.whole == nullptr) continue;
    EXPECT_EQ(*whole, row.whole);
  }
}

TEST_F(ReadWholeTest, WhatIsCutHadBeenAnswered) {
  Pieces body({"ab"}, Error{ErrorKind::Reset, ErrorSource::Upstream, Sent::Maybe, "cut"});
  const auto whole = await(read_whole(body, clock_, {100, kNever}));
  ASSERT_FALSE(whole.ok());
  EXPECT_EQ(whole.error().kind, ErrorKind::Reset);
  EXPECT_EQ(whole.error().sent, Sent::Answered) << "whoever sends it again would send it twice";
}

}  // namespace
}  // namespace armgate::net
