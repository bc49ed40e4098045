// Goal: safety does not starve anybody. Method: long stories of one unnamed client on one resource, among others who change it,
// against an ARM that compares ETags; every 412 is judged by what the client had been shown when it wrote.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world::liveness_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// {"tid":"t","oid":"daemon"}
const std::string kToken = "Bearer e30.eyJ0aWQiOiJ0Iiwib2lkIjoiZGFlbW9uIn0.s";

enum class OthersChange { Tag, Capacity };

// A scale set that others change as well. Its ETag moves with every write, as Compute's does.
class ScaleSet {
 public:
  explicit ScaleSet(OthersChange change = OthersChange::Tag) : change_(change) {}

  Step answer(const arm::Request& request) {
    Step step;
    const std::string_view wanted = request.head.fields.get("If-Match");
    if (request.head.method == arm::Method::Put && !wanted.empty() && wanted != etag()) {
      step.status = 412;
      step.body = R"({"error":{"code":"PreconditionFailed","message":"m"}})";
      return step;
    }
    if (request.head.method == arm::Method::Put) {
      ++version_;
      content_ = request.body;
    }
    step.fields = {{"ETag", etag()}};
    step.body = content_;
    return step;
  }
  void changed_by_others() {
    ++version_;
    ++changes_;
    content_ = change_ == OthersChange::Tag ? fmt::format(R"({{"sku":{{"capacity":1}},"tags":{{"other":"{}"}}}})", changes_)
                                            : fmt::format(R"({{"sku":{{"capacity":{}}},"tags":{{}}}})", 100 + changes_);
  }
  int version() const { return version_; }
  int changes() const { return changes_; }
  const std::string& content() const { return content_; }

 private:
  std::string etag() const { return fmt::format("\"{}\"", version_); }
  const OthersChange change_;
  int version_ = 1;
  int changes_ = 0;
  std::string content_ = R"({"sku":{"capacity":1},"tags":{}})";
};

enum class Bodies {
  Changed,   // what was read, with a change of its own
  Computed,  // a value of its own each time: agrees with nothing that was shown
  Declared   // from a file: the same bytes every time
};

class Daemon {
 public:
  Daemon(StageRig& rig, ScaleSet& arm) : rig_(rig), arm_(arm) {}

  void read() {
    rig_.ask("", get(kScaleSet), {}, {{"Authorization", kToken}});
    seen_ = arm_.content();
    seen_version_ = arm_.version();
  }

  bool write(Bodies bodies) {
    std::string body = R"({"sku":{"capacity":7},"tags":{"by":"daemon"}})";
    ++writes_;
    if (bodies == Bodies::Computed) body = fmt::format(R"({{"sku":{{"capacity":{}}}}})", 1000 + writes_);
    if (bodies == Bodies::Changed) {
      const bool has_tags = seen_.find("{}") == std::string::npos;
      body = seen_.substr(0, seen_.size() - 2) + fmt::format(R"({}"beat-{}":"1"}}}})", has_tags ? "," : "", writes_);
    }
    const bool current = seen_version_ == arm_.version();
    const int status = rig_.ask("", put(kScaleSet), body, {{"Authorization", kToken}}).head.status;
    EXPECT_TRUE(status == 200 || status == 412) << status;
    if (status == 200 && current) {
      seen_ = arm_.content();
      seen_version_ = arm_.version();
    }
    EXPECT_TRUE(status == 412 || current) << "a stale write was let through";
    if (status == 412 && current) ++undeserved;
    return status == 200;
  }

  int undeserved = 0;

 private:
  StageRig& rig_;
  ScaleSet& arm_;
  std::string seen_;
  int seen_version_ = 0;
  int writes_ = 0;
};

