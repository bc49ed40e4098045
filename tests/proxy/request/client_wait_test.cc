// How a wait ends, when several reasons come at once: a client that is gone is never sent, and a grant is not given away.
#include "proxy/request/client_wait.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "proxy/async/spawn.h"
#include "tests/support/world/sim_link.h"

namespace armgate::world {
namespace {

using End = ClientWait::End;
using std::chrono::seconds;

struct Bench {
  boost::asio::io_context loop{1};
  SimClock clock{loop, 1};
  SimLink link{clock, loop.get_executor()};
  ClientWait client_wait{clock, loop.get_executor(), link, clock.now() + seconds(50)};

  void run() {
    while (clock.step()) {
    }
  }
};

Task<void> note_end(Task<End> wait, std::optional<End>& end) { end = co_await std::move(wait); }

// What of the reasons is there when the wait begins.
struct Reasons {
  bool gone = false;
  bool ready = false;
  bool closing = false;
  bool late = false;
};

End end_of(const Reasons& reasons, ClientWait::AtClosing at_closing = ClientWait::AtClosing::Stop) {
  Bench bench;
  if (reasons.late) bench.clock.leap(seconds(60));
  if (reasons.gone) bench.link.leave(Leaving::Reset);
  if (reasons.closing) bench.link.close();
  std::optional<End> end;
  spawn(bench.loop.get_executor(), note_end(bench.client_wait.await_ready([&] { return reasons.ready; }, at_closing), end));
  bench.run();
  EXPECT_TRUE(end.has_value());
  return end.value_or(End::Closing);
}

TEST(PatienceEnds, AClientThatIsGoneWinsOverAllThenTheGrantThenClosing) {
  EXPECT_EQ(end_of({.gone = true, .ready = true, .closing = true, .late = true}), End::Gone);
  EXPECT_EQ(end_of({.ready = true, .closing = true, .late = true}), End::Ready);
  EXPECT_EQ(end_of({.closing = true, .late = true}), End::Closing);
  EXPECT_EQ(end_of({.late = true}), End::TimeUp);
  EXPECT_EQ(end_of({}), End::TimeUp) << "in its time";
}

TEST(PatienceEnds, WhoWaitsForArmsAnswerWaitsOnWhileArmgateEnds) {
  EXPECT_EQ(end_of({.closing = true}, ClientWait::AtClosing::WaitOn), End::TimeUp);
  EXPECT_EQ(end_of({.ready = true, .closing = true}, ClientWait::AtClosing::WaitOn), End::Ready);
}

TEST(PatienceEnds, APauseThatDoesNotFitIsNotBegun) {
  Bench bench;
  const TimePoint begun = bench.clock.now();
  std::optional<End> end;
  spawn(bench.loop.get_executor(), note_end(bench.client_wait.pause(seconds(51)), end));
  bench.clock.settle();
  EXPECT_EQ(end, End::TimeUp);
  EXPECT_EQ(bench.clock.now(), begun);
}

TEST(PatienceEnds, APauseLastsUnlessItsClientLeaves) {
  for (const bool leaves : {false, true}) {
    Bench bench;
    std::optional<End> end;
    if (leaves) bench.clock.at(bench.clock.now() + seconds(3), [&] { bench.link.leave(Leaving::Reset); });
    spawn(bench.loop.get_executor(), note_end(bench.client_wait.pause(seconds(10)), end));
    bench.run();
    EXPECT_EQ(end, leaves ? End::Gone : End::Ready);
  }
}

}  // namespace
}  // namespace armgate::world
