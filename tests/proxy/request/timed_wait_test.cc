// Goal: who waits for a moment or a signal goes on with the first of them. Method: a table of both.
#include "proxy/request/timed_wait.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "proxy/async/spawn.h"
#include "tests/support/stage_rig.h"

namespace armgate::world::timed_wait_test {
namespace {

using std::chrono::seconds;

Task<void> note_end(const Parts& parts, Waiter& waiter, TimePoint due, std::optional<TimePoint>& end) {
  co_await wait_until(parts, waiter, due, 4);
  end = parts.clock.now();
}

TEST(TimedWait, EndsWithTheSignalOrAtItsMoment) {
  const struct {
    int due;
    int signal;  // 0: none
    int end;
  } rows[] = {{10, 0, 10}, {10, 3, 3}, {10, 20, 10}, {-1, 0, 0}};
  for (const auto& row : rows) {
    StageRig rig;
    const Parts& parts = rig.parts();
    const TimePoint begun = rig.now();
    Waiter waiter(parts.executor);
    std::optional<TimePoint> end;
    std::unique_ptr<TimerHandle> signal;
    if (row.signal > 0) {
      signal = parts.clock.call_at(parts.executor, begun + seconds(row.signal), [&] { waiter.signal(1); });
    }
    spawn(parts.executor, note_end(parts, waiter, begun + seconds(row.due), end));
    rig.pass(seconds(30));
    EXPECT_EQ(end, begun + seconds(row.end)) << row.due << " " << row.signal;
  }
}

}  // namespace
}  // namespace armgate::world::timed_wait_test
