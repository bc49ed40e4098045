// Goal: who was refused twice in a row comes next, and nobody waits long for one that does not come (law L4, docs/design.md).
// Method: an ARM that compares ETags, one client that is always late, and others that would overtake it again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Turns : public testing::Test {
 protected:
  Turns() {
    rig.arm_lives([this](const arm::Request& request) { return answer(request); });
  }

  Step answer(const arm::Request& request) {
    Step step;
    const bool is_put = request.head.method == arm::Method::Put;
    step.takes = is_put ? put_takes : Duration{};
    if (is_put && busy > 0) {
      --busy;
      step.status = 503;
      return step;
    }
    const std::string_view wanted = request.head.fields.get("If-Match");
    if (is_put && !wanted.empty() && wanted != etag()) {
      step.status = 412;
      return step;
    }
    if (is_put) {
      ++version;
      writers += request.body.find("slow") == std::string::npos ? 'q' : 's';
    }
    step.fields = {{"ETag", etag()}};
    step.body = fmt::format(R"({{"sku":{{"capacity":{}}}}})", version);
    return step;
  }
  std::string etag() const { return fmt::format("\"{}\"", version); }

  void read(const std::string& client) { rig.ask(client, get(kScaleSet)); }
  std::string body_of(const std::string& client) {
    return fmt::format(R"({{"sku":{{"capacity":{}}},"tags":{{"by":"{}"}}}})", version, client);
  }
  // Reads, and writes that with another value.
  int change(const std::string& client) {
    read(client);
    return rig.ask(client, put(kScaleSet), body_of(client)).head.status;
  }
  // "slow" reads, somebody else writes, and it comes too late.
  void come_too_late() {
    read("slow");
    const std::string late = body_of("slow");
    EXPECT_EQ(change("quick"), 200);
    EXPECT_EQ(rig.ask("slow", put(kScaleSet), late).head.status, 412);
  }

  StageRig rig{unmerged()};
  int version = 1;
  int busy = 0;  // so many writes are answered with 503
  Duration put_takes{};
  std::string writers;  // of the writes that took effect
};

TEST_F(Turns, AfterTwoRefusalsNobodyGetsInBetweenItsReadAndItsWrite) {
  come_too_late();
  come_too_late();
  read("slow");
  const auto other = rig.start("quick", put(kScaleSet), body_of("quick"));
  rig.pass(milliseconds(500));
  EXPECT_FALSE(other->done) << "it waits for the turn";
  EXPECT_EQ(rig.ask("slow", put(kScaleSet), body_of("slow")).head.status, 200);
  rig.run_until([&] { return other->done; });
  EXPECT_EQ(writers, "qqs") << "and comes too late itself";
}

TEST_F(Turns, AfterOneThereIsNone) {
  come_too_late();
  read("slow");
  EXPECT_EQ(change("quick"), 200);
}

// What it reads at once the next in line would overtake.
TEST_F(Turns, TheRefusalIsAnsweredWhenTheTurnHasCome) {
  come_too_late();
  read("slow");
  const std::string late = body_of("slow");
  EXPECT_EQ(change("quick"), 200);
  read("first");
  put_takes = seconds(3);
  const auto running = rig.start("first", put(kScaleSet), body_of("first"));
  rig.pass(seconds(1));
  const auto refused = rig.start("slow", put(kScaleSet), late);
  rig.pass(seconds(1));
  EXPECT_FALSE(running->done);
  EXPECT_FALSE(refused->done);
  rig.run_until([&] { return refused->done; });
  EXPECT_TRUE(running->done);
  put_takes = {};
  const auto other = rig.start("quick", put(kScaleSet), body_of("quick"));
  EXPECT_EQ(change("slow"), 200);
  rig.run_until([&] { return other->done; });
  EXPECT_EQ(writers, "qqqs");
}

TEST_F(Turns, OneThatIsNotTakenUpKeepsOthersForAMoment) {
  come_too_late();
  come_too_late();
  const TimePoint before = rig.now();
  EXPECT_EQ(change("quick"), 200);
  const Duration waited = rig.now() - before;
  EXPECT_GE(waited, rig.shared().turns.options().turn_max);
  EXPECT_LT(waited, rig.shared().turns.options().turn_max + seconds(1));
}

TEST_F(Turns, AnAnswerThatAsksForAnotherTryDoesNotEndIt) {
  come_too_late();
  come_too_late();
  read("slow");
  busy = 1;
  EXPECT_EQ(rig.ask("slow", put(kScaleSet), body_of("slow")).head.status, 503);
  const auto other = rig.start("quick", put(kScaleSet), body_of("quick"));
  rig.pass(milliseconds(100));
  EXPECT_EQ(rig.ask("slow", put(kScaleSet), body_of("slow")).head.status, 200);
  rig.run_until([&] { return other->done; });
  EXPECT_EQ(writers, "qqs");
}

// It would keep all others waiting.
TEST_F(Turns, WhoNeverReadsGetsThemLaterAndLater) {
  read("slow");
  const std::string late = body_of("slow");
  EXPECT_EQ(change("quick"), 200);
  int turns = 0;
  for (int refusals = 1; refusals <= 16; ++refusals) {
    EXPECT_EQ(rig.ask("slow", put(kScaleSet), late).head.status, 412);
    turns += rig.shared().turns.size() > 0;
    rig.pass(seconds(5));
  }
  EXPECT_EQ(turns, 4) << "after 2, 4, 8 and 16";
}

TEST_F(Turns, ThoseOfSeveralFollowEachOther) {
  for (const std::string client : {"a", "b"}) {
    for (int refusals = 0; refusals < 2; ++refusals) {
      read(client);
      const std::string late = body_of(client);
      version += 1;  // around armgate
      if (refusals == 0) {
        EXPECT_EQ(rig.ask(client, put(kScaleSet), late).head.status, 412);
      } else {
        rig.start(client, put(kScaleSet), late);
      }
    }
  }
  rig.pass(milliseconds(100));
  EXPECT_EQ(rig.shared().turns.size(), 1u) << "the second is not told that it is refused until its turn has come";
  EXPECT_EQ(change("a"), 200);
  rig.pass(milliseconds(100));
  EXPECT_EQ(change("b"), 200);
}

}  // namespace
}  // namespace armgate::world
