// Goal: whatever becomes of a write, its client gets one whole answer that says what happened, and others get it no later than that.
// Method: the pipeline between a scripted client and a scripted ARM.
#include "proxy/request/write/serve_write.h"

#include <gtest/gtest.h>

#include "tests/proxy/request/write/named.h"

namespace armgate::serve_write_test {
namespace {

using std::chrono::seconds;
using world::etag;
using world::get;
using world::kNetwork;
using world::put;
using world::says;
using world::StageRig;

constexpr const char* kBody = R"({"tags":{"team":"a"}})";
constexpr const char* kOtherBody = R"({"tags":{"team":"b"}})";

struct End {
  int of_arm;          // 0: the connection broke
  int of_armgate;      // what its client gets
  bool is_arms_words;  // the body as well
};

TEST(ServeWrite, EveryEndIsOneWholeAnswerWithItsAttempts) {
  const End ends[] = {{200, 200, true}, {201, 201, true}, {400, 400, true},
                      {403, 403, true}, {404, 404, true}, {0, 409, false}};
  for (const End& end : ends) {
    StageRig rig;
    if (end.of_arm == 0) {
      rig.arm_fails(put(kNetwork), Sent::Maybe);
      rig.arm(get(kNetwork), 403, {}, "{}");  // nothing shows what became of it
    } else {
      rig.arm(put(kNetwork), end.of_arm, {{"x-ms-request-id", "of-arm"}}, R"({"error":{"code":"Odd","message":"m"}})");
    }
    const auto running = rig.start("one", put(kNetwork), kBody);
    rig.run_until([&] { return running->done; });
    const arm::Response& answer = running->link->answer();
    EXPECT_EQ(answer.head.status, end.of_armgate) << end.of_arm;
    EXPECT_EQ(says(answer, "\"Odd\""), end.is_arms_words) << end.of_arm;
    EXPECT_EQ(answer.head.fields.get("x-ms-request-id"), end.is_arms_words ? "of-arm" : "") << end.of_arm;
    EXPECT_EQ(answer.head.fields.get("x-armgate-attempts"), "1") << end.of_arm;
    EXPECT_EQ(running->link->heads_written(), 1) << end.of_arm;
    EXPECT_EQ(running->link->ends_written(), 1) << end.of_arm;
    EXPECT_TRUE(running->link->body_fits()) << end.of_arm;
    EXPECT_EQ(running->link->exchange.status, end.of_armgate);
    EXPECT_TRUE(running->link->exchange.delivered);
    EXPECT_TRUE(rig.script_is_done());
  }
}

// Whoever only half-closes can still read that nothing was sent.
TEST(ServeWrite, WhoLeavesWhileItWaitsIsToldThatNothingWasSent) {
  StageRig rig;
  rig.arm_takes(seconds(9), put(kNetwork), 200, etag("\"1\""), kBody);
  const auto first = rig.start("one", put(kNetwork), kBody);
  rig.run_until([&] { return rig.seen().size() == 1; });
  const auto second = rig.start("two", put(kNetwork), kOtherBody);
  rig.pass(seconds(3));
  EXPECT_FALSE(second->done);
  second->link->leave(world::Leaving::HalfClosed);
  rig.run_until([&] { return second->done; });
  EXPECT_FALSE(first->done);
  const arm::Response& answer = second->link->answer();
  EXPECT_EQ(answer.head.status, 503);
  EXPECT_TRUE(says(answer, "The client closed its side while the request waited. Nothing was sent"));
  EXPECT_EQ(answer.head.fields.get("x-armgate-waited-ms"), "3000");
  EXPECT_EQ(answer.head.fields.get("x-armgate-attempts"), "0");
  rig.run_until([&] { return first->done; });
  EXPECT_EQ(rig.seen().size(), 1u);
}

TEST(ServeWrite, WhoWaitsTooLongIsToComeAgainAndKeepsNobodyFromHisTurn) {
  auto options = StageRig::default_options();
  options.wait_max = seconds(5);
  StageRig rig(options);
  rig.arm_takes(seconds(9), put(kNetwork), 200, etag("\"1\""), kBody);
  const auto first = rig.start("one", put(kNetwork), kBody);
  rig.run_until([&] { return rig.seen().size() == 1; });
  const arm::Response busy = rig.ask("two", put(kNetwork), kOtherBody);
  EXPECT_EQ(busy.head.status, 503);
  EXPECT_EQ(busy.head.fields.get("retry-after"), "2");
  EXPECT_EQ(rig.seen().size(), 1u);
  rig.run_until([&] { return first->done; });
  rig.arm(get(kNetwork), 200, etag("\"1\""), kBody);
  rig.ask("two", get(kNetwork));
  rig.arm(put(kNetwork), 200, etag("\"2\""), kOtherBody);
  EXPECT_EQ(rig.ask("two", put(kNetwork), kOtherBody).head.status, 200);
}

// Those who ask for the same get the answer as soon as it is known, however slowly the first one takes it.
TEST(ServeWrite, AnAnswerIsSharedBeforeItIsDelivered) {
  StageRig rig;
  rig.pass(seconds(2));
  const arm::Headers name = world::named(rig, "a");
  rig.arm_takes(seconds(2), put(kNetwork), 200, etag("\"1\""), kBody);
  const auto first = rig.start("one", put(kNetwork), kBody, name);
  first->link->read_slowly(seconds(100));
  rig.run_until([&] { return rig.seen().size() == 1; });
  const auto same = rig.start("one", put(kNetwork), kBody, name);
  rig.run_until([&] { return same->done; });
  EXPECT_FALSE(first->done);
  EXPECT_EQ(same->link->answer().head.status, 200);
  EXPECT_EQ(same->link->answer().body, kBody);
  rig.run_until([&] { return first->done; });
  EXPECT_EQ(first->link->answer().body, kBody);
  EXPECT_EQ(rig.seen().size(), 1u) << "sent once";
}

// Its key is free when ARM has answered: a client that does not read must not hold it.
TEST(ServeWrite, WhoTakesItsAnswerSlowlyHoldsNobodyUp) {
  StageRig rig;
  rig.arm(put(kNetwork), 200, etag("\"1\""), kBody);
  rig.arm(get(kNetwork), 200, etag("\"1\""), kBody);
  rig.arm(put(kNetwork), 200, etag("\"2\""), kOtherBody);
  const auto first = rig.start("one", put(kNetwork), kBody);
  first->link->read_slowly(seconds(100));
  rig.run_until([&] { return rig.seen().size() == 1; });
  rig.ask("two", get(kNetwork));
  EXPECT_EQ(rig.ask("two", put(kNetwork), kOtherBody).head.status, 200);
  EXPECT_FALSE(first->done);
}

// What a client was shown counts as the base of its next write only if it has it.
TEST(ServeWrite, AnAnswerThatIsLostIsNotDelivered) {
  StageRig rig;
  rig.arm(put(kNetwork), 200, etag("\"1\""), kBody);
  const auto running = rig.start("one", put(kNetwork), kBody);
  running->link->lose_answer();
  rig.run_until([&] { return running->done; });
  EXPECT_FALSE(running->link->complete());
  EXPECT_EQ(rig.seen().size(), 1u);
  running->receipt.drop();
  const arm::Response again = rig.ask("one", put(kNetwork), kBody);
  EXPECT_EQ(again.head.status, 200);
  EXPECT_EQ(again.head.fields.get("x-armgate-replayed"), "true");
  EXPECT_EQ(rig.seen().size(), 1u) << "sent once";
}

}  // namespace
}  // namespace armgate::serve_write_test
