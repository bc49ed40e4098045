// Goal: what ClientState adds to the pure decision (bytes bound to their base, refusals, the confirmation of deliveries) keeps
// every decision that of DESIGN §3, and as safe. Method: as in tests/proxy/policy/base_search_test.cc.
#include <gtest/gtest.h>

#include "proxy/state/client_state.h"
#include "tests/proxy/policy/small_world.h"

namespace armgate {
namespace {

using policy::BlindWrites;
using policy::Event;
using policy::Habit;
using policy::VersionModel;

constexpr Hash128 kResource{1000, 1};

class WholeMemory {
 public:
  uint64_t show(const std::string& etag, int content, policy::How how) {
    policy::Observation seen;
    seen.etag = etag;
    seen.body = std::make_shared<policy::KeptBody>(policy::KeptBody{"{}"});
    seen.target = "/r";
    seen.api_version = how.api_version;
    seen.delivery = delivery(std::move(how));
    const uint64_t order = seen.delivery.at.order;
    const auto same = version_of_content_.find(content);
    const auto same_as = same == version_of_content_.end() ? std::nullopt : std::optional(same->second);
    version_of_content_[content] = state_.record(kResource, std::move(seen), same_as);
    return order;
  }
  uint64_t show_absent(policy::How how) {
    auto told = delivery(std::move(how));
    const uint64_t order = told.at.order;
    state_.record_absent(kResource, std::move(told));
    for (const auto& version : state_.versions(kResource)) absent_ = version.absent ? version.id : absent_;
    return order;
  }
  void confirm(uint64_t order) { state_.confirm(kResource, order); }
  void pass(Duration time) { now_ += time; }
  void note_delete() { deleted_order_ = tick().order; }

  std::string choose(const VersionModel::Write& write) {
    write_.resource = kResource;
    write_.bytes = {7, static_cast<uint64_t>(write.bytes)};
    id_ = write.request_id;
    etag_in_body_ = write.etag_in_body;
    api_version_ = write.api_version;
    write_.facts = {};
    write_.facts.api_version = api_version_;
    write_.facts.arrived = tick();
    write_.facts.request_id = id_;
    write_.facts.body_etag = etag_in_body_;
    write_.facts.actor = write.by_single_actor ? policy::Actor::Single : policy::Actor::Many;
    if (write.agrees_with && version_of_content_.contains(*write.agrees_with)) {
      for (const auto& [content, version] : version_of_content_) {
        const bool agrees = content == *write.agrees_with;
        write_.facts.evidence.push_back({version, agrees ? arm::Evidence::Agrees : arm::Evidence::Contradicts});
      }
      write_.facts.evidence.push_back({absent_, arm::Evidence::Contradicts});
    }
    bound_ = state_.bind(write_, {now_, options_.base.think_max, deleted_order_});
    return policy::in_words(bound_.base);
  }
  void note_accepted() { accepted_ = tick().order; }
  bool was_overtaken() const { return accepted_ > bound_.base.known.order; }
  void accept() {
    state_.consume(kResource, bound_, {id_, api_version_, write_.facts.arrived});
    finish(ClientState::Final::Plain);
  }
  void refuse() {
    state_.refuse(kResource, bound_.base);
    finish(ClientState::Final::Refused);
  }
  void postpone() { state_.leave(bound_.binding, BindingPhase::Expected, now_); }

 private:
  Moment tick() { return {++order_, now_}; }
  policy::Delivery delivery(policy::How how) {
    return {tick(), how.kind, how.confirmation, std::move(how.request_id), how.peer, false};
  }
  void finish(ClientState::Final final) {
    state_.leave(bound_.binding, BindingPhase::Written, now_);
    state_.confirm_written(bound_.binding, final, tick());
  }

  const ClientState::Options options_;
  ClientState::SharedBudget budget_;
  ClientState state_{options_, budget_};
  ArrivingWrite write_;
  Bound bound_;
  std::string id_;
  std::string etag_in_body_;
  std::string api_version_;
  std::map<int, uint64_t> version_of_content_;
  uint64_t order_ = 0;
  uint64_t absent_ = 0;
  uint64_t accepted_ = 0;
  uint64_t deleted_order_ = 0;
  TimePoint now_{std::chrono::hours(100)};
};

policy::Tally search(policy::SearchPlan plan) {
  const auto tally = policy::Search<WholeMemory>(std::move(plan)).run();
  EXPECT_EQ(tally.different, 0u) << tally.first_different;
  return tally;
}

const std::vector<int> kOneActor{0};
const std::vector<int> kTwoActors{0, 0};
const std::vector<int> kTwoClients{0, 0, 1};

// For as long as a re-send is waited for, hence no pause.
TEST(ClientStateSearch, PostponedBytesKeepTheirBaseWhateverIsReadMeanwhile) {
  const std::vector<Event> by_others{Event::OutsiderWrite, Event::OutsiderDelete};
  for (const Habit habit : {Habit::Single, Habit::Hidden, Habit::RequestIds}) {
    const auto tally = search({habit,
                               kOneActor,
                               {Event::Read, Event::ReadIdle, Event::Confirm, Event::Write, Event::Postpone, Event::Again},
                               by_others,
                               5});
    EXPECT_EQ(tally.unsafe, 0u) << tally.first_unsafe;
  }
  // Under a new id the bytes may have been made anew; which is believed once a read has arrived for sure.
  const auto anew =
      search({Habit::FreshIds, kOneActor, {Event::Read, Event::Write, Event::Postpone, Event::Again}, by_others, 5});
  EXPECT_EQ(anew.unsafe, 0u) << anew.first_unsafe;
}

TEST(ClientStateSearch, SoDoThoseOfOneOfTwoActors) {
  const auto ids = search({Habit::RequestIds,
                           kTwoActors,
                           {Event::Read, Event::Write, Event::Postpone, Event::Again},
                           {Event::OutsiderWrite},
                           6,
                           BlindWrites::No});
  EXPECT_EQ(ids.unsafe, 0u) << ids.first_unsafe;
  const auto bodies = search({Habit::TellingBodies,
                              kTwoActors,
                              {Event::Read, Event::Write, Event::Postpone, Event::Again},
                              {Event::OutsiderWrite},
                              6,
                              BlindWrites::No});
  EXPECT_EQ(bodies.unsafe, 0u) << bodies.first_unsafe;
}

TEST(ClientStateSearch, WhatOneClientIsShownIsNothingToAnother) {
  const auto tally = search({Habit::TellingBodies,
                             kTwoClients,
                             {Event::Read, Event::Write, Event::WriteLost},
                             {Event::OutsiderDelete, Event::Think},
                             5,
                             BlindWrites::No});
  EXPECT_EQ(tally.unsafe, 0u) << tally.first_unsafe;
}

}  // namespace
}  // namespace armgate
