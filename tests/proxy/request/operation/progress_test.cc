// What an answer tells of an operation, and from when on what is seen of its resource is its end.
#include "proxy/request/operation/progress.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <utility>

namespace armgate::progress_test {
namespace {

using arm::Progress;
using arm::TrackedBy;
using std::chrono::seconds;

arm::ResponseHead head_of(int status) {
  arm::ResponseHead head;
  head.status = status;
  return head;
}

TEST(OperationProgress, IsReadWhereItIsTold) {
  const std::string failed = R"({"status":"Failed"})";
  const std::string updating = R"({"properties":{"provisioningState":"Updating"}})";
  const struct {
    TrackedBy by;
    int status;
    std::string body;
    Progress progress;
  } rows[] = {
      {TrackedBy::StatusUrl, 200, failed, Progress::Failed},
      {TrackedBy::StatusUrl, 200, R"({"status":"InProgress"})", Progress::Running},
      {TrackedBy::LocationUrl, 202, "", Progress::Running},
      {TrackedBy::LocationUrl, 204, "", Progress::Succeeded},
      {TrackedBy::ResourceState, 200, updating, Progress::Running},
      {TrackedBy::ResourceState, 200, failed, Progress::Succeeded},
      {TrackedBy::ResourceGone, 404, "", Progress::Succeeded},
      {TrackedBy::ResourceGone, 200, updating, Progress::Running},
      {TrackedBy::Nothing, 200, failed, Progress::Unknown},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(progress_of(row.by, head_of(row.status), row.body), row.progress)
        << static_cast<int>(row.by) << " " << row.status << " " << row.body;
  }
}

class MayComeToMore : public testing::Test {
 protected:
  // Looked at so many seconds after it was opened.
  bool after(int looked, LeasedWrite write, TrackedBy by = TrackedBy::ResourceState) {
    write.opened = TimePoint(seconds(100));
    const OperationLease op_lease(std::move(write), WriteLease(), "", loop_.get_executor());
    return TimePoint(seconds(100 + looked)) < may_come_to_more_until(op_lease, by);
  }
  boost::asio::io_context loop_;
};

TEST_F(MayComeToMore, OnlyWhatMayBeOnItsWayOrRunsUnseen) {
  EXPECT_FALSE(after(0, {}));
  LeasedWrite lost;
  lost.is_on_its_way = true;
  EXPECT_TRUE(after(9, lost));
  EXPECT_FALSE(after(10, lost));
  EXPECT_FALSE(after(9, lost, TrackedBy::StatusUrl)) << "ARM has it";
  LeasedWrite inherited = lost;
  inherited.inherited = true;
  EXPECT_TRUE(after(59, inherited)) << "ARM gives a request up after a minute";
  EXPECT_FALSE(after(60, inherited));
  LeasedWrite unseen;
  unseen.runs_unseen = true;
  EXPECT_TRUE(after(4, unseen, TrackedBy::ResourceGone));
  EXPECT_FALSE(after(5, unseen, TrackedBy::ResourceGone));
}

TEST_F(MayComeToMore, NotWhatWasSeenRunning) {
  LeasedWrite unseen;
  unseen.runs_unseen = true;
  unseen.opened = TimePoint(seconds(100));
  OperationLease op_lease(unseen, WriteLease(), "", loop_.get_executor());
  op_lease.note_running(TimePoint(seconds(101)));
  EXPECT_GE(TimePoint(seconds(102)), may_come_to_more_until(op_lease, TrackedBy::ResourceState));
}

}  // namespace
}  // namespace armgate::progress_test
