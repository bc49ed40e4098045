#include "proxy/state/operation/operation_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace armgate {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Hash128 kKey{1, 1};
constexpr Hash128 kWrite{7, 7};
constexpr Duration kProbe = minutes(5);

const arm::ErrorCodes kBad{"Bad", ""};

class OperationResultsTest : public testing::Test {
 protected:
  OperationResults::Time now() const {
    return {now_, WallTime(std::chrono::duration_cast<std::chrono::milliseconds>(now_.time_since_epoch()))};
  }
  static OperationResults::Ended ended(const OperationResult& result, std::string_view method = "PUT", Hash128 bytes = kWrite) {
    return {.resource = kKey,
            .id = "/r",
            .type = "a/b",
            .method = method,
            .client = "one",
            .request_hash = bytes,
            .result = result};
  }
  void end(arm::Progress how, const arm::ErrorCodes& error = {}, std::string_view method = "PUT", Hash128 bytes = kWrite) {
    const OperationResult result{how, error};
    results_.note(ended(result, method, bytes), now());
  }
  void fail(int times, const arm::ErrorCodes& error = kBad) {
    for (int i = 0; i < times; ++i) {
      now_ += seconds(30);
      end(arm::Progress::Failed, error);
    }
  }
  void see(std::string_view state) { results_.note_state(kKey, "/r", state, now()); }
  auto sick(bool runs = false) const {
    return results_.sick(now_, [runs](const Hash128&) { return runs; });
  }
  OperationResults::Judged judged(const Hash128& bytes = kWrite) { return results_.judge(kKey, bytes, kProbe, now_); }
  bool probes(uint64_t judged) { return results_.probe(kKey, judged, {++order_, now_}); }
  bool refuses(const Hash128& bytes = kWrite) {
    using Goes = OperationResults::Goes;
    const Goes goes = judged(bytes).goes;
    return goes == Goes::No || (goes == Goes::AsProbe && !probes(++order_));
  }

  uint64_t order_ = 0;
  TimePoint now_{std::chrono::hours(1)};
  OperationResults results_;
};

TEST_F(OperationResultsTest, AsManyEqualFailuresWithinTheWindowMakeAResourceSick) {
  fail(9);
  EXPECT_TRUE(sick().empty());
  fail(1);
  ASSERT_EQ(sick().size(), 1u);
  const auto one = sick()[0];
  EXPECT_EQ(one.resource, "/r");
  EXPECT_EQ(one.failures, 10u);
  EXPECT_EQ(one.error, kBad);
  EXPECT_EQ(one.last - one.since, minutes(4) + seconds(30));
  now_ += minutes(15);
  EXPECT_TRUE(sick().empty()) << "they are too old";
}

TEST_F(OperationResultsTest, OtherErrorsCountForThemselves) {
  fail(9);
  fail(9, {"Bad", "Worse"});
  fail(9, {"QuotaExceeded", ""});
  EXPECT_TRUE(sick().empty());
  EXPECT_FALSE(refuses());
}

TEST_F(OperationResultsTest, ASuccessMakesItWellAndSoDoesADelete) {
  fail(10);
  end(arm::Progress::Succeeded);
  EXPECT_TRUE(sick().empty());
  EXPECT_FALSE(results_.is_watched(kKey));
  fail(10);
  see("Updating");
  end(arm::Progress::Succeeded, {}, "DELETE");
  now_ += std::chrono::hours(2);
  EXPECT_TRUE(sick().empty());
  EXPECT_FALSE(results_.state_of(kKey).has_value());
}

TEST_F(OperationResultsTest, CanceledIsNoFailure) {
  for (int i = 0; i < 20; ++i) end(arm::Progress::Canceled, {"Canceled", ""});
  EXPECT_TRUE(sick().empty());
  EXPECT_EQ(results_.last().size(), 20u) << "but it is told";
}

TEST_F(OperationResultsTest, WhatIsAtWorkForLongWithoutAnOperationIsStuck) {
  see("Updating");
  now_ += minutes(30);
  see("Upgrading");
  now_ += minutes(29);
  EXPECT_TRUE(sick().empty());
  now_ += minutes(1);
  EXPECT_TRUE(sick(true).empty()) << "its operation runs";
  ASSERT_EQ(sick().size(), 1u);
  EXPECT_EQ(sick()[0].why, OperationResults::Sick::Why::Stuck);
  EXPECT_EQ(sick()[0].state, "Upgrading");
  EXPECT_TRUE(results_.is_watched(kKey));
  see("Succeeded");
  EXPECT_TRUE(sick().empty());
}

TEST_F(OperationResultsTest, TheEndOfAnOperationTakesBackThatItIsAtWork) {
  for (const auto how : {arm::Progress::Succeeded, arm::Progress::Failed}) {
    see("Updating");
    end(how, kBad);
    now_ += std::chrono::hours(2);
    EXPECT_TRUE(sick().empty()) << "nobody has seen it at work since";
  }
  EXPECT_TRUE(results_.is_watched(kKey)) << "the next read tells";
}

TEST_F(OperationResultsTest, OneWriteGoesEachSoOften) {
  fail(10);
  EXPECT_TRUE(refuses());
  now_ += kProbe - seconds(1);
  EXPECT_TRUE(refuses());
  now_ += seconds(1);
  EXPECT_FALSE(refuses());
  EXPECT_TRUE(refuses()) << "the next one does not";
  now_ += kProbe;
  EXPECT_FALSE(refuses());
}

