// Goal: no write is given the ETag of a state newer than the one it was built from (promise P1), none that was built on a
// state goes without, and every decision is the one of DESIGN §3. Method: every history up to a depth, on one resource, judged by
// a world that knows what each actor holds (small_world.h) and by a model (version_model.h).
#include <gtest/gtest.h>

#include "tests/proxy/policy/small_world.h"

namespace armgate::policy {
namespace {

// The view of one client and decide_base().
class PureMemory {
 public:
  uint64_t show(const std::string& etag, int content, How how) {
    const auto same = version_of_content_.find(content);
    const uint64_t id = same == version_of_content_.end() ? shown_.show(etag, std::move(how))
                                                          : shown_.show_same(etag, same->second, std::move(how));
    version_of_content_[content] = id;
    return shown_.view.find(id)->deliveries.back().at.order;
  }
  uint64_t show_absent(How how) {
    absent_ = shown_.show_absent(std::move(how));
    return shown_.view.find(absent_)->deliveries.back().at.order;
  }
  void confirm(uint64_t order) { shown_.view.confirm(order); }
  void pass(Duration time) { shown_.pass(time); }
  void note_delete() { shown_.deleted_order = shown_.tick().order; }

  std::string choose(const VersionModel::Write& write) {
    bytes_ = write.bytes;
    auto& facts = shown_.facts;
    facts.actor = write.by_single_actor ? Actor::Single : Actor::Many;
    id_ = write.request_id;
    etag_in_body_ = write.etag_in_body;
    api_version_ = write.api_version;
    facts.api_version = api_version_;
    facts.request_id = id_;
    facts.body_etag = etag_in_body_;
    facts.refused_at = {};
    facts.refused_first = {};
    facts.refused_id = {};
    const auto refusal = refusals_.find(bytes_);
    if (refusal != refusals_.end()) {
      facts.refused_at = refusal->second.at;
      facts.refused_first = refusal->second.first;
      facts.refused_id = refusal->second.request_id;
    }
    facts.evidence.clear();
    if (write.agrees_with && version_of_content_.contains(*write.agrees_with)) {
      for (const auto& [content, version] : version_of_content_) {
        const bool agrees = content == *write.agrees_with;
        facts.evidence.push_back({version, agrees ? arm::Evidence::Agrees : arm::Evidence::Contradicts});
      }
      facts.evidence.push_back({absent_, arm::Evidence::Contradicts});
    }
    base_ = shown_.decide();
    return in_words(base_);
  }
  void accept() {
    shown_.accept(base_);
    refusals_.erase(bytes_);
  }
  void refuse() {
    const Version* version = shown_.view.find(base_.version);
    if (version != nullptr && version->etag == base_.etag) shown_.view.refuse(base_.version);
    const Moment now = shown_.tick();
    Refusal& refusal = refusals_.try_emplace(bytes_, Refusal{{}, now.time, {}}).first->second;
    refusal.at = now;
    refusal.request_id = id_;
  }
  void postpone() {}
  void note_accepted() { accepted_ = shown_.tick().order; }
  bool was_overtaken() const { return accepted_ > base_.known.order; }

