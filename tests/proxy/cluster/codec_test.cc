// Events as bytes: what one replica writes, every other reads as it was meant.
#include "proxy/cluster/codec.h"

#include <gtest/gtest.h>

#include "arm/http.h"

namespace armgate::cluster {
namespace {

const TimePoint kNow{std::chrono::hours(5)};
const TimePoint kThere{std::chrono::hours(900)};  // the same moment by another machine's clock

template <class What>
What passed_on(What event) {
  const std::vector<Event> events(1, Event(std::move(event)));
  auto read = decode(encode(events, kNow), kThere);
  EXPECT_TRUE(read.has_value() && read->size() == 1);
  return std::get<What>(std::move(read->front()));
}

TEST(ClusterCodec, AStateThatWasShownIsTheSameElsewhere) {
  policy::StateShown shown;
  shown.client = {1, 2};
  shown.as = policy::ShownAs::OwnAnswer;
  shown.request_id = "id";
  shown.asked = 77;
  shown.at = {78, kNow - std::chrono::seconds(3)};
  shown.etag = "\"5\"";
  shown.rendering = {"2024-07-01", policy::kept_body("{\"a\":1}", true)};
  const Told told = passed_on(Told{{3, 4}, shown});
  const auto& read = std::get<policy::StateShown>(told.event);
  EXPECT_EQ(told.resource, (Hash128{3, 4}));
  EXPECT_EQ(read.client, shown.client);
  EXPECT_EQ(read.as, shown.as);
  EXPECT_EQ(read.asked, 77u);
  EXPECT_EQ(read.at.order, 78u);
  EXPECT_EQ(read.at.time, kThere - std::chrono::seconds(3)) << "points in time are told as distances";
  EXPECT_EQ(read.etag, "\"5\"");
  EXPECT_EQ(read.rendering.body->bytes, "{\"a\":1}");
  EXPECT_TRUE(read.rendering.body->is_partial);
}

TEST(ClusterCodec, EveryEventOfAHistoryComesBackAsItself) {
  const policy::Event events[] = {policy::StateShown{},      policy::NotModified{},     policy::WriteAccepted{},
                                  policy::OperationEnded{},  policy::ResourceDeleted{}, policy::Found{},
                                  policy::ResourceCreated{}, policy::WriteArrived{},    policy::WriteLeft{},
                                  policy::Refused{},         policy::AnswerLost{},      policy::RightUsed{}};
  for (const auto& event : events) EXPECT_EQ(passed_on(Told{{}, event}).event.index(), event.index());
}

TEST(ClusterCodec, ABodyThatStandsInTheLogIsToldByItsHash) {
  policy::StateShown shown;
  shown.etag = "\"5\"";
  shown.rendering.api_version = "2024-07-01";
  const ShownAgain again = passed_on(ShownAgain{{3, 4}, shown, {5, 6}, policy::kept_body("it stays in the process")});
  EXPECT_EQ(again.resource, (Hash128{3, 4}));
  EXPECT_EQ(again.shown.etag, "\"5\"");
  EXPECT_EQ(again.shown.rendering.api_version, "2024-07-01");
  EXPECT_EQ(again.body, (Hash128{5, 6}));
  EXPECT_EQ(again.itself, nullptr);
  ListAnswer page;
  page.scope.id = "/g";
  const PageShownAgain list = passed_on(PageShownAgain{{1, 2}, page, {7, 8}, policy::kept_body("this too")});
  EXPECT_EQ(list.client, (Hash128{1, 2}));
  EXPECT_EQ(list.page.scope.id, "/g");
  EXPECT_EQ(list.body, (Hash128{7, 8}));
  EXPECT_EQ(list.itself, nullptr);
}

// A replica of the version before reads the one, and does not misread the others.
TEST(ClusterCodec, ARowIsOfTheOldestFormatThatHasWhatIsInIt) {
  const std::string old = encode({Told{{}, policy::StateShown{}}, PageShown{}, AbortTaken{}}, kNow);
  EXPECT_EQ(old.front(), 5);
  EXPECT_TRUE(decode(old, kThere).has_value());
  EXPECT_EQ(encode({Told{{}, policy::StateShown{}}, ShownAgain{}}, kNow).front(), 6);
  EXPECT_EQ(encode({PageShownAgain{}}, kNow).front(), 6);
  const std::string by_post = encode({ShownAgain{}, Told{{1, 2}, policy::ShownByPost{}}}, kNow);
  EXPECT_EQ(by_post.front(), 7);
  const auto read = decode(by_post, kThere);
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(std::holds_alternative<policy::ShownByPost>(std::get<Told>(read->back()).event));
}

TEST(ClusterCodec, WhatIsNotSetStaysSo) {
  policy::WriteAccepted accepted;
  accepted.merged.emplace().at = TimePoint::min();
  const Told told = passed_on(Told{{}, accepted});
  const auto& read = std::get<policy::WriteAccepted>(told.event);
  EXPECT_EQ(read.requested_body, nullptr);
  ASSERT_TRUE(read.merged.has_value());
  EXPECT_EQ(read.merged->at, TimePoint::min()) << "no point in time, and none elsewhere";
  EXPECT_FALSE(std::get<policy::Refused>(passed_on(Told{{}, policy::Refused{}}).event).took_back.has_value());
}

TEST(ClusterCodec, AnAnswerKeepsItsFieldsInOrder) {
  SendingEvent event;
  event.what = SendingEvent::What::Ended;
  event.asking = {5, 6};
  arm::Response answer;
  answer.head.status = 201;
  answer.head.fields.add("ETag", "\"1\"");
  answer.head.fields.add("Azure-AsyncOperation", "https://x/");
  answer.body = "{}";
  event.ending.kind = SendingLedger::Ending::Kind::Accepted;
  event.ending.answer = std::make_shared<const arm::Response>(answer);
  const SendingEvent read = passed_on(event);
  EXPECT_EQ(read.asking.number, 6u);
  ASSERT_NE(read.ending.answer, nullptr);
  EXPECT_EQ(read.ending.answer->head.status, 201);
  EXPECT_EQ(read.ending.answer->head.fields.get("azure-asyncoperation"), "https://x/");
  EXPECT_EQ((*read.ending.answer->head.fields.begin()).name, "ETag");
}

TEST(ClusterCodec, AClaimKeepsItsKeysAndTheirModes) {
  Claimed claimed;
  claimed.claim = (uint64_t{7} << 32) | 1;
  claimed.keys = {{"/a", rules::LockMode::Shared}, {"/b", rules::LockMode::Exclusive}};
  claimed.info.is_reentrant = true;
  claimed.info.run_purpose = "a repair";
  claimed.info.priority = ClaimInfo::Priority::InTurn;
  claimed.info.is_turn = true;
  claimed.info.resource = {3, 4};
  const Claimed read = passed_on(claimed);
  EXPECT_EQ(read.keys, claimed.keys);
  EXPECT_EQ(read.claim, claimed.claim);
  EXPECT_TRUE(read.info.is_reentrant);
  EXPECT_EQ(read.info.run_purpose, "a repair");
  EXPECT_EQ(read.info.priority, ClaimInfo::Priority::InTurn);
  EXPECT_TRUE(read.info.is_turn);
  EXPECT_EQ(read.info.resource, (Hash128{3, 4}));
}

TEST(ClusterCodec, AResultKeepsItsErrorAndItsNames) {
  const WallTime when{std::chrono::milliseconds(77)};
  const OperationResult bad{arm::Progress::Failed, {"Bad", "Worse"}};
  const auto seen = passed_on(ResultSeen{{1, 2}, "/r", "a/b", "PUT", "one", {3, 4}, 5, bad, kNow, when});
  EXPECT_EQ(seen.resource, (Hash128{1, 2}));
  EXPECT_EQ(seen.id + " " + seen.type + " " + seen.method + " " + seen.client, "/r a/b PUT one");
  EXPECT_EQ(seen.request_hash, (Hash128{3, 4}));
  EXPECT_EQ(seen.intent, 5u);
  EXPECT_EQ(seen.result.how, arm::Progress::Failed);
  EXPECT_EQ(seen.result.error, bad.error);
  EXPECT_EQ(seen.at, kThere);
  EXPECT_EQ(seen.when, when);
  const auto finished = passed_on(Finished{6, when, EndSeen::Yes, bad});
  EXPECT_EQ(finished.intent, 6u);
  EXPECT_EQ(finished.seen, EndSeen::Yes);
  EXPECT_EQ(finished.when, when);
  EXPECT_EQ(finished.result.error, bad.error);
  EXPECT_EQ(passed_on(Settled{7, {}, "/tags"}).touched, "/tags");
  EXPECT_EQ(passed_on(StateSeen{{1, 2}, "/r", "Updating", when}).state, "Updating");
  EXPECT_EQ(passed_on(Imported{when}).since, when);
  EXPECT_EQ(passed_on(Probing{{1, 2}, 8}).judged, 8u);
  EXPECT_EQ(passed_on(AbortTaken{{1, 2}}).key, (Hash128{1, 2}));
  const auto asked = passed_on(UnlockAsked{{1, 2}, "ops"});
  EXPECT_EQ(asked.key, (Hash128{1, 2}));
  EXPECT_EQ(asked.who, "ops");
  const auto told = passed_on(EndTold{"h", "/1", 200, "{}"});
  EXPECT_EQ(told.host + told.target + told.body, "h/1{}");
  EXPECT_EQ(told.status, 200);
  EXPECT_EQ(passed_on(OwnedPolled{{1, 2}, {3, 4}}).principal, (Hash128{3, 4}));
  EXPECT_EQ(passed_on(OwnedLeft{{1, 2}}).operation, (Hash128{1, 2}));
  EXPECT_EQ(passed_on(Reserved{7}).claim, 7u);
  EXPECT_EQ(passed_on(Yielded{7}).claim, 7u);
}

TEST(ClusterCodec, WhatIsCutShortOrOfAnotherFormatIsNotRead) {
  const std::string whole = encode({Event(PageLost{{1, 2}, 3}), Event(Finished{9})}, kNow);
  ASSERT_TRUE(decode(whole, kNow).has_value());
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(decode(whole.substr(0, size), kNow).has_value()) << size;
  EXPECT_FALSE(decode(whole + '\0', kNow).has_value());
  std::string other = whole;
  for (const char format : {1, 4, 8}) {
    other[0] = format;
    EXPECT_FALSE(decode(other, kNow).has_value()) << int{format};
  }
}

}  // namespace
}  // namespace armgate::cluster
