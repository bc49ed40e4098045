// Goal: what is relayed is sent again once, and only where that cannot be twice. Method: a table of methods and of how far they came.
#include "proxy/request/read/relay.h"

#include <gtest/gtest.h>

#include "tests/proxy/request/operation/failing_operations.h"
#include "tests/support/stage_rig.h"

namespace armgate::world::relay_test {
namespace {

// A type without rules: its actions are relayed as they come.
const std::string kSite = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Web/sites/w?api-version=2023-12-01";
const std::string kSiteRestart =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Web/sites/w/restart?api-version=2023-12-01";
const std::string kQuery = "/providers/Microsoft.ResourceGraph/resources?api-version=2021-03-01";

TEST(Relay, WhatIsSafeGoesAgainAfterABreakAndTheRestOnlyIfItNeverLeft) {
  const struct {
    std::string request;
    Sent sent;
    size_t sendings;
    int status;  // after both sendings broke, or the only one did
  } rows[] = {
      {"GET " + kSite, Sent::No, 2, 502},         {"GET " + kSite, Sent::Maybe, 2, 502},
      {"HEAD " + kSite, Sent::Maybe, 2, 502},     {"OPTIONS " + kSite, Sent::Maybe, 2, 502},
      {"POST " + kSiteRestart, Sent::No, 2, 502}, {"POST " + kSiteRestart, Sent::Maybe, 1, 409},
      {"POST " + kQuery, Sent::No, 2, 502},
  };
  for (const auto& row : rows) {
    const std::string why = row.request.substr(0, 12) + (row.sent == Sent::No ? " not sent" : " lost");
    StageRig broken;
    for (size_t i = 0; i < row.sendings; ++i) broken.arm_fails(row.request, row.sent);
    EXPECT_EQ(broken.ask("one", row.request).head.status, row.status) << why;
    EXPECT_EQ(broken.seen().size(), row.sendings) << why;
    if (row.sendings == 1) continue;
    StageRig mended;
    mended.arm_fails(row.request, row.sent);
    mended.arm(row.request, 200, {}, "{}");
    EXPECT_EQ(mended.ask("one", row.request).head.status, 200) << why;
  }
}

TEST(Relay, AnAnswerIsPassedOnAsItIs) {
  StageRig rig;
  rig.arm("GET " + kSite, 418, {{"X-Whatever", "a b"}, {"ETag", "W/\"1\""}}, "not even JSON");
  const auto answer = rig.ask("one", "GET " + kSite);
  EXPECT_EQ(answer.head.status, 418);
  EXPECT_EQ(answer.body, "not even JSON");
  EXPECT_EQ(answer.head.fields.get("X-Whatever"), "a b");
  EXPECT_FALSE(answer.head.fields.has("x-armgate-attempts"));
}

// What ARM sends in chunks comes in chunks, however short it is (docs/design.md, P7).
TEST(Relay, AnAnswerInChunksIsToldNoLength) {
  for (const size_t piece_bytes : {SIZE_MAX, size_t{3}}) {
    StageRig rig;
    rig.arm_lives([&](const arm::Request&) {
      Step step;
      step.expected = "GET " + kSite;
      step.body = R"({"a":"b"})";
      step.chunked = true;
      step.piece_bytes = piece_bytes;
      return step;
    });
    const auto running = rig.start("one", "GET " + kSite);
    rig.run_until([&] { return running->done; });
    EXPECT_EQ(running->link->promised().kind, BodyLength::Kind::Unknown);
    EXPECT_EQ(running->link->answer().body, R"({"a":"b"})");
  }
}

const std::string kWithoutARule[] = {"GET " + kSite, "PUT " + kSite,
                                     "POST " + kSite.substr(0, kSite.find('?')) + "/restart?api-version=1"};

TEST(Relay, WhatWaitsForAConnectionIsNotSentOnceItsClientHasLeft) {
  for (const std::string& request : kWithoutARule) {
    StageRig rig;
    rig.connections_take(std::chrono::seconds(3));
    const auto asked = rig.start("one", request, "{}");
    rig.pass(std::chrono::seconds(1));
    asked->link->leave(Leaving::Reset);
    const TimePoint left = rig.now();
    rig.run_until([&] { return asked->done; });
    EXPECT_EQ(rig.now(), left) << request;
    EXPECT_TRUE(rig.seen().empty()) << request;
    EXPECT_EQ(rig.shared().counters.clients_left, 1u) << request;
    EXPECT_EQ(asked->link->exchange.report.reason, "client-left-before-sending") << request;
    EXPECT_EQ(asked->link->exchange.report.upstream_error, "") << request;
  }
}

// A client may close its side together with its request.
TEST(Relay, WhatWaitsForNothingIsSentWhoeverHasLeft) {
  for (const Leaving how : {Leaving::HalfClosed, Leaving::Reset}) {
    for (const std::string& request : kWithoutARule) {
      if (request.starts_with("PUT")) continue;  // it waits for its lock
      StageRig rig;
      rig.arm(request, 200, {}, "{}");
      const auto asked = rig.start("one", request, "{}");
      asked->link->leave(how);
      rig.run_until([&] { return asked->done; });
      EXPECT_EQ(rig.seen().size(), 1u) << request;
      EXPECT_EQ(rig.shared().counters.clients_left, 0u) << request;
      if (how == Leaving::Reset) continue;
      EXPECT_EQ(asked->link->answer().head.status, 200) << request;
    }
  }
}

// Else reads that nobody awaits hold all connections until ARM answers them.
TEST(Relay, AReadIsGivenUpOnceItsClientHasLeftAndWhatMayActGoesOn) {
  using std::chrono::seconds;
  for (const Leaving how : {Leaving::HalfClosed, Leaving::Reset}) {
    for (const std::string method : {"GET ", "HEAD ", "OPTIONS ", "POST "}) {
      StageRig rig;
      const std::string request = method + (method == "POST " ? kSiteRestart : kSite);
      rig.arm_takes(seconds(100), request, 200, {}, "{}");
      const auto asked = rig.start("one", request);
      rig.pass(seconds(5));
      EXPECT_FALSE(asked->done) << request;
      asked->link->leave(how);
      const TimePoint left = rig.now();
      rig.run_until([&] { return asked->done; });
      const bool is_read = method == "GET " || method == "HEAD ";
      EXPECT_EQ(rig.now() - left <= seconds(1), is_read) << request;
      EXPECT_EQ(rig.seen().size(), 1u) << request;
      EXPECT_EQ(rig.shared().counters.clients_left, is_read ? 1u : 0u) << request;
      EXPECT_EQ(asked->link->exchange.report.reason == "client-left-before-the-answer", is_read) << request;
      EXPECT_EQ(asked->link->exchange.report.upstream_error, "") << request;
    }
  }
}

TEST(Relay, WhatNoRuleProtectsIsSentWhoeverHasLeft) {
  for (const auto mode : {rules::Mode::Observe, rules::Mode::Off}) {
    StageRig rig;
    rig.set_mode(mode);
    rig.arm(put(kScaleSet), 200, {}, "{}");
    const auto asked = rig.start("one", put(kScaleSet), "{}");
    asked->link->leave(Leaving::HalfClosed);
    rig.run_until([&] { return asked->done; });
    EXPECT_EQ(asked->link->answer().head.status, 200);
  }
}

// Its client's time may be over by then.
TEST(Relay, TheSecondSendingHasAMomentForAConnectionAsTheFirst) {
  using std::chrono::seconds;
  StageRig rig;
  rig.arm_lives([&, first = true](const arm::Request&) mutable {
    Step step;
    step.expected = "GET " + kSite;
    step.body = "{}";
    if (!std::exchange(first, false)) return step;
    step.takes = StageRig::default_options().wait_max + seconds(1);
    step.failure = upstream_error(ErrorKind::Reset, Sent::Maybe, "the script says so");
    return step;
  });
  EXPECT_EQ(rig.ask("one", "GET " + kSite).head.status, 200);
  EXPECT_EQ(rig.seen().size(), 2u);
}

TEST(Relay, NothingWaitsForAConnectionForLongerThanItsClient) {
  for (const std::string& request : kWithoutARule) {
    StageRig rig;
    rig.connections_take(std::chrono::minutes(3));
    const TimePoint before = rig.now();
    const auto answer = rig.ask("one", request, "{}");
    EXPECT_EQ(answer.head.status, 502) << request;
    const Duration waited = rig.now() - before;
    EXPECT_EQ(answer.head.fields.get("x-armgate-waited-ms"), std::to_string(whole_milliseconds(waited))) << request;
    EXPECT_LE(rig.now() - before, StageRig::default_options().wait_max + std::chrono::seconds(6)) << request;
    EXPECT_TRUE(rig.seen().empty()) << request;
  }
}

TEST(Relay, AWaitForAConnectionCountsAsWaitingAndNotAsTimeOfArms) {
  for (const std::string& request : kWithoutARule) {
    StageRig rig;
    rig.connections_take(std::chrono::seconds(40));
    rig.arm_takes(rig.parts().shared.options.answer_timeout - std::chrono::seconds(1), request, 200, {}, "{}");
    const auto asked = rig.start("one", request, "{}");
    rig.run_until([&] { return asked->done; });
    EXPECT_EQ(asked->link->answer().head.status, 200) << request;
    EXPECT_EQ(asked->link->exchange.report.waited, std::chrono::seconds(40)) << request;
  }
}

// Others wait for the end of an operation: a client that takes its answers slowly must not keep them.
TEST(Relay, WhatAPollTellsCountsBeforeASlowClientHasTakenIt) {
  using std::chrono::seconds;
  StageRig rig;
  rig.arm(get(kScaleSet), 200, {}, failing_operations::kBefore);
  rig.ask("one", get(kScaleSet));
  rig.arm(put(kScaleSet), 201, {{"Azure-AsyncOperation", failing_operations::url(1)}}, failing_operations::kRunning);
  rig.ask("one", put(kScaleSet), failing_operations::kWanted);
  ASSERT_EQ(rig.shared().op_leases.size(), 1u);

  const std::string told = R"({"status":"Succeeded","name":"in pieces"})";
  rig.arm_lives([&](const arm::Request&) {
    Step step;
    step.expected = failing_operations::poll(1);
    step.body = told;
    step.piece_bytes = 10;
    step.takes = seconds(1);
    return step;
  });
  const auto poll = rig.start("one", failing_operations::poll(1));
  poll->link->read_slowly(seconds(20));
  rig.pass(seconds(2));
  EXPECT_EQ(rig.shared().op_leases.size(), 0u);
  EXPECT_FALSE(poll->done);
  rig.run_until([&] { return poll->done; });
  EXPECT_EQ(poll->link->answer().body, told);
  EXPECT_TRUE(poll->link->body_fits());
}

// Without provisioningState a whole state is one at rest; of a part nothing is known.
TEST(Relay, APartOfTheStateEndsNoOperation) {
  for (const char* options : {"", "&$select=tags"}) {
    StageRig rig;
    rig.arm(put(kNetwork), 200, etag("\"1\""), R"({"properties":{"provisioningState":"Updating"}})");
    rig.ask("one", put(kNetwork), "{}");
    EXPECT_EQ(rig.shared().op_leases.size(), 1u);
    rig.arm(get(kNetwork), 200, {}, R"({"tags":{}})");
    rig.ask("two", get(std::string(kNetwork) + options));
    EXPECT_EQ(rig.shared().op_leases.size(), *options == 0 ? 0u : 1u) << options;
  }
}

}  // namespace
}  // namespace armgate::world::relay_test