 private:
  struct Refusal {
    Moment at;
    TimePoint first;
    std::string request_id;
  };
  Shown shown_;
  Base base_;
  int bytes_ = 0;
  std::string id_;
  std::string etag_in_body_;
  std::string api_version_;
  std::map<int, uint64_t> version_of_content_;
  uint64_t absent_ = 0;
  uint64_t accepted_ = 0;
  std::map<int, Refusal> refusals_;
};

Tally search(SearchPlan plan) {
  const Tally tally = Search<PureMemory>(std::move(plan)).run();
  EXPECT_EQ(tally.different, 0u) << tally.first_different;
  return tally;
}

const std::vector<Event> kReadsAndWrites{Event::Read, Event::ReadIdle, Event::ReadLost, Event::Write, Event::WriteLost};
const std::vector<int> kOneActor{0};
const std::vector<int> kTwoActors{0, 0};
const std::vector<int> kThreeActors{0, 0, 0};
const std::vector<int> kTwoClients{0, 0, 1};

TEST(BaseSearch, OneDeclaredActorIsNeverGivenANewerState) {
  auto own = kReadsAndWrites;
  own.push_back(Event::Delete);
  const auto tally =
      search({Habit::Single, kOneActor, own, {Event::OutsiderWrite, Event::OutsiderDelete, Event::Touch, Event::Think}, 5});
  EXPECT_EQ(tally.unsafe, 0u) << tally.first_unsafe;
}

TEST(BaseSearch, OneUndeclaredActorIsNeverGivenANewerState) {
  const auto tally = search({Habit::Hidden,
                             kOneActor,
                             {Event::Read, Event::ReadLost, Event::Write, Event::WriteLost},
                             {Event::OutsiderWrite, Event::Think},
                             6});
  EXPECT_EQ(tally.unsafe, 0u) << tally.first_unsafe;
}

TEST(BaseSearch, BytesThatComeAgainAfterARefusalAreAsSafeAsNewOnes) {
  for (const Habit habit : {Habit::Single, Habit::Hidden, Habit::RequestIds}) {
    const auto tally = search({habit,
                               kOneActor,
                               {Event::Read, Event::ReadIdle, Event::Confirm, Event::Write, Event::Again},
                               {Event::OutsiderWrite, Event::OutsiderDelete, Event::Think},
                               6});
    EXPECT_EQ(tally.unsafe, 0u) << tally.first_unsafe;
  }
}

TEST(BaseSearch, CommandsWithRequestIdsAreNeverGivenANewerState) {
  const auto tally = search(
      {Habit::RequestIds, kTwoActors, {Event::Read, Event::ReadLost, Event::Write}, {Event::OutsiderWrite, Event::Think}, 6});
  EXPECT_EQ(tally.unsafe, 0u) << tally.first_unsafe;
  const auto deletes = search(
      {Habit::RequestIds, kTwoClients, {Event::Read, Event::Write}, {Event::OutsiderDelete, Event::Think}, 6, BlindWrites::No});
  EXPECT_EQ(deletes.unsafe, 0u) << deletes.first_unsafe;
}

TEST(BaseSearch, ACommandThatSendsTheSameBytesAgainIsNotTakenForTheOneThatHasReadSince) {
  const auto tally = search(
      {Habit::RequestIds, kTwoActors, {Event::Read, Event::Write, Event::Again}, {Event::OutsiderWrite}, 6, BlindWrites::No});
  EXPECT_EQ(tally.unsafe, 0u) << tally.first_unsafe;
}

TEST(BaseSearch, EtagsInBodiesAreNeverReplaced) {
  const auto tally = search({Habit::EtagsInBodies,
                             kTwoActors,
                             {Event::Read, Event::ReadLost, Event::Write},
                             {Event::OutsiderWrite, Event::Touch, Event::Think},
                             6,
                             BlindWrites::No});
  EXPECT_EQ(tally.unsafe, 0u) << tally.first_unsafe;
}

// Bytes that come again are believed for insist_after only, hence no pause among these.
TEST(BaseSearch, ActorsWhoseBodiesTellThemApartAreNeverGivenANewerState) {
  const auto again = search({Habit::TellingBodies,
                             kTwoActors,
                             {Event::Read, Event::ReadLost, Event::Write, Event::Again},
                             {Event::OutsiderWrite, Event::OutsiderDelete},
                             6,
                             BlindWrites::No});
  EXPECT_EQ(again.unsafe, 0u) << again.first_unsafe;
  const auto two = search({Habit::TellingBodies,
                           kTwoActors,
                           {Event::Read, Event::ReadLost, Event::Write, Event::WriteLost},
                           {Event::OutsiderWrite, Event::OutsiderDelete, Event::Think},
                           6,
                           BlindWrites::No});
  EXPECT_EQ(two.unsafe, 0u) << two.first_unsafe;
  const auto three = search({Habit::TellingBodies,
                             kThreeActors,
                             {Event::Read, Event::Write},
                             {Event::OutsiderWrite, Event::Think},
                             6,
                             BlindWrites::No});
  EXPECT_EQ(three.unsafe, 0u) << three.first_unsafe;
}

TEST(BaseSearch, ActorsWithApiVersionsOfTheirOwnAreNeverGivenANewerState) {
  const auto two = search({Habit::ApiVersions,
                           kTwoActors,
                           {Event::Read, Event::ReadLost, Event::Write, Event::WriteLost},
                           {Event::OutsiderWrite, Event::Touch},
                           6,
                           BlindWrites::No});
  EXPECT_EQ(two.unsafe, 0u) << two.first_unsafe;
  const auto three =
      search({Habit::ApiVersions, kThreeActors, {Event::Read, Event::Write}, {Event::OutsiderWrite}, 7, BlindWrites::No});
  EXPECT_EQ(three.unsafe, 0u) << three.first_unsafe;
  const auto again = search(
      {Habit::ApiVersions, kTwoActors, {Event::Read, Event::Write, Event::Again}, {Event::OutsiderWrite}, 6, BlindWrites::No});
  EXPECT_EQ(again.unsafe, 0u) << again.first_unsafe;
}

// Whoever was told that there is nothing is refused what another has made since, however many come and however often.
TEST(BaseSearch, CreatesBehindOneNameAreNeverGivenWhatAnotherMade) {
  for (const Habit habit : {Habit::TellingBodies, Habit::RequestIds}) {
    const auto tally = search({habit, kThreeActors, {Event::Read, Event::Write}, {}, 7, BlindWrites::No, Begins::Absent});
    EXPECT_EQ(tally.unsafe, 0u) << tally.first_unsafe;
    const auto deletes = search({habit,
                                 kTwoActors,
                                 {Event::Read, Event::ReadLost, Event::Write, Event::Delete},
                                 {},
                                 6,
                                 BlindWrites::No,
                                 Begins::Absent});
    EXPECT_EQ(deletes.unsafe, 0u) << deletes.first_unsafe;
  }
  const auto clients = search(
      {Habit::TellingBodies, kTwoClients, {Event::Read, Event::Write, Event::Delete}, {}, 6, BlindWrites::No, Begins::Absent});
  EXPECT_EQ(clients.unsafe, 0u) << clients.first_unsafe;
}

// Two actors behind one name, without any evidence of who is who. While none of their writes was refused and no time has
// passed they are safe; after that the older state may be dead for both and the newer one the only one left. The bound says
// how often, so that content evidence (rule 6) has something to lower.
TEST(BaseSearch, TwoHiddenActorsAreSafeUntilARefusalOrAPause) {
  const auto tally = search({Habit::Hidden,
                             kTwoActors,
                             {Event::Read, Event::Write},
                             {Event::OutsiderWrite, Event::Touch, Event::Think},
                             6,
                             BlindWrites::No});
  EXPECT_EQ(tally.unsafe_before_refusal, 0u) << tally.first_unsafe;
  EXPECT_LE(tally.unsafe * 80, tally.histories) << "more than one in eighty";
}

// Nor are they if one of them deletes what both have read, and makes it anew: a finished delete leaves nothing older to be held to.
TEST(BaseSearch, AmongHiddenActorsADeleteIsTheOnlyOtherDanger) {
  const auto kept = search({Habit::Hidden, kTwoClients, {Event::Read, Event::Write}, {Event::Think}, 6, BlindWrites::No});
  EXPECT_EQ(kept.unsafe_before_refusal, 0u) << kept.first_unsafe;
  const auto deleted = search({Habit::Hidden, kTwoClients, {Event::Read, Event::Write, Event::Delete}, {}, 5, BlindWrites::No});
  EXPECT_LE(deleted.unsafe * 500, deleted.histories) << "more than one in five hundred";
}

}  // namespace
}  // namespace armgate::policy
