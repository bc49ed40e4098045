#include "proxy/observability/upstream_watch.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <deque>
#include <optional>
#include <utility>

#include "proxy/async/spawn.h"

namespace armgate {
namespace {

class Scripted final : public Upstream {
 public:
  Task<Result<UpstreamAnswer>> send(const arm::Request&, SendLimits) override {
    const int status = statuses.front();
    statuses.pop_front();
    if (status == -1) co_return may_not_begin();
    if (status == 0) co_return gateway_error(ErrorKind::Unreachable, "nobody there");
    UpstreamAnswer answer;
    answer.head.status = status;
    co_return std::move(answer);
  }
  std::deque<int> statuses;
};

Task<void> ask(Upstream& upstream, std::vector<int>& seen) {
  const arm::Request request;
  auto answer = co_await upstream.send(request, TimePoint());
  seen.push_back(answer ? answer->head.status : 0);
}

TEST(UpstreamWatch, PassesOnAndCountsByWhatTheStatusMeans) {
  Scripted arm;
  UpstreamWatch watch(arm);
  const std::vector<int> statuses = {200, 201, 304, 409, 409, 412, 429, 404, 400, 500, 503, 503, 0, -1};
  arm.statuses.assign(statuses.begin(), statuses.end());
  boost::asio::io_context io;
  std::vector<int> seen;
  for (size_t i = 0; i < statuses.size(); ++i) spawn(io.get_executor(), ask(watch, seen));
  io.run();
  EXPECT_EQ(seen.size(), statuses.size());
  UpstreamCounts counts = watch.counts();
  counts += UpstreamCounts{.good = 1, .none = 1};
  EXPECT_EQ(counts.good, 4u);
  EXPECT_EQ(counts.conflicts, 2u);
  EXPECT_EQ(counts.preconditions, 1u);
  EXPECT_EQ(counts.throttled, 1u);
  EXPECT_EQ(counts.refused, 2u);
  EXPECT_EQ(counts.failed, 3u);
  EXPECT_EQ(counts.none, 2u) << "what armgate did not send is no silence of ARM's";
}

}  // namespace
}  // namespace armgate
