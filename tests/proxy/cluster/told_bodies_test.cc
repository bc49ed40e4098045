// Bodies that stand in the log are told by their hashes: what every replica knows is the same as if they were told again, or less.
#include "proxy/cluster/told_bodies.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "tests/proxy/cluster/replica_rig.h"

namespace armgate::cluster::told_bodies_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Process = ReplicaRig::Process;

constexpr size_t kBytes = 20'000;
constexpr size_t kMuchLess = 1'000;
constexpr Hash128 kResource{5, 5};
constexpr Hash128 kClient{9, 9};

std::string text(char of) { return std::string(kBytes, of); }

std::shared_ptr<policy::KeptBody> body_of(char of) {
  auto body = policy::kept_body(text(of));
  body->target = "/r?api-version=1";
  return body;
}

// ---- by itself ----

TEST(ToldBodies, AHashStandsForAllThatIsKeptWithTheBytes) {
  const ToldBodies bodies(HashKey{1, 2}, 256);
  const auto plain = body_of('a');
  auto others = std::vector(5, *plain);
  others[0].bytes.back() = 'b';
  others[1].compressed = true;
  others[2].is_partial = true;
  others[3].target += "&x";
  others[4].etag = "";
  EXPECT_EQ(bodies.hash_of(*plain), bodies.hash_of(*body_of('a')));
  for (const auto& other : others) EXPECT_NE(bodies.hash_of(other), bodies.hash_of(*plain));
  EXPECT_NE(ToldBodies(HashKey{1, 3}, 256).hash_of(*plain), bodies.hash_of(*plain)) << "nobody outside can make two alike";
}

TEST(ToldBodies, TheSameBytesAreOneBodyForAsLongAsSomebodyKeepsIt) {
  ToldBodies bodies(HashKey{1, 2}, 256);
  const TimePoint begun{std::chrono::hours(1)};
  const Hash128 hash = bodies.hash_of(*body_of('a'));
  EXPECT_FALSE(bodies.is_told(hash, begun));
  auto kept = bodies.remember(body_of('a'), begun);
  EXPECT_EQ(bodies.remember(body_of('a'), begun), kept);
  EXPECT_EQ(bodies.find(hash), kept);
  EXPECT_TRUE(bodies.is_told(hash, begun + kToldByHashMax - seconds(1)));
  EXPECT_FALSE(bodies.is_told(hash, begun + kToldByHashMax)) << "whoever begins later may not find the row";
  kept = bodies.remember(body_of('a'), begun + minutes(40));
  EXPECT_TRUE(bodies.is_told(hash, begun + minutes(50))) << "it was told as a whole once more";
  kept.reset();
  EXPECT_EQ(bodies.find(hash), nullptr);
  EXPECT_FALSE(bodies.is_told(hash, begun + minutes(50))) << "who has not got it cannot know that others have";
}

TEST(ToldBodies, SmallOnesAreLeftAsTheyAre) {
  ToldBodies bodies(HashKey{1, 2}, 256);
  const auto small = bodies.remember(policy::kept_body("{}"), TimePoint{});
  EXPECT_FALSE(bodies.is_worth_it(small));
  EXPECT_FALSE(bodies.is_worth_it(nullptr));
  EXPECT_EQ(bodies.size(), 0u);
  EXPECT_EQ(bodies.remember(nullptr, TimePoint{}), nullptr);
}

