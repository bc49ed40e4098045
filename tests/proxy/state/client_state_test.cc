#include "proxy/state/client_state.h"

#include <gtest/gtest.h>

#include "tests/proxy/state/client_events.h"

namespace armgate {
namespace {

using policy::Actor;
using policy::Confirmation;
using policy::DeliveryKind;

// ---- what was delivered

TEST(ClientState, ABaseIsChosenFromWhatWasDelivered) {
  Events client;
  EXPECT_EQ(client.bind(kNet).base.rule, policy::BaseRule::Blind);
  client.read(kNet, "a");
  EXPECT_EQ(client.bind(kNet).base.etag, "a");
  EXPECT_EQ(client.bind(kOther).base.rule, policy::BaseRule::Blind) << "resources are apart";
}

TEST(ClientState, A304IsADeliveryOfItsState) {
  Events client;
  client.read(kNet, "a");
  client.read(kNet, "b");
  client.state.record_not_modified(kNet, "a", "2025-05-01", client.delivery());
  EXPECT_EQ(client.bind(kNet, Actor::Single).base.etag, "a");
  client.state.record_not_modified(kNet, "unknown", "2025-05-01", client.delivery());
  client.state.record_not_modified(kOther, "a", "2025-05-01", client.delivery());
  EXPECT_EQ(client.state.versions(kNet).size(), 2u);
  EXPECT_TRUE(client.state.versions(kOther).empty());
}

TEST(ClientState, WhatIsPendingIsNotTheNewestUntilItIsConfirmed) {
  Events client;
  client.read(kNet, "a");
  const uint64_t order = client.read(kNet, "b", Confirmation::Pending);
  EXPECT_EQ(client.bind(kNet, Actor::Single).base.etag, "a");
  client.state.confirm(kNet, order);
  EXPECT_EQ(client.bind(kNet, Actor::Single).base.etag, "b");
}

TEST(ClientState, EverythingIsForgottenAfterTheObservationAge) {
  Events client;
  client.read(kNet, "a");
  client.pass(client.options.observation_age + seconds(1));
  EXPECT_EQ(client.bind(kNet).base.rule, policy::BaseRule::Blind);
  EXPECT_TRUE(client.state.versions(kNet).empty());
}

TEST(ClientState, AResendOfBytesThatNothingWasKnownAboutTakesWhatWasShownMeanwhile) {
  Events client;
  const Hash128 bytes{1, 2};
  const Bound first = client.bind(kNet, Actor::Many, {}, bytes);
  EXPECT_EQ(first.base.rule, policy::BaseRule::Blind);
  client.state.leave(first.binding, BindingPhase::Undelivered, client.now());
  client.read(kNet, "a");
  const Bound again = client.bind(kNet, Actor::Many, {}, bytes);
  EXPECT_TRUE(again.resend);
  EXPECT_EQ(again.base.etag, "a");
  client.state.leave(again.binding, BindingPhase::Undelivered, client.now());
  client.read(kNet, "b");
  EXPECT_EQ(client.bind(kNet, Actor::Many, {}, bytes).base.etag, "a") << "once bound it stays";
}

TEST(ClientState, AnAcceptedWriteUsesItsBaseUpAndARefusedOneKillsIt) {
  Events client;
  client.read(kNet, "a");
  Bound bound = client.bind(kNet);
  client.state.consume(kNet, bound, {"", "", client.tick()});
  EXPECT_EQ(client.bind(kNet).base.rule, policy::BaseRule::Refused);
  client.read(kNet, "b");
  bound = client.bind(kNet);
  client.state.refuse(kNet, bound.base);
  EXPECT_EQ(client.bind(kNet).base.rule, policy::BaseRule::Refused);
}

TEST(ClientState, ARefusalIsForTheEtagThatWasSentNotForANewerOneOfTheSameContent) {
  Events client;
  client.read(kNet, "a");
  const Bound bound = client.bind(kNet);
  const uint64_t version = client.state.versions(kNet).front().id;
  policy::Observation again;
  again.etag = "moved";
  again.delivery = client.delivery();
  client.state.record(kNet, std::move(again), version);
  client.state.refuse(kNet, bound.base);
  EXPECT_EQ(client.bind(kNet).base.etag, "moved");
}

// ---- pages

TEST(ClientState, APageIsOfferedForItsItemsUntilTheyWereTaken) {
  Events client;
  const uint64_t order = client.page(kScope, "[...]");
  ASSERT_EQ(client.state.pages_for(kNetId, kNet).size(), 1u);
  EXPECT_TRUE(client.state.pages_for({kScope + "2/x", kNetType}, kOther).empty()) << "another group";
  EXPECT_TRUE(client.state.pages_for({kNetId.id, "microsoft.network/routetables"}, kNet).empty()) << "another type";
  client.take(kNet, "a", order);
  EXPECT_TRUE(client.state.pages_for(kNetId, kNet).empty());
  EXPECT_EQ(client.state.pages_for(kNetId, kOther).size(), 1u) << "other items of it are still to be taken";
}

TEST(ClientState, ConfirmingAPageConfirmsWhatWasTakenFromItBeforeAndAfter) {
  Events client;
  client.read(kNet, "old");
  client.read(kOther, "old");
  const uint64_t order = client.page(kScope, "[...]", Confirmation::Pending);
  client.take(kNet, "new", order);
  client.state.confirm_page(order);
  client.take(kOther, "new", order);
  for (const auto& resource : {kNet, kOther}) {
    const auto versions = client.state.versions(resource);
    ASSERT_EQ(versions.size(), 2u);
    EXPECT_EQ(versions[1].deliveries[0].confirmation, Confirmation::Confirmed);
  }
}

TEST(ClientState, PagesAreBoundedAndTheLossIsCounted) {
  Events client;
  for (size_t i = 0; i < client.options.pages_max + 3; ++i) client.page(kScope, "[...]");
  EXPECT_EQ(client.state.pages_for(kNetId, kNet).size(), client.options.pages_max);
  EXPECT_EQ(client.budget.bodies_evicted.load(), 3u);
}

// ---- budgets

TEST(ClientState, BytesAreAccountedForThroughEverythingThatHappens) {
  ClientState::SharedBudget budget;
  {
    Events client({}, &budget);
    const auto kept = [&] {
      size_t bytes = 0;
      for (const auto& version : client.state.versions(kNet))
        bytes += version.rendering_for("").body ? version.rendering_for("").body->bytes.size() : 0;
      return bytes;
    };
    for (int i = 0; i < 70; ++i) client.read(kNet, "e" + std::to_string(i));  // beyond what a view holds
    EXPECT_EQ(budget.body_bytes.load(), kept());
    client.state.record_absent(kNet, client.delivery());  // pushes one more out
    EXPECT_EQ(budget.body_bytes.load(), kept());
    client.state.record_not_modified(kNet, "e60", "2025-05-01", client.delivery());
    EXPECT_EQ(budget.body_bytes.load(), kept());
    client.pass(client.options.observation_age + seconds(1));
    client.bind(kNet);  // forgets what is too old
    EXPECT_EQ(budget.body_bytes.load(), kept());
    EXPECT_EQ(budget.body_bytes.load(), 0u);
    client.page(kScope, "[...]");
    EXPECT_EQ(budget.body_bytes.load(), 5u);
  }
  EXPECT_EQ(budget.body_bytes.load(), 0u) << "a client that is forgotten gives everything back";
}

TEST(ClientState, OverItsBudgetBodiesGoFirstAndTheEtagsStay) {
  ClientState::Options options;
  options.body_bytes_max = 100;
  Events client(options);
  for (uint64_t i = 1; i <= 20; ++i) client.read({i, i}, "e" + std::to_string(i));
  EXPECT_LE(client.budget.body_bytes.load(), 100u);
  EXPECT_GT(client.budget.bodies_evicted.load(), 0u);
  EXPECT_EQ(client.budget.views_evicted.load(), 0u);
  EXPECT_EQ(client.state.versions({1, 1})[0].rendering_for("").body, nullptr) << "the least recently used";
  EXPECT_NE(client.state.versions({20, 20})[0].rendering_for("").body, nullptr);
  EXPECT_EQ(client.bind({1, 1}).base.etag, "e1");
}

TEST(ClientState, OneBodyAboveTheWholeBudgetIsNotKeptAndCounted) {
  ClientState::Options options;
  options.body_bytes_max = 3;
  Events client(options);
  client.read(kNet, "long");
  EXPECT_EQ(client.budget.body_bytes.load(), 0u);
  EXPECT_EQ(client.budget.bodies_evicted.load(), 1u);
  EXPECT_EQ(client.bind(kNet).base.etag, "long");
}

TEST(ClientState, TheCommonBudgetCountsToo) {
  ClientState::SharedBudget budget;
  budget.body_bytes_max = 10;
  Events other({}, &budget);
  other.read(kNet, "a");
  Events client({}, &budget);
  for (uint64_t i = 1; i <= 20; ++i) client.read({i, i}, "e" + std::to_string(i));
  EXPECT_LE(budget.body_bytes.load(), 10u);
}

TEST(ClientState, ViewsAreBoundedWhetherTheyComeFromReadsOrFromWrites) {
  ClientState::Options options;
  options.views_max = 4;
  Events client(options);
  for (uint64_t i = 1; i <= 10; ++i) client.read({i, i}, "e");
  EXPECT_EQ(client.budget.views_evicted.load(), 6u);
  for (uint64_t i = 11; i <= 20; ++i) client.bind({i, i});  // writes that ARM never accepts
  EXPECT_EQ(client.budget.views_evicted.load(), 16u);
}

TEST(ClientState, AResourceThatIsBeingWrittenIsNotForgotten) {
  ClientState::Options options;
  options.views_max = 2;
  Events client(options);
  client.read(kNet, "a");
  const uint64_t write = client.state.begin_write(kNet, "", client.now());
  for (uint64_t i = 1; i <= 10; ++i) client.read({i, i}, "e");
  EXPECT_EQ(client.state.versions(kNet).size(), 1u);
  client.state.end_write(kNet, write);
  client.read({50, 50}, "e");
  EXPECT_TRUE(client.state.versions(kNet).empty());
}

}  // namespace
}  // namespace armgate
