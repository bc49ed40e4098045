// Which unfinished writes meet on a key, and how long they would have waited for each other.
#include "proxy/state/observed_writes.h"

#include <gtest/gtest.h>

namespace armgate {
namespace {

using End = ObservedWrites::End;
using Sending = ObservedWrites::Sending;
using rules::LockKey;
using rules::LockMode;

class ObservedWritesTest : public testing::Test {
 protected:
  uint64_t begin(const std::string& who, std::vector<LockKey> keys, Sending sending = Sending::First, uint64_t request = 0) {
    ObservedWrites::Write write;
    write.client_label = who;
    write.request = {request, 1};
    const auto begun = writes.begin(write, keys, sending);
    before.clear();
    for (const auto& other : begun.before) before.push_back(other.client_label);
    return begun.id;
  }
  std::vector<std::string> end(uint64_t id, End how = End::Seen) {
    std::vector<std::string> over;
    for (const auto& wait : writes.end(id, how)) over.push_back(wait.write.client_label + " after " + wait.last.client_label);
    return over;
  }
  using Texts = std::vector<std::string>;

  ObservedWrites writes{{}};
  Texts before;
};

TEST_F(ObservedWritesTest, WritesOfOneKeyMeetInTheOrderOfTheirArrival) {
  const uint64_t a = begin("a", {{"x"}});
  const uint64_t b = begin("b", {{"x"}, {"y"}});
  const uint64_t c = begin("c", {{"x"}});
  EXPECT_EQ(before, (Texts{"a", "b"}));
  EXPECT_EQ(end(a), Texts{"b after a"});
  EXPECT_EQ(end(b), Texts{"c after b"});
  EXPECT_EQ(end(c), Texts{});
  EXPECT_EQ(writes.size(), 0u);
}

TEST_F(ObservedWritesTest, ADifferentKeyAndTwoSharersDoNotMeet) {
  begin("a", {{"x", LockMode::Shared}});
  begin("b", {{"y"}});
  EXPECT_EQ(before, Texts{});
  begin("c", {{"x", LockMode::Shared}});
  EXPECT_EQ(before, Texts{});
  begin("d", {{"x"}});
  EXPECT_EQ(before, (Texts{"a", "c"}));
}

TEST_F(ObservedWritesTest, WhatItsClientHasRunningLetsAReentrantWriteByOnceItIsAccepted) {
  ObservedWrites::Write write;
  write.client = {1, 1};
  write.is_reentrant = write.admits_own = true;
  const uint64_t first = writes.begin(write, {{"x"}}, Sending::First).id;
  EXPECT_EQ(writes.begin(write, {{"x"}}, Sending::First).before.size(), 1u) << "ARM has not taken the first yet";
  writes.taken(first, {});
  EXPECT_EQ(writes.begin(write, {{"x"}}, Sending::First).before.size(), 1u) << "only the second is in its way";
  write.is_reentrant = false;
  EXPECT_EQ(writes.begin(write, {{"x"}}, Sending::First).before.size(), 3u);
  write.is_reentrant = true;
  write.client = {2, 2};
  EXPECT_EQ(writes.begin(write, {{"x"}}, Sending::First).before.size(), 4u) << "another client's";
}

TEST_F(ObservedWritesTest, AWaitIsOverWhenTheLastOneBeforeHasEndedEvenIfTheWriteItselfHas) {
  const uint64_t a = begin("a", {{"x"}});
  const uint64_t b = begin("b", {{"y"}});
  const uint64_t c = begin("c", {{"x"}, {"y"}});
  EXPECT_EQ(end(c), Texts{});
  EXPECT_EQ(end(b), Texts{});
  EXPECT_EQ(end(a), Texts{"c after a"});
  EXPECT_EQ(writes.size(), 0u);
}

TEST_F(ObservedWritesTest, AKeyThatIsNeededOnlyUntilTheAnswerIsWaitedForNoLonger) {
  const uint64_t a = begin("a", {{"own"}, {"referred", LockMode::Shared}});
  const uint64_t b = begin("b", {{"referred"}});
  const uint64_t c = begin("c", {{"referred"}, {"own"}});
  const auto over = writes.taken(a, {"referred"});
  ASSERT_EQ(over.size(), 1u);
  EXPECT_EQ(over[0].write.client_label, "b");
  EXPECT_EQ(end(b), Texts{});
  EXPECT_EQ(end(a), Texts{"c after a"});
  begin("d", {{"referred"}});
  EXPECT_EQ(before, Texts{"c"});
  end(c);
}

TEST_F(ObservedWritesTest, NothingIsSaidAboutAWaitIfAnEndBeforeItWasNotSeen) {
  const uint64_t a = begin("a", {{"x"}});
  const uint64_t b = begin("b", {{"x"}});
  const uint64_t c = begin("c", {{"x"}});
  EXPECT_EQ(end(a, End::Unseen), Texts{});
  EXPECT_EQ(end(b), Texts{}) << "c would have waited for a too, nobody knows how long";
  end(c);
  EXPECT_EQ(writes.size(), 0u);
}

TEST_F(ObservedWritesTest, AFurtherSendingDoesNotMeetItsOwnEarlierOnes) {
  begin("a", {{"x"}}, Sending::First, 7);
  begin("other", {{"x"}}, Sending::First, 8);
  begin("a", {{"x"}}, Sending::Again, 7);
  EXPECT_EQ(before, Texts{"other"});
  begin("a", {{"x"}}, Sending::First, 7);
  EXPECT_EQ(before.size(), 3u) << "another hand of the client that wants the same is a second write";
}

TEST_F(ObservedWritesTest, BeyondItsBoundAWriteIsNotFollowed) {
  ObservedWrites few{{1}};
  const std::vector<LockKey> x{{"x"}};
  EXPECT_NE(few.begin({}, x, Sending::First).id, 0u);
  const auto second = few.begin({}, x, Sending::First);
  EXPECT_EQ(second.id, 0u);
  EXPECT_EQ(second.before.size(), 1u);
  EXPECT_EQ(few.size(), 1u);
  EXPECT_TRUE(few.end(0, End::Seen).empty());
}

}  // namespace
}  // namespace armgate