TEST(ToldBodies, WhatNobodyKeepsAnyMoreIsForgotten) {
  ToldBodies bodies(HashKey{1, 2}, 256);
  const auto kept = bodies.remember(body_of('a'), TimePoint{});
  for (int i = 0; i < 10'000; ++i) bodies.remember(policy::kept_body(std::string(300, 'x') + std::to_string(i)), TimePoint{});
  EXPECT_LE(bodies.size(), 1'025u);
  EXPECT_EQ(bodies.find(bodies.hash_of(*kept)), kept);
}

// ---- between replicas ----

void read_at(Process& process, std::string etag, policy::SharedBody body, Hash128 resource = kResource) {
  policy::StateShown shown;
  shown.client = kClient;
  shown.at = process.clock.next_moment();
  shown.asked = shown.at.order;
  shown.etag = std::move(etag);
  shown.rendering = {"1", std::move(body)};
  process.resources.apply(resource, std::move(shown));
}

struct Known {
  size_t entries = 0;
  std::string etag;
  std::string body;  // of the newest entry; "-": none
};

Known known_at(Process& process) {
  return process.resources.ask(kResource, [](const policy::History& history) -> Known {
    if (history.entries().empty()) return {};
    const policy::Entry& entry = history.entries().back();
    const policy::Rendering* rendering = entry.rendered_at("1");
    return {history.entries().size(), entry.etag, rendering && rendering->body ? rendering->body->bytes : "-"};
  });
}

// What reading so adds to the log.
template <class Read>
size_t told_by(ReplicaRig& rig, Read read) {
  const size_t before = rig.log.bytes();
  read();
  rig.pass(seconds(5));
  return rig.log.bytes() - before;
}

TEST(ToldBodies, AnUnchangedReadTellsNoBodyAndWhatChangedDoes) {
  for (const std::string etag : {"\"1\"", ""}) {
    ReplicaRig rig;
    Process& first = rig.begin();
    Process& second = rig.begin();
    EXPECT_GT(told_by(rig, [&] { read_at(first, etag, body_of('a')); }), kBytes);
    for (Process* process : {&second, &first, &second})
      EXPECT_LT(told_by(rig, [&] { read_at(*process, etag, body_of('a')); }), kMuchLess);
    for (Process* process : {&first, &second}) {
      EXPECT_EQ(known_at(*process).entries, 1u) << "the same state, also for a type without ETags";
      EXPECT_EQ(known_at(*process).body, text('a'));
    }
    EXPECT_GT(told_by(rig, [&] { read_at(second, etag, body_of('b')); }), kBytes);
    for (Process* process : {&first, &second}) EXPECT_EQ(known_at(*process).body, text('b'));
    EXPECT_LT(told_by(rig, [&] { read_at(first, etag, body_of('a')); }), kMuchLess) << "a state that is back";
    for (Process* process : {&first, &second}) {
      EXPECT_EQ(known_at(*process).entries, 3u);
      EXPECT_EQ(known_at(*process).body, text('a'));
    }
  }
}

TEST(ToldBodies, OfThoseThatComeTogetherTheFirstIsToldAsAWhole) {
  ReplicaRig rig;
  Process& first = rig.begin();
  Process& second = rig.begin();
  const size_t told = told_by(rig, [&] {
    for (int i = 0; i < 10; ++i) read_at(first, "\"1\"", body_of('a'));
  });
  EXPECT_LT(told, kBytes + kMuchLess);
  for (Process* process : {&first, &second}) EXPECT_EQ(known_at(*process).body, text('a'));
}

TEST(ToldBodies, WhoBeginsWithoutTheRowKnowsTheStateByItsETagUntilItIsToldAsAWhole) {
  ReplicaRig rig;
  Process& first = rig.begin();
  read_at(first, "\"1\"", body_of('a'));
  rig.pass(minutes(10));
  rig.log.forget_until(rig.log.newest());
  read_at(first, "\"1\"", body_of('a'));
  rig.pass(seconds(5));
  Process& late = rig.begin();
  EXPECT_EQ(known_at(late).etag, "\"1\"");
  EXPECT_EQ(known_at(late).body, "-");
  rig.pass(minutes(10));
  EXPECT_GT(told_by(rig, [&] { read_at(late, "\"1\"", body_of('a')); }), kBytes) << "it cannot know that it was told";
  EXPECT_EQ(known_at(late).body, text('a'));
  EXPECT_EQ(known_at(first).entries, 1u);
}

// Rows stay for as long as what was shown counts and an hour. So whatever counts is known with its body by who begins at any time.
TEST(ToldBodies, AfterHalfAnHourItIsToldAsAWholeAgain) {
  ReplicaRig rig;
  Process& first = rig.begin();
  read_at(first, "\"1\"", body_of('a'));
  rig.pass(minutes(29));
  EXPECT_LT(told_by(rig, [&] { read_at(first, "\"1\"", body_of('a')); }), kMuchLess);
  rig.pass(minutes(2));
  rig.log.forget_until(rig.log.newest());
  EXPECT_GT(told_by(rig, [&] { read_at(first, "\"1\"", body_of('a')); }), kBytes);
  EXPECT_LT(told_by(rig, [&] { read_at(first, "\"1\"", body_of('a')); }), kMuchLess);
  EXPECT_EQ(known_at(rig.begin()).body, text('a'));
}

TEST(ToldBodies, WhoLetGoOfABodyOverItsBudgetHasNoneAndNeverAnother) {
  ReplicaRig rig;
  Process& big = rig.begin();
  Process& small = rig.begin({.body_bytes_max = 64 * (kBytes + kBytes / 2), .history = {}});  // one in each shard
  constexpr Hash128 kNeighbour{kResource.high + 64, 6};
  read_at(big, "\"1\"", body_of('a'));
  rig.pass(seconds(5));
  read_at(big, "\"1\"", body_of('n'), kNeighbour);
  rig.pass(seconds(5));
  ASSERT_EQ(known_at(small).body, "-");
  EXPECT_LT(told_by(rig, [&] { read_at(big, "\"1\"", body_of('a')); }), kMuchLess);
  EXPECT_EQ(known_at(small).body, "-");
  EXPECT_EQ(known_at(small).entries, 1u);
  EXPECT_GT(told_by(rig, [&] { read_at(small, "\"1\"", body_of('a')); }), kBytes);
  EXPECT_EQ(known_at(small).body, text('a'));
  EXPECT_EQ(known_at(big).body, text('a'));
}

TEST(ToldBodies, PagesOfListsToo) {
  ReplicaRig rig;
  Process& first = rig.begin();
  Process& second = rig.begin();
  const auto list_at = [&](Process& process) {
    ListAnswer page;
    page.scope = {"/g", "t"};
    page.api_version = "1";
    page.shown = process.clock.next_moment();
    page.asked = page.shown.order;
    page.body = body_of('p');
    process.replica.post(PageShown{kClient, std::move(page)});
  };
  const auto client_at = [&](Process& process) { return process.clients.find_or_add(kClient, rig.clock.now()); };
  EXPECT_GT(told_by(rig, [&] { list_at(first); }), kBytes);
  EXPECT_LT(told_by(rig, [&] { list_at(second); }), kMuchLess);
  for (Process* process : {&first, &second}) {
    EXPECT_EQ(client_at(*process)->counts().pages, 1u);
    EXPECT_EQ(client_at(*process)->pages_forgotten(), 0u);
  }
  rig.log.forget_until(rig.log.newest());
  list_at(first);
  rig.pass(seconds(5));
  Process& late = rig.begin();
  EXPECT_EQ(client_at(late)->counts().pages, 0u);
  EXPECT_NE(client_at(late)->pages_forgotten(), 0u) << "it knows that one is missing";
}

}  // namespace
}  // namespace armgate::cluster::told_bodies_test