// Reads every minute for five hours, writes now and then, and after a 412 at once again from a fresh read. Never two in a row,
// unless others have changed it more than once within think_max: then at most one for each of these states.
void expect_daemon_lives(Bodies bodies, OthersChange change, int change_every, int write_every, int undeserved_max_for_each) {
  SCOPED_TRACE(fmt::format("bodies {}, others change {} every {} min, writes every {} min", static_cast<int>(bodies),
                           static_cast<int>(change), change_every, write_every));
  StageRig rig;
  ScaleSet arm(change);
  rig.arm_lives([&](const arm::Request& request) { return arm.answer(request); });
  Daemon daemon(rig, arm);
  for (int minute = 1; minute <= 300; ++minute) {
    rig.pass(seconds(30));
    if (minute % change_every == 0) arm.changed_by_others();
    rig.pass(seconds(30));
    daemon.read();
    if (minute % write_every != 0) continue;
    int in_a_row = 0;
    for (; !daemon.write(bodies) && in_a_row < 10; ++in_a_row) daemon.read();
    EXPECT_LE(in_a_row, 2 + 5 / change_every) << "at minute " << minute;
  }
  EXPECT_LE(daemon.undeserved, arm.changes() * undeserved_max_for_each);
}

TEST(Liveness, ADaemonWhoseBodiesSayWhatTheyWereBuiltFromIsNeverRefusedWithoutNeed) {
  for (const int change_every : {3, 7, 20, 45, 121}) {
    for (const int write_every : {1, 4, 10, 60})
      expect_daemon_lives(Bodies::Changed, OthersChange::Tag, change_every, write_every, 0);
  }
}

TEST(Liveness, ADaemonWithBodiesOfItsOwnIsRefusedAtMostOnceForEachChangeByOthersAndNeverTwiceInARow) {
  for (const auto bodies : {Bodies::Computed, Bodies::Declared}) {
    for (const int change_every : {3, 7, 20, 45, 121}) {
      for (const int write_every : {10, 25, 60})
        expect_daemon_lives(bodies, OthersChange::Capacity, change_every, write_every, 1);
    }
  }
}

// Its bytes leave out what others have added since a state that it was shown: that looks like a write built on that state, and is
// believed for insist_after, but no longer.
TEST(Liveness, ADaemonThatTakesBackWhatOthersAddGetsThrough) {
  StageRig rig;
  ScaleSet arm;
  rig.arm_lives([&](const arm::Request& request) { return arm.answer(request); });
  Daemon daemon(rig, arm);
  int in_a_row = 0;
  for (int minute = 1; minute <= 300; ++minute) {
    rig.pass(minutes(1));
    if (minute % 20 == 0) arm.changed_by_others();
    daemon.read();
    in_a_row = daemon.write(Bodies::Declared) ? 0 : in_a_row + 1;
    ASSERT_LE(in_a_row, 6) << "at minute " << minute;
  }
}

TEST(Liveness, WhoWritesWhatIsStaleIsRefusedHoweverPatient) {
  StageRig rig(unmerged());
  ScaleSet arm;
  rig.arm_lives([&](const arm::Request& request) { return arm.answer(request); });
  Daemon daemon(rig, arm);
  for (int round = 0; round < 20; ++round) {
    daemon.read();
    arm.changed_by_others();
    rig.pass(minutes(round));
    EXPECT_FALSE(daemon.write(Bodies::Changed));
    daemon.read();
    EXPECT_TRUE(daemon.write(Bodies::Changed));
  }
  EXPECT_EQ(daemon.undeserved, 0);
}

// Runs of a job that never reads and always sends the same bytes: how many were done, and the longest row of refusals.
struct JobRuns {
  int done = 0;
  int refused_in_a_row_max = 0;
};
JobRuns run_job(Duration every, int times, bool changed_between) {
  StageRig rig;
  ScaleSet arm;
  rig.arm_lives([&](const arm::Request& request) { return arm.answer(request); });
  JobRuns runs;
  int in_a_row = 0;
  for (int run = 0; run < times; ++run) {
    const auto answer =
        rig.ask("", put(kScaleSet), R"({"sku":{"capacity":9},"tags":{"by":"job"}})", {{"Authorization", kToken}});
    in_a_row = answer.head.status == 200 ? 0 : in_a_row + 1;
    runs.done += in_a_row == 0;
    runs.refused_in_a_row_max = std::max(runs.refused_in_a_row_max, in_a_row);
    rig.pass(every / 2);
    if (changed_between) arm.changed_by_others();
    rig.pass(every - every / 2);
  }
  return runs;
}

