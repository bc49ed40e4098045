// What a client's own writes leave behind: bindings, refusals, overlaps, doubts.
#include <gtest/gtest.h>

#include "tests/proxy/state/client_events.h"

namespace armgate {
namespace {

using policy::Actor;
using policy::BaseRule;
using policy::Confirmation;
using Final = ClientState::Final;

constexpr Hash128 kBytes{9, 9};

// ---- bound to the bytes

TEST(ClientWrites, AReSendKeepsItsBaseWhateverWasDeliveredInBetween) {
  Events client;
  client.read(kNet, "a");
  const Bound first = client.bind(kNet, Actor::Single, "x", kBytes);
  client.state.note_visibility_try(first.binding);
  client.state.leave(first.binding, BindingPhase::Expected, client.now());
  client.read(kNet, "b");
  const Bound again = client.bind(kNet, Actor::Single, "x", kBytes);
  EXPECT_TRUE(again.resend);
  EXPECT_EQ(again.base.etag, "a");
  EXPECT_EQ(again.first_arrival.order, first.first_arrival.order);
  EXPECT_EQ(again.visibility_tries, 1);
}

TEST(ClientWrites, UnderAnotherIdOnlyADeliveredReadMakesTheBytesNew) {
  struct Case {
    const char* name;
    Confirmation confirmation;
    const char* etag;
  };
  for (const auto& c : {Case{"delivered", Confirmation::Confirmed, "b"}, Case{"pending", Confirmation::Pending, "a"}}) {
    Events client;
    client.read(kNet, "a");
    const Bound first = client.bind(kNet, Actor::Single, "x", kBytes);
    client.state.leave(first.binding, BindingPhase::Expected, client.now());
    client.read(kNet, "b", c.confirmation);
    EXPECT_EQ(client.bind(kNet, Actor::Single, "y", kBytes).base.etag, c.etag) << c.name;
  }
}

TEST(ClientWrites, AfterADeliveredFinalAnswerTheSameBytesAreNew) {
  Events client;
  client.read(kNet, "a");
  const Bound first = client.bind(kNet, Actor::Single, "x", kBytes);
  client.finish(first, Final::Plain);
  client.read(kNet, "b");
  const Bound again = client.bind(kNet, Actor::Single, "x", kBytes);
  EXPECT_FALSE(again.resend);
  EXPECT_EQ(again.base.etag, "b");
}

TEST(ClientWrites, WhatMayHaveTakenEffectIsRememberedForTheReSend) {
  Events client;
  const Bound first = client.bind(kNet, Actor::Many, "x", kBytes);
  EXPECT_FALSE(client.state.maybe_applied(first.binding));
  client.state.note_maybe_applied(first.binding);
  client.state.leave(first.binding, BindingPhase::Undelivered, client.now());
  EXPECT_TRUE(client.state.maybe_applied(client.bind(kNet, Actor::Many, "x", kBytes).binding));
}

TEST(ClientWrites, WhileOneOfTwoReSendsIsWorkedOnTheBindingStays) {
  Events client;
  const Bound first = client.bind(kNet, Actor::Many, "x", kBytes);
  const Bound second = client.bind(kNet, Actor::Many, "x", kBytes);
  ASSERT_EQ(first.binding, second.binding);
  client.finish(first, Final::Plain);
  EXPECT_TRUE(client.bind(kNet, Actor::Many, "x", kBytes).resend);
}

TEST(ClientWrites, BytesThatAreAcceptedTwiceUseUpOneDelivery) {
  Events client;
  client.read(kNet, "a");
  client.read(kNet, "a");
  const Bound first = client.bind(kNet, Actor::Many, "x", kBytes);
  client.state.consume(kNet, first, {"x", "", client.tick()});
  client.state.leave(first.binding, BindingPhase::Undelivered, client.now());
  const Bound again = client.bind(kNet, Actor::Many, "x", kBytes);
  client.state.consume(kNet, again, {"x", "", client.tick()});
  EXPECT_EQ(client.bind(kNet).base.etag, "a") << "another actor holds the other";
}

// ---- refusals

TEST(ClientWrites, RefusedBytesWaitForAReadAndThenBuildOnIt) {
  Events client;
  client.read(kNet, "a");
  const Bound first = client.bind(kNet, Actor::Many, "", kBytes);
  client.state.refuse(kNet, first.base);
  client.finish(first, Final::Refused);
  const Bound second = client.bind(kNet, Actor::Many, "", kBytes);
  EXPECT_EQ(second.base.rule, BaseRule::Refused);
  client.finish(second, Final::Refused);
  client.read(kNet, "b");
  const Bound third = client.bind(kNet, Actor::Many, "", kBytes);
  EXPECT_EQ(third.base.rule, BaseRule::SinceRefusal);
  EXPECT_EQ(third.base.etag, "b");
  client.finish(third, Final::Plain);
  EXPECT_NE(client.bind(kNet, Actor::Many, "", kBytes).base.rule, BaseRule::SinceRefusal) << "an accepted write settles it";
}

TEST(ClientWrites, InsistenceCountsFromTheFirstRefusal) {
  Events client;
  client.read(kNet, "a");
  client.state.refuse(kNet, client.bind(kNet).base);
  for (int minute = 0; minute < 5; ++minute) {
    const Bound bound = client.bind(kNet, Actor::Many, "", kBytes);
    EXPECT_EQ(bound.base.rule, BaseRule::Refused) << minute;
    client.finish(bound, Final::Refused);
    client.pass(minutes(1));
  }
  EXPECT_EQ(client.bind(kNet, Actor::Many, "", kBytes).base.rule, BaseRule::Insisted);
}

TEST(ClientWrites, RefusalsAreBoundedAndTheOldestGoes) {
  ClientState::Options options;
  options.refusals_max = 2;
  Events client(options);
  client.read(kNet, "a");
  for (uint64_t i = 1; i <= 3; ++i) client.finish(client.bind(kNet, Actor::Many, "", Hash128{50, i}), Final::Refused);
  EXPECT_EQ(client.bind(kNet, Actor::Many, "", Hash128{50, 1}).base.rule, BaseRule::OnlyLive) << "forgotten";
  EXPECT_EQ(client.bind(kNet, Actor::Many, "", Hash128{50, 3}).base.rule, BaseRule::Refused);
}

// ---- overlaps

TEST(ClientWrites, TwoWritesThatOverlapAreNotOneActors) {
  Events client;
  client.read(kNet, "a");
  client.read(kNet, "b");
  const uint64_t first = client.state.begin_write(kNet, "", client.now());
  EXPECT_EQ(client.bind(kNet, Actor::Single).base.etag, "a") << "the second one itself counts already";
  client.state.end_write(kNet, first);
  EXPECT_EQ(client.bind(kNet, Actor::Single).base.etag, "a");
  client.pass(client.options.base.think_max);
  EXPECT_EQ(client.bind(kNet, Actor::Single).base.etag, "b");
}

TEST(ClientWrites, WritesOneAfterTheOtherDoNotOverlap) {
  Events client;
  client.read(kNet, "a");
  client.read(kNet, "b");
  client.state.end_write(kNet, client.state.begin_write(kNet, "x", client.now()));
  client.state.end_write(kNet, client.state.begin_write(kNet, "x", client.now()));
  client.state.begin_write(kOther, "x", client.now());
  EXPECT_EQ(client.bind(kNet, Actor::Single).base.etag, "b");
}

TEST(ClientWrites, AWriteIsUnderWayFromTheChoiceOfItsBaseOn) {
  Events client;
  client.read(kNet, "a");
  const Bound first = client.begin(kNet, Actor::Single);
  ASSERT_TRUE(first.under_way.has_value());
  EXPECT_EQ(first.base.etag, "a");
  client.read(kNet, "b");
  const Bound second = client.begin(kNet, Actor::Single);
  EXPECT_EQ(second.base.etag, "a") << "who overlaps with another is not the one actor who has seen the newest";
  client.state.end_write(kNet, *first.under_way);
  client.state.end_write(kNet, *second.under_way);
  EXPECT_FALSE(client.begin(kOther, Actor::Single, "x", kBytes).resend);
  EXPECT_FALSE(client.begin(kOther, Actor::Single, "x", kBytes).under_way.has_value()) << "a re-send is under way already";
}

TEST(ClientWrites, ARequestIdUnderWhichTwoWritesOverlapProvesNothing) {
  Events client;
  auto seen = client.delivery();
  seen.request_id = "x";
  client.state.record(kNet, {"a", nullptr, "/r", "v", seen}, std::nullopt);
  EXPECT_EQ(client.bind(kNet, Actor::Many, "x").base.rule, BaseRule::RequestId);
  client.state.begin_write(kNet, "x", client.now());
  EXPECT_EQ(client.bind(kNet, Actor::Many, "y").base.rule, BaseRule::OnlyLive);
  EXPECT_EQ(client.bind(kNet, Actor::Many, "x").base.rule, BaseRule::OnlyLive) << "the second one itself counts already";
}

// ---- doubts

TEST(ClientWrites, ReSendsOfAWriteInDoubtAreRecognised) {
  struct Case {
    const char* name;
    const char* first_id;
    const char* second_id;
    ClientState::Doubt expected;
  };
  using enum ClientState::Doubt;
  const Case cases[] = {{"same id", "x", "x", InDoubt},
                        {"no ids", "", "", InDoubt},
                        {"one has none", "x", "", InDoubt},
                        {"another call by its own word", "x", "y", None}};
  for (const auto& c : cases) {
    Events client;
    client.state.note_in_doubt(kBytes, c.first_id, kNet, client.tick());
    EXPECT_EQ(client.state.doubt_of(kBytes, c.second_id, client.now()), c.expected) << c.name;
    EXPECT_EQ(client.state.doubt_of({1, 2}, c.second_id, client.now()), None) << "other bytes";
  }
}

TEST(ClientWrites, ADoubtEndsWithAReadOfItsResourceThatWasAskedForAfterwards) {
  Events client;
  const Moment before = client.tick();
  client.state.note_in_doubt(kBytes, "x", kNet, client.tick());
  client.state.resolve_doubts(kNet, before);
  EXPECT_EQ(client.state.doubt_of(kBytes, "x", client.now()), ClientState::Doubt::InDoubt) << "an older read says nothing";
  client.state.resolve_doubts(kOther, client.tick());
  EXPECT_EQ(client.state.doubt_of(kBytes, "x", client.now()), ClientState::Doubt::InDoubt) << "another resource";
  client.state.resolve_doubts(kNet, client.tick());
  EXPECT_EQ(client.state.doubt_of(kBytes, "", client.now()), ClientState::Doubt::None);
  EXPECT_EQ(client.state.doubt_of(kBytes, "x", client.now()), ClientState::Doubt::InDoubt) << "who sends it again did not read";
  client.state.note_in_doubt(kBytes, "", kNet, client.tick());
  client.state.resolve_doubts(kNet, client.tick());
  EXPECT_EQ(client.state.doubt_of(kBytes, "", client.now()), ClientState::Doubt::None);
}

TEST(ClientWrites, ADoubtThatExpiresIsToldOnce) {
  Events client;
  client.state.note_in_doubt(kBytes, "x", kNet, client.tick());
  client.pass(client.options.in_doubt_max);
  EXPECT_EQ(client.state.doubt_of(kBytes, "x", client.now()), ClientState::Doubt::InDoubt);
  client.pass(seconds(1));
  EXPECT_EQ(client.state.doubt_of(kBytes, "x", client.now()), ClientState::Doubt::Expired);
  EXPECT_EQ(client.state.doubt_of(kBytes, "x", client.now()), ClientState::Doubt::None);
}

TEST(ClientWrites, AClientIsBusyOnlyAsLongAsSomethingIsExpectedOfIt) {
  Events client;
  EXPECT_FALSE(client.state.busy(client.now()));
  const Bound bound = client.bind(kNet, Actor::Many, "x", kBytes);
  client.pass(minutes(60));
  EXPECT_TRUE(client.state.busy(client.now())) << "an exchange works on it";
  client.state.leave(bound.binding, BindingPhase::Expected, client.now());
  EXPECT_TRUE(client.state.busy(client.now())) << "it is expected again";
  client.pass(client.options.bindings.keep + seconds(1));
  EXPECT_FALSE(client.state.busy(client.now()));
  client.state.note_in_doubt(kBytes, "x", kNet, client.tick());
  EXPECT_TRUE(client.state.busy(client.now()));
  client.pass(client.options.in_doubt_max + seconds(1));
  EXPECT_FALSE(client.state.busy(client.now()));
}

}  // namespace
}  // namespace armgate
