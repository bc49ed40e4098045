// Goal: of several processes, none tells its client or ARM what the others cannot know, and each knows what they told before.
// Method: whole processes on one simulated log, which loses nothing, until the test cuts one off; an ARM that follows a script.
#include "proxy/request/cluster/recorded.h"

#include <gtest/gtest.h>

#include <array>

#include "proxy/async/spawn.h"
#include "tests/support/stage_rig.h"
#include "tests/support/world/gate.h"

namespace armgate::recorded_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using world::etag;
using world::get;
using world::kNetwork;
using world::put;
using world::says;

constexpr const char* kBody = R"({"properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]}}})";
constexpr const char* kOtherBody = R"({"properties":{"addressSpace":{"addressPrefixes":["10.1.0.0/16"]}}})";

struct Asked {
  std::shared_ptr<world::SimLink> link;
  bool done = false;
  Receipt receipt;
};

Task<void> serve(world::Gate& gate, std::shared_ptr<Asked> asked) {
  asked->receipt = co_await gate.serve(asked->link);
  asked->done = true;
}

class Recorded : public ::testing::Test {
 protected:
  Recorded() {
    for (auto& gate : gates_) {
      world::GateOptions options;
      options.pipeline = world::StageRig::default_options();
      options.rules = world::shipped_ruleset();
      options.log = &log_;
      gate = std::make_unique<world::Gate>(std::move(options), clock_, arm_, loop_.get_executor(), world::Gate::Voice{});
    }
    pass(seconds(1));
  }
  std::shared_ptr<Asked> start(size_t process, const std::string& client, const std::string& what, std::string body = {}) {
    auto asked = std::make_shared<Asked>();
    world::Gate& gate = *gates_[process];
    asked->link = std::make_shared<world::SimLink>(clock_, loop_.get_executor());
    Exchange& exchange = asked->link->exchange;
    world::begin_exchange(exchange, client, what, std::move(body), {}, gate.clock().next_moment());
    exchange.from = {++connections_, client, "127.0.0.1"};
    exchange.executor = loop_.get_executor();
    spawn(loop_.get_executor(), serve(gate, asked));
    return asked;
  }
  arm::Response end_of(const std::shared_ptr<Asked>& asked) {
    while (!asked->done) {
      if (!clock_.step()) break;
    }
    EXPECT_TRUE(asked->done);
    asked->receipt.confirm();
    return asked->link->answer();
  }
  arm::Response ask(size_t process, const std::string& client, const std::string& what, std::string body = {}) {
    return end_of(start(process, client, what, std::move(body)));
  }
  void arm(std::string expected, int status, arm::Headers fields = {}, std::string body = {}, Duration takes = {}) {
    arm_.steps.push_back({std::move(expected), status, std::move(fields), std::move(body), {}, {}, takes});
  }
  void pass(Duration time) {
    bool over = false;
    clock_.at(clock_.now() + time, [&over] { over = true; });
    while (!over && clock_.step()) {
    }
    clock_.settle();
  }
  // The write is at ARM, which takes its time.
  std::shared_ptr<Asked> write_at_arm(size_t process, const std::string& client, Duration takes) {
    const size_t before = arm_.seen.size();
    arm(put(kNetwork), 200, etag("\"2\""), kBody, takes);
    auto asked = start(process, client, put(kNetwork), kBody);
    while (arm_.seen.size() == before && clock_.step()) {
    }
    EXPECT_EQ(arm_.seen.size(), before + 1);
    return asked;
  }

  boost::asio::io_context loop_{1};
  world::SimClock clock_{loop_, 1};
  world::SimLog log_{clock_, {.way_max = milliseconds(5), .lost_reply = 0, .lost_signal = 1}, 1};
  world::ScriptedUpstream arm_{clock_};
  std::array<std::unique_ptr<world::Gate>, 2> gates_;
  uint64_t connections_ = 0;
};

TEST_F(Recorded, AWriteIsAnsweredOnlyWhenTheOthersCanKnowOfIt) {
  const auto asked = write_at_arm(0, "one", seconds(1));
  gates_[0]->cut_off(seconds(5));
  pass(seconds(4));
  EXPECT_FALSE(asked->done) << "ARM has answered, and nobody else knows";
  EXPECT_EQ(asked->link->heads_written(), 0);
  EXPECT_EQ(end_of(asked).head.status, 200);
}

TEST_F(Recorded, AWriteThatNobodyCanLearnOfIsToBeSentAgain) {
  const auto asked = write_at_arm(0, "one", seconds(1));
  log_.away(seconds(100));
  const arm::Response answer = end_of(asked);
  EXPECT_EQ(answer.head.status, 503);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "cluster-unavailable");
  EXPECT_FALSE(asked->link->exchange.delivered) << "what ARM said is not what it was told";
  EXPECT_EQ(arm_.seen.size(), 1u);
}