// Refused writes are no failures: they must not make it well.
TEST_F(OperationResultsTest, ItStaysSickWhileNothingSucceedsHoweverRarelyItIsProbed) {
  fail(10);
  const TimePoint end = now_ + std::chrono::hours(3);
  int probes_sent = 0;
  while (now_ < end) {
    now_ += minutes(1);
    const auto found = results_.judge(kKey, kWrite, minutes(40), now_);
    ASSERT_NE(found.goes, OperationResults::Goes::Yes) << (end - now_) / minutes(1);
    EXPECT_EQ(found.sick.failures, 10u);
    if (found.goes == OperationResults::Goes::AsProbe && probes(++order_)) ++probes_sent;
  }
  EXPECT_EQ(probes_sent, 4);
  EXPECT_EQ(sick().size(), 1u);
  now_ += minutes(80);
  EXPECT_EQ(results_.judge(kKey, kWrite, minutes(40), now_).goes, OperationResults::Goes::Yes) << "nobody cares any more";
}

TEST_F(OperationResultsTest, OfTwoThatLookedAtOnceOneIsTheProbe) {
  fail(10);
  now_ += kProbe;
  ASSERT_EQ(judged().goes, OperationResults::Goes::AsProbe);
  const uint64_t looked = ++order_;
  EXPECT_TRUE(probes(looked));
  EXPECT_FALSE(probes(looked));
}

// What a cluster does with it: tests/proxy/cluster/results_test.cc.
struct Told final : ResultSink {
  void tell_result(const OperationResults::Ended&, OperationResults::Time) override { ++results; }
  void tell_state(const Hash128&, std::string_view, std::string_view, WallTime) override { ++states; }
  void tell_probe(const Hash128&, uint64_t) override { ++probes; }
  int results = 0;
  int states = 0;
  int probes = 0;
};

TEST_F(OperationResultsTest, WithASinkNothingChangesBeforeItComesBack) {
  fail(10);
  Told told;
  results_.set_sink(&told);
  end(arm::Progress::Succeeded);
  see("Failed");
  EXPECT_TRUE(probes(1));
  EXPECT_EQ(told.results + told.states + told.probes, 3);
  EXPECT_EQ(sick().size(), 1u);
  EXPECT_FALSE(results_.state_of(kKey).has_value());
  const OperationResult good{arm::Progress::Succeeded, {}};
  results_.note_here(ended(good), now(), OperationResults::Counted::No);
  EXPECT_TRUE(sick().empty());
  for (const auto& count : results_.counts()) EXPECT_NE(count.how, arm::Progress::Succeeded) << "another process counts it";
}

TEST_F(OperationResultsTest, WhatMayRepairAFailedResourceGoes) {
  fail(10);
  const Hash128 other{8, 8};
  EXPECT_TRUE(refuses(other)) << "its state is not known to be Failed";
  see("Failed");
  EXPECT_FALSE(refuses(other));
  EXPECT_TRUE(refuses(kWrite)) << "that has failed before";
}

TEST_F(OperationResultsTest, AnEarlierProcesssFailuresCountAndItsCountsDoNot) {
  const OperationResult result{arm::Progress::Failed, kBad};
  for (int i = 0; i < 10; ++i) results_.remember(ended(result), now());
  EXPECT_EQ(sick().size(), 1u);
  EXPECT_TRUE(results_.counts().empty());
  const OperationResult good{arm::Progress::Succeeded, {}};
  results_.remember(ended(good), now());
  EXPECT_TRUE(sick().empty()) << "it was well again";
}

TEST_F(OperationResultsTest, CountsByTypeResultAndCodeAreBounded) {
  OperationResults few({.kinds_max = 2});
  const auto note = [&](arm::Progress how, std::string code) {
    const OperationResult result{how, {std::move(code), ""}};
    few.note({kKey, "/r", "a/b", "PUT", "one", kWrite, result}, now());
  };
  note(arm::Progress::Failed, "A");
  note(arm::Progress::Failed, "A");
  note(arm::Progress::Succeeded, "");
  note(arm::Progress::Failed, "B");
  note(arm::Progress::Failed, "C");
  std::vector<std::string> all;
  for (const auto& count : few.counts()) all.push_back(count.type + " " + count.code + " " + std::to_string(count.count));
  EXPECT_THAT(all, testing::ElementsAre("a/b  1", "a/b A 2", "other other 2"));
}

TEST_F(OperationResultsTest, ItIsKnownWhichWriteHasFailed) {
  const auto end_of = [&](IntentId write, arm::Progress how) {
    const OperationResult result{how, kBad};
    auto told = ended(result);
    told.intent = told.first = write;
    results_.note(told, now());
  };
  end_of(1, arm::Progress::Failed);
  end_of(2, arm::Progress::Canceled);
  end_of(3, arm::Progress::Succeeded);
  end_of(4, arm::Progress::Unknown);
  EXPECT_TRUE(results_.failure_of(1).has_value());
  EXPECT_TRUE(results_.failure_of(2).has_value());
  for (const IntentId write : {0, 3, 4, 5}) EXPECT_FALSE(results_.failure_of(write).has_value()) << write;
}

TEST_F(OperationResultsTest, WellResourcesMakeRoomForOthers) {
  OperationResults few({.failures = 1, .resources_max = 2});
  const OperationResult failed{arm::Progress::Failed, kBad};
  EXPECT_TRUE(few.note_state({1, 1}, "/1", "Succeeded", now()));
  EXPECT_FALSE(few.note_state({1, 1}, "/1", "Succeeded", now())) << "it had it";
  few.note({{2, 2}, "/2", "t", "PUT", "", {}, failed}, now());
  few.note({{3, 3}, "/3", "t", "PUT", "", {}, failed}, now());
  few.note({{4, 4}, "/4", "t", "PUT", "", {}, failed}, now());
  EXPECT_FALSE(few.state_of({1, 1}).has_value());
  EXPECT_EQ(few.sick(now_, [](const Hash128&) { return false; }).size(), 2u) << "and nothing more fits";
}

}  // namespace
}  // namespace armgate