TEST(Liveness, AnUnconditionalJobThatRunsDailyIsNeverRefused) {
  EXPECT_EQ(run_job(hours(24), 30, true).done, 30);
  EXPECT_EQ(run_job(hours(24), 30, false).done, 30);
}

// Its own last answer is remembered, so a change by others in between is refused once; then it is forced.
TEST(Liveness, AnUnconditionalJobThatRunsOftenIsRefusedOnceForAChangeAndNeverTwiceInARow) {
  for (const auto every : {Duration(minutes(10)), Duration(hours(1)), Duration(hours(6))}) {
    const JobRuns changed = run_job(every, 40, true);
    EXPECT_EQ(changed.refused_in_a_row_max, 1);
    EXPECT_GE(changed.done, 20);
    EXPECT_EQ(run_job(every, 40, false).done, 40);
  }
}

TEST(Liveness, AnUnconditionalLoopThatDoesNotWaitGetsThrough) {
  EXPECT_GE(run_job(seconds(20), 200, true).done, 10);
  EXPECT_LE(run_job(seconds(20), 200, true).refused_in_a_row_max, 16) << "insist_after is five minutes";
}

// What a client wrote in mode "off" passed unseen: its own answers of before say nothing any more.
TEST(Liveness, AClientThatNeverReadsGoesOnWhenModeOffEnds) {
  StageRig rig;
  std::string there;
  rig.arm_lives([&](const arm::Request& request) {
    Step step;
    if (request.head.method == arm::Method::Put) there = request.body;
    step.body = there;
    return step;
  });
  const std::string put = "PUT /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d?api-version=2024-03-02";
  const auto write = [&](int size) {
    rig.pass(std::chrono::seconds(1));
    const std::string body = R"({"location":"w","properties":{"diskSizeGB":)" + std::to_string(size) + "}}";
    return rig.ask("one", put, body).head.status;
  };
  EXPECT_EQ(write(1), 200);
  rig.set_mode(rules::Mode::Off);
  EXPECT_EQ(write(2), 200);
  EXPECT_EQ(write(3), 200);
  rig.set_mode(rules::Mode::Protect);
  for (int size = 4; size < 8; ++size) EXPECT_EQ(write(size), 200) << size;
}

// Nothing is known of the type: a member that the service counts on looks like one of the client's own, and the client repeats the first
// value of it.
TEST(Liveness, AClientThatReadsOnceAndChangesItsObjectOnAndOnIsSent) {
  StageRig rig;
  int revision = 1;
  std::string size = "0";
  rig.arm_lives([&](const arm::Request& request) {
    Step step;
    if (request.head.method == arm::Method::Put) {
      ++revision;
      const size_t at = request.body.find("size\":");
      size = request.body.substr(at + 6, request.body.find('}', at) - at - 6);
    }
    step.body = fmt::format(R"({{"location":"w","properties":{{"revision":{},"size":{}}}}})", revision, size);
    return step;
  });
  const std::string thing = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Nobody/things/t?api-version=1";
  rig.ask("one", "GET " + thing);
  for (int next = 1; next < 7; ++next) {
    const std::string body = fmt::format(R"({{"location":"w","properties":{{"revision":1,"size":{}}}}})", next);
    rig.pass(std::chrono::seconds(1));
    const auto answer = rig.ask("one", "PUT " + thing, body);
    EXPECT_EQ(answer.head.status, 200) << next << answer.body;
  }
}

}  // namespace
}  // namespace armgate::world::liveness_test