TEST_F(Recorded, NothingIsSentThatCannotBeRecorded) {
  log_.away(seconds(100));
  const TimePoint before = clock_.now();
  const arm::Response answer = ask(0, "one", put(kNetwork), kBody);
  EXPECT_EQ(answer.head.status, 503);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "cluster-unavailable");
  EXPECT_TRUE(says(answer, "The cluster's engine cannot take the write. Nothing was sent"));
  EXPECT_TRUE(arm_.seen.empty());
  EXPECT_LE(clock_.now() - before, world::StageRig::default_options().wait_max + seconds(1))
      << "no longer than its client waits";
}

TEST_F(Recorded, AProcessThatIsApartShowsNothingAndSendsNothing) {
  arm(get(kNetwork), 200, etag("\"1\""), kBody);
  EXPECT_EQ(ask(0, "one", get(kNetwork)).head.status, 200);
  log_.away(seconds(100));
  pass(log_.faults().lease + seconds(1));
  const arm::Response answer = ask(0, "one", get(kNetwork));
  EXPECT_EQ(answer.head.status, 503);
  EXPECT_EQ(answer.head.fields.get("x-armgate-reason"), "cluster-unavailable");
  EXPECT_EQ(arm_.seen.size(), 1u) << "ARM was not asked";
}

// What its client was shown elsewhere is what its write was built from.
TEST_F(Recorded, WhatTheOthersToldBeforeAWriteIsKnownToIt) {
  arm(get(kNetwork), 200, etag("\"1\""), kBody);
  arm(get(kNetwork), 200, etag("\"2\""), kOtherBody);
  EXPECT_EQ(ask(0, "one", get(kNetwork)).head.status, 200);
  EXPECT_EQ(ask(1, "one", get(kNetwork)).head.status, 200);
  pass(milliseconds(100));  // to be in doubt about the order, it must come at once
  arm(put(kNetwork), 200, etag("\"3\""), kBody);
  EXPECT_EQ(ask(0, "one", put(kNetwork), kBody).head.status, 200);
  EXPECT_EQ(arm_.seen.back().head.fields.get("if-match"), "\"2\"");
}

// It may have been built from either, so what is there is compared with it, and not overwritten.
TEST_F(Recorded, WhatSomebodyOfItsNameWasShownElsewhereCountsForAWrite) {
  arm(get(kNetwork), 200, etag("\"1\""), kBody);
  arm(get(kNetwork), 200, etag("\"2\""), kOtherBody);
  EXPECT_EQ(ask(0, "several", get(kNetwork)).head.status, 200);
  EXPECT_EQ(ask(1, "several", get(kNetwork)).head.status, 200);
  pass(milliseconds(100));
  arm(get(kNetwork), 200, etag("\"2\""), kOtherBody);
  EXPECT_EQ(ask(0, "several", put(kNetwork), kBody).head.status, 412);
  EXPECT_TRUE(arm_.steps.empty());
  EXPECT_EQ(arm_.seen.size(), 3u);
}

TEST_F(Recorded, TheQueueIsOneForAllProcesses) {
  const auto first = write_at_arm(0, "one", seconds(5));
  const auto second = start(1, "two", put(kNetwork), kOtherBody);
  pass(seconds(4));
  EXPECT_FALSE(first->done || second->done);
  EXPECT_EQ(arm_.seen.size(), 1u);
  EXPECT_EQ(end_of(first).head.status, 200);
  const arm::Response answer = end_of(second);
  EXPECT_EQ(answer.head.status, 412) << "it was not built from what the first one wrote";
  EXPECT_GE(std::stoi(std::string(answer.head.fields.get("x-armgate-waited-ms"))), 4000);
  EXPECT_EQ(arm_.seen.size(), 1u);
}

TEST_F(Recorded, WhatAnotherProcessIsAnsweringIsWaitedForAndNotSentAgain) {
  const auto first = write_at_arm(0, "one", seconds(5));
  pass(seconds(1));
  first->link->leave(world::Leaving::Reset);
  pass(seconds(1));
  const auto again = start(1, "one", put(kNetwork), kBody);
  pass(seconds(2));
  EXPECT_FALSE(again->done);
  const arm::Response answer = end_of(again);
  EXPECT_EQ(answer.head.status, 200);
  EXPECT_EQ(answer.head.fields.get("x-armgate-replayed"), "true");
  EXPECT_EQ(answer.body, kBody);
  EXPECT_EQ(arm_.seen.size(), 1u);
}

TEST_F(Recorded, AloneAProcessMayShowAndSend) {
  const world::StageRig alone;
  EXPECT_TRUE(may_show(alone.parts()));
  EXPECT_TRUE(may_send(alone.parts()));
}

}  // namespace
}  // namespace armgate::recorded_test
