#include "proxy/policy/view.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/proxy/policy/shown.h"

namespace armgate::policy {
namespace {

Observation observation(std::string etag, Moment at, Confirmation confirmation = Confirmation::Confirmed) {
  Observation seen;
  seen.etag = std::move(etag);
  seen.delivery.at = at;
  seen.delivery.confirmation = confirmation;
  return seen;
}

// ---- recording

TEST(View, KeepsDeliveriesInTheOrderOfTheirMoments) {
  View view;
  const uint64_t id = view.record(observation("a", {5, {}}), std::nullopt);
  view.record(observation("a", {9, {}}), id);
  view.record(observation("a", {7, {}}), id);  // a list item that was indexed late
  ASSERT_EQ(view.versions().size(), 1u);
  std::vector<uint64_t> orders;
  for (const auto& d : view.find(id)->deliveries) orders.push_back(d.at.order);
  EXPECT_EQ(orders, (std::vector<uint64_t>{5, 7, 9}));
}

TEST(View, AStateOfEqualContentTakesOverTheNewestEtagBodyAndUrl) {
  Shown shown;
  const uint64_t id = shown.show("a");
  EXPECT_EQ(shown.show_same("b", id), id);
  const Version& version = *shown.view.find(id);
  EXPECT_EQ(version.etag, "b");
  EXPECT_EQ(version.rendering_for("").body->bytes, "{\"b\":1}");
  EXPECT_EQ(version.rendering_for("").target, "/r?api-version=b");
  EXPECT_EQ(shown.view.find_etag("a"), &version) << "the older ETag still finds it";
}

TEST(View, AnOlderDeliveryOfEqualContentDoesNotTakeOver) {
  View view;
  const uint64_t id = view.record(observation("new", {9, {}}), std::nullopt);
  view.record(observation("old", {4, {}}), id);
  EXPECT_EQ(view.find(id)->etag, "new");
  EXPECT_NE(view.find_etag("old"), nullptr);
}

TEST(View, AnEtagThatComesBackForgetsNoneInBetween) {
  Shown shown;
  const uint64_t id = shown.show("a");
  shown.show_same("b", id);
  shown.show_same("a", id);  // read from a replica that lags
  EXPECT_NE(shown.view.find_etag("a"), nullptr);
  EXPECT_NE(shown.view.find_etag("b"), nullptr);
}

// ARM's lists of VMs carry no ETags; a known precondition must never be dropped for one.
TEST(View, ADeliveryWithoutAnEtagLeavesTheKnownEtag) {
  Shown shown;
  const uint64_t id = shown.show("a");
  shown.show_same("", id, as_list_item());
  EXPECT_EQ(shown.view.find(id)->etag, "a");
}

TEST(View, AnEtagLearntLaterBelongsToTheStateThatHadNone) {
  View view;
  const uint64_t id = view.record(observation("", {9, {}}), std::nullopt);
  view.record(observation("old", {4, {}}), id);
  EXPECT_EQ(view.find(id)->etag, "old");
}

// Two reads at once compare with the same views and both find nothing like theirs.
TEST(View, TwoDeliveriesOfOneEtagAreOneVersionHoweverTheyWereCompared) {
  View view;
  const uint64_t first = view.record(observation("a", {1, {}}), std::nullopt);
  EXPECT_EQ(view.record(observation("a", {2, {}}), std::nullopt), first);
  EXPECT_EQ(view.record(observation("a", {3, {}}), 77), first) << "the version it was compared with is gone";
  EXPECT_EQ(view.versions().size(), 1u);
}

TEST(View, StatesWithoutEtagsAreNotOneForThat) {
  View view;
  view.record(observation("", {1, {}}), std::nullopt);
  view.record(observation("", {2, {}}), std::nullopt);
  EXPECT_EQ(view.versions().size(), 2u);
}

TEST(View, AbsenceIsOneVersionOnly) {
  Shown shown;
  const uint64_t id = shown.show_absent();
  EXPECT_EQ(shown.show_absent(), id);
  EXPECT_TRUE(shown.view.find(id)->absent);
  EXPECT_EQ(shown.view.find(id)->deliveries.size(), 2u);
  EXPECT_EQ(shown.view.find_etag(""), nullptr);
}

TEST(View, EverythingIsBoundedAndTheOldestGoes) {
  View view;
  for (uint64_t i = 1; i <= View::kVersionsMax + 5; ++i) view.record(observation("e" + std::to_string(i), {i, {}}), {});
  EXPECT_EQ(view.versions().size(), View::kVersionsMax);
  EXPECT_EQ(view.find_etag("e5"), nullptr);
  EXPECT_NE(view.find_etag("e6"), nullptr);

  View deliveries;
  const uint64_t id = deliveries.record(observation("a", {1000, {}}), std::nullopt);
  for (uint64_t i = 1; i <= 200; ++i) deliveries.record(observation("old" + std::to_string(i), {i, {}}), id);
  EXPECT_GE(deliveries.find(id)->deliveries.size(), View::kDeliveriesMax);
  EXPECT_LT(deliveries.find(id)->deliveries.size(), View::kDeliveriesMax + View::kDeliveriesSlack);
  EXPECT_LE(deliveries.find(id)->older_etags.size(), View::kDeliveriesMax);
  EXPECT_EQ(deliveries.find(id)->deliveries.back().at.order, 1000u);
}

TEST(View, TheNewestDeliveriesStayAndOneThatWentDoesNotComeBack) {
  View view;
  uint64_t id = 0;
  for (uint64_t order = 10; order <= 2000; order += 10) {
    id = view.record(observation("a", {order, {}}), std::nullopt);
    const auto& kept = view.find(id)->deliveries;
    ASSERT_EQ(kept.back().at.order, order);
    const uint64_t newest_beyond = order - std::min<uint64_t>(order, 10 * View::kDeliveriesMax);
    ASSERT_EQ(std::count_if(kept.begin(), kept.end(), [&](const Delivery& d) { return d.at.order > newest_beyond; }),
              std::min<int64_t>(order / 10, View::kDeliveriesMax));
  }
  const auto sizes_with = [&](uint64_t order) {
    const size_t before = view.find(id)->deliveries.size();
    view.record(observation("a", {order, {}}), id);
    return std::pair(before, view.find(id)->deliveries.size());
  };
  const auto [before, after_one_that_went] = sizes_with(15);
  EXPECT_EQ(after_one_that_went, before);
  const auto [then, after_one_between] = sizes_with(1995);
  EXPECT_EQ(after_one_between, then + 1);
}

TEST(View, AnItemOfAListCountsOnceHoweverOftenItIsTakenFromItsPage) {
  View view;
  Observation item = observation("a", {5, {}});
  item.delivery.kind = DeliveryKind::ListItem;
  const uint64_t id = view.record(item, std::nullopt);
  view.record(observation("a", {6, {}}), id);
  EXPECT_EQ(view.record(item, std::nullopt), id);
  EXPECT_EQ(view.find(id)->deliveries.size(), 2u);
  EXPECT_EQ(view.delivered_at(5)->id, id);
  EXPECT_EQ(view.delivered_at(7), nullptr);
}

TEST(View, ExpiryForgetsDeliveriesAndThenVersions) {
  View view;
  const TimePoint start{std::chrono::hours(50)};
  const uint64_t id = view.record(observation("a", {1, start}), std::nullopt);
  view.record(observation("a", {2, start + minutes(10)}), id);
  view.expire(start + minutes(5));
  ASSERT_EQ(view.versions().size(), 1u);
  EXPECT_EQ(view.versions()[0].deliveries.size(), 1u);
  view.expire(start + minutes(11));
  EXPECT_TRUE(view.empty());
}

TEST(View, DroppingBodiesKeepsTheVersionsAndSaysHowMuchWasFreed) {
  Shown shown;
  const uint64_t id = shown.show("a");
  const size_t bytes = shown.view.body_bytes();
  EXPECT_EQ(bytes, shown.view.find(id)->rendering_for("").body->bytes.size());
  EXPECT_EQ(shown.view.drop_bodies(), bytes);
  EXPECT_EQ(shown.view.body_bytes(), 0u);
  EXPECT_EQ(shown.decide_text(), "only-live a");
}

// ---- consuming

TEST(View, AWriteUsesUpTheDeliveryOfItsOwnRequestIdOrElseOfItsOwnApiVersion) {
  struct {
    How first;
    How second;
    std::string_view request_id;
    std::string_view api_version;
  } cases[] = {
      {with_id("one"), with_id("two"), "two", ""},
      {at("old"), at("new"), "", "new"},
      {at("new"), with_id("two"), "two", "new"},
  };
  for (const auto& c : cases) {
    Shown shown;
    const uint64_t id = shown.show("a", c.first);
    shown.show("a", c.second);
    shown.view.consume(id, {c.request_id, c.api_version, shown.tick()});
    EXPECT_FALSE(shown.view.find(id)->deliveries[0].consumed);
    EXPECT_TRUE(shown.view.find(id)->deliveries[1].consumed);
    shown.view.consume(id, {c.request_id, c.api_version, shown.tick()});
    EXPECT_TRUE(shown.view.find(id)->deliveries[0].consumed) << "none of its own is left";
  }
}

TEST(View, AWriteUsesUpNoDeliveryThatCameAfterIt) {
  Shown shown;
  const uint64_t id = shown.show("a");
  const Moment arrived = shown.tick();
  shown.view.consume(id, {"", "", arrived});
  shown.show("a");
  shown.view.consume(id, {"", "", arrived});
  EXPECT_TRUE(shown.live(id)) << "the later delivery is somebody's to build on";
}

TEST(View, OneAcceptedWriteUsesUpOneDelivery) {
  Shown shown;
  const uint64_t id = shown.show("a");
  shown.show("a");
  shown.view.consume(id, {"", "", shown.tick()});
  EXPECT_TRUE(shown.live(id)) << "another actor may hold the same state";
  shown.view.consume(id, {"", "", shown.tick()});
  EXPECT_FALSE(shown.live(id));
}

// ---- living and dying

TEST(View, ARefusedVersionIsDeadAtOnceAndOnAStaleReadToo) {
  Shown shown;
  const uint64_t id = shown.show("a");
  shown.view.refuse(id);
  EXPECT_FALSE(shown.live(id));
  shown.show("a");  // a replica that lags shows it again
  EXPECT_FALSE(shown.live(id));
}

TEST(View, ANewEtagForRefusedContentLives) {
  Shown shown;
  const uint64_t id = shown.show("a");
  shown.view.refuse(id);
  shown.show_same("b", id);
  EXPECT_TRUE(shown.live(id));
}

// What was refused without an ETag was refused by comparing; shown anew, it is the state again.
TEST(View, RefusedContentWithoutAnEtagLivesWhenItIsShownAnew) {
  for (const std::string etag : {"", "b"}) {
    Shown shown;
    const uint64_t id = shown.show("");
    shown.view.refuse(id);
    EXPECT_FALSE(shown.live(id));
    shown.show_same(etag, id);
    EXPECT_TRUE(shown.live(id)) << "'" << etag << "'";
  }
}

// A refused ETag is never sent again, but its content may have come back: that is compared, not sent as If-Match.
TEST(View, RefusedContentShownAnewWithoutAnEtagLosesTheRefusedOne) {
  Shown shown;
  const uint64_t id = shown.show("a");
  shown.view.refuse(id);
  shown.show_same("", id, as_list_item());
  EXPECT_TRUE(shown.live(id));
  EXPECT_EQ(shown.view.find(id)->etag, "");
}

TEST(View, OlderVersionsDieThinkMaxAfterANewerOneWasDelivered) {
  Shown shown;
  const uint64_t a = shown.show("a");
  shown.pass(minutes(30));
  EXPECT_TRUE(shown.live(a)) << "nothing newer was delivered";
  const uint64_t b = shown.show("b");
  shown.pass(shown.limits.think_max);
  EXPECT_TRUE(shown.live(a));
  shown.pass(seconds(1));
  EXPECT_FALSE(shown.live(a));
  EXPECT_TRUE(shown.live(b));
}

TEST(View, APendingDeliveryMakesNothingDie) {
  Shown shown;
  const uint64_t a = shown.show("a");
  shown.show("b", pending());
  shown.pass(minutes(60));
  EXPECT_TRUE(shown.live(a));
  shown.view.confirm(2);
  EXPECT_FALSE(shown.live(a));
}

TEST(View, ADeliveredAbsenceOutlivesStatesAndAStateOutlivesAbsence) {
  Shown shown;
  const uint64_t a = shown.show("a");
  const uint64_t absent = shown.show_absent();
  shown.pass(minutes(6));
  EXPECT_FALSE(shown.live(a));
  EXPECT_TRUE(shown.live(absent));
  shown.show("b");
  shown.pass(minutes(6));
  EXPECT_FALSE(shown.live(absent));
}

TEST(View, AFinishedDeleteKillsWhatWasDeliveredBeforeItButNotTheAbsenceItMade) {
  Shown shown;
  const uint64_t a = shown.show("a");
  const uint64_t absent = shown.show_absent();
  shown.deleted_order = shown.tick().order;
  EXPECT_FALSE(shown.live(a));
  EXPECT_TRUE(shown.live(absent));
  const uint64_t b = shown.show("b");
  EXPECT_TRUE(shown.live(b));
}

TEST(View, AStateIsKeptAsItLooksAtEachApiVersion) {
  Shown shown;
  const uint64_t id = shown.show("a", at("old"));
  shown.show_same("b", id, at("new"));
  const Version* version = shown.view.find(id);
  EXPECT_EQ(version->rendered_at("old")->body->bytes, R"({"a":1})");
  EXPECT_EQ(version->rendered_at("new")->body->bytes, R"({"b":1})");
  EXPECT_EQ(version->rendered_at("other"), nullptr);
  EXPECT_EQ(version->rendering_for("other").target, "/r?api-version=b") << "the newest";
  EXPECT_EQ(shown.view.body_bytes(), 14u);
  for (const char* more : {"1", "2", "3", "4"}) shown.show_same("c", id, at(more));
  EXPECT_EQ(shown.view.find(id)->renderings.size(), View::kRenderingsMax);
  EXPECT_EQ(shown.view.find(id)->rendered_at("old"), nullptr);
  shown.view.drop_bodies();
  EXPECT_EQ(shown.view.body_bytes(), 0u);
}

}  // namespace
}  // namespace armgate::policy
