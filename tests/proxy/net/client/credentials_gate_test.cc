// Goal: a wrong password is shown to the proxy seldom, a right one without delay. Method: a clock that the test moves.
#include "proxy/net/client/credentials_gate.h"

#include <gmock/gmock.h>

#include "tests/proxy/net/net_test_support.h"

namespace armgate::net {
namespace {

using std::chrono::seconds;

Error refusal_named(const char* text) { return upstream_error(ErrorKind::Unreachable, Sent::No, text); }

Task<void> store_entered(CredentialsGate& gate, Clock& clock, TimePoint deadline, std::optional<Result<void>>& into) {
  into.emplace(co_await gate.enter(clock, deadline));
}

class CredentialsGateTest : public NetTest {
 protected:
  struct Asker {
    std::optional<Result<void>> entered;
    bool done = false;
  };
  void enter(Asker& asker) { start(store_entered(gate_, clock_, clock_.now() + seconds(10), asker.entered), asker.done); }
  // Whether one that comes now may ask.
  bool may_ask() {
    Asker asker;
    enter(asker);
    run_until([&] { return asker.done; });
    return asker.entered->ok();
  }
  CredentialsGate gate_;
};

TEST_F(CredentialsGateTest, LetsOneAskAndThenAllIfItWasTaken) {
  Asker one, two, three;
  for (Asker* asker : {&one, &two, &three}) enter(*asker);
  settle();
  EXPECT_TRUE(one.done);
  EXPECT_FALSE(two.done || three.done);
  gate_.taken();
  run_until([&] { return two.done && three.done; });
  for (const Asker* asker : {&one, &two, &three}) EXPECT_TRUE(asker->entered->ok());
  EXPECT_TRUE(may_ask());
}

TEST_F(CredentialsGateTest, TellsTheOthersARefusal) {
  Asker one, two;
  enter(one);
  enter(two);
  settle();
  EXPECT_FALSE(gate_.refusal(clock_.now()));
  gate_.note_refusal(refusal_named("wrong password"), clock_.now());
  run_until([&] { return two.done; });
  EXPECT_EQ(two.entered->error().context, "wrong password");
  EXPECT_FALSE(may_ask());
  EXPECT_EQ(gate_.refusal(clock_.now())->context, "wrong password");
}

TEST_F(CredentialsGateTest, LetsTheNextOneAskIfThereWasNoAnswer) {
  Asker one, two, three;
  for (Asker* asker : {&one, &two, &three}) enter(*asker);
  settle();
  gate_.unanswered();
  run_until([&] { return two.done; });
  settle();
  EXPECT_TRUE(two.entered->ok());
  EXPECT_FALSE(three.done);
  clock_.advance(seconds(11));
  run_until([&] { return three.done; });
  EXPECT_EQ(three.entered->error().kind, ErrorKind::TimedOut);
  EXPECT_EQ(three.entered->error().sent, Sent::No);
  gate_.taken();  // nobody waits any more
}

TEST_F(CredentialsGateTest, IsOpenedMoreAndMoreSeldomByARefusedPassword) {
  std::vector<int> pauses;
  for (int i = 0; i < 7; ++i) {
    ASSERT_TRUE(may_ask());
    gate_.note_refusal(refusal_named("wrong"), clock_.now());
    gate_.note_refusal(refusal_named("wrong too, asked at the same time"), clock_.now());
    int pause = 0;
    for (; gate_.refusal(clock_.now()); ++pause) clock_.advance(seconds(1));
    pauses.push_back(pause);
  }
  EXPECT_THAT(pauses, testing::ElementsAre(30, 60, 120, 240, 480, 600, 600));
  ASSERT_TRUE(may_ask());
  gate_.taken();
  gate_.note_refusal(refusal_named("changed"), clock_.now());
  clock_.advance(seconds(30));
  EXPECT_TRUE(may_ask()) << "it was right in between";
}

}  // namespace
}  // namespace armgate::net
