// What is counted, and the text that Prometheus reads; docs/monitoring.md held against it.
#include "proxy/observability/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <regex>
#include <set>
#include <string>

#include "tests/support/manual.h"

namespace armgate {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

// Which bucket, counted from 0, takes it.
size_t bucket_of(Duration took) {
  DurationHistogram times;
  times.observe(took);
  const auto buckets = times.counts().buckets;
  return static_cast<size_t>(std::find(buckets.begin(), buckets.end(), 1u) - buckets.begin());
}

TEST(DurationHistogram, ABucketEndsWithItsBound) {
  EXPECT_EQ(bucket_of(Duration(0)), 0u);
  EXPECT_EQ(bucket_of(milliseconds(5)), 0u);
  EXPECT_EQ(bucket_of(milliseconds(5) + Duration(1)), 1u);
  EXPECT_EQ(bucket_of(std::chrono::seconds(300)), DurationHistogram::kBounds.size() - 1);
  EXPECT_EQ(bucket_of(std::chrono::hours(24)), DurationHistogram::kBounds.size());
}

Exchange finished(arm::Method method, int status, Duration waited = {}) {
  Exchange exchange;
  exchange.request.head.method = method;
  exchange.status = status;
  exchange.report.waited = waited;
  return exchange;
}

struct Counted {
  std::array<RequestMetrics, 2> loops;
  ServiceState state;
  UpstreamCounts upstream;
  GatewayTally::Counts tally;
  Counters counters;
  BudgetReport budgets;
  std::vector<OperationResults::Count> results{{"a/b", arm::Progress::Failed, "Bad", 2}};
  Counted() {
    state.cluster = ClusterView{};
    state.cluster->synchronous = 1;
  }
  std::string text() const {
    RequestMetrics::Counts all;
    for (const auto& loop : loops) all += loop.counts();
    return metrics_text(state, all, upstream, tally, counters, results, budgets);
  }
};

TEST(Metrics, TellOfTheClusterIfThereIsOne) {
  Counted counted;
  counted.state.cluster->engine_up = false;
  counted.state.cluster->membership_lease_left = milliseconds(2500);
  counted.state.cluster->warnings = {"a", "b"};
  counted.state.cluster->late = 3;
  counted.state.apart = true;
  for (const char* line : {"\narmgate_cluster_engine_up 0\n", "\narmgate_cluster_lease_seconds 2.5\n",
                           "\narmgate_cluster_synchronous_standbys 1\n", "\narmgate_cluster_warnings 2\n",
                           "\narmgate_cluster_commits_total{commit=\"late\"} 3\n", "\narmgate_ready 0\n"}) {
    EXPECT_THAT(counted.text(), HasSubstr(line));
  }
  counted.state.cluster->synchronous = std::nullopt;
  EXPECT_THAT(counted.text(), Not(HasSubstr("\narmgate_cluster_synchronous_standbys "))) << "not known is not none";
  counted.state.cluster = std::nullopt;
  EXPECT_THAT(counted.text(), Not(HasSubstr("armgate_cluster")));
}

TEST(Metrics, TellHowOperationsEndedByTypeResultAndCode) {
  EXPECT_NE(Counted().text().find("armgate_operation_results_total{type=\"a/b\",result=\"Failed\",code=\"Bad\"} 2"),
            std::string::npos);
}

TEST(Metrics, CountTheRequestsOfAllLoopsByMethodAndStatusAndHowLongTheyTook) {
  Counted counted;
  const auto at = [](int ms) { return TimePoint(milliseconds(ms)); };
  counted.loops[0].count(finished(arm::Method::Get, 200), at(3));
  counted.loops[1].count(finished(arm::Method::Get, 404), at(30));
  counted.loops[0].count(finished(arm::Method::Put, 201, milliseconds(1500)), at(2000));
  counted.loops[1].count(finished(arm::Method::Put, 0), at(2000));
  const std::string text = counted.text();
  for (const char* line : {"\narmgate_requests_total{method=\"GET\",status=\"2xx\"} 1\n",
                           "\narmgate_requests_total{method=\"GET\",status=\"4xx\"} 1\n",
                           "\narmgate_requests_total{method=\"PUT\",status=\"2xx\"} 1\n",
                           "\narmgate_requests_total{method=\"PUT\",status=\"none\"} 1\n",
                           "\narmgate_request_duration_seconds_bucket{kind=\"read\",le=\"0.005\"} 1\n",
                           "\narmgate_request_duration_seconds_bucket{kind=\"read\",le=\"0.05\"} 2\n",
                           "\narmgate_request_duration_seconds_bucket{kind=\"read\",le=\"+Inf\"} 2\n",
                           "\narmgate_request_duration_seconds_count{kind=\"other\"} 2\n",
                           "\narmgate_request_duration_seconds_sum{kind=\"other\"} 4\n", "\narmgate_waited_seconds_count 1\n",
                           "\narmgate_waited_seconds_sum 1.5\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("DELETE"))) << "what never came is not told";
}

TEST(Metrics, TellTheServicesStateAndWhatOthersCounted) {
  Counted counted;
  counted.state.mode = rules::Mode::Observe;
  counted.state.draining = true;
  counted.state.reload_good = false;
  counted.state.authority_until = WallTime(std::chrono::seconds(5000));
  counted.state.locks = {.keys = 4, .waiting = 2};
  counted.state.connections_max = 42;
  counted.state.request_body_bytes = 70'000;
  counted.state.connection_events = {{"handshake-failed", 8}};
  counted.budgets.rows = {{"aa-1", "#12345678", {{arm::Budget::Reads, 40, 250}}, milliseconds(1500), {}}};
  counted.budgets.own_reads = 5;
  counted.budgets.unreadable = 6;
  counted.tally.stale = 7;
  counted.counters.queue_full = 3;
  const std::string text = counted.text();
  EXPECT_THAT(text, HasSubstr("mode=\"observe\""));
  EXPECT_THAT(text, HasSubstr("\narmgate_ready 0\n"));
  EXPECT_THAT(text, HasSubstr("\narmgate_reload_good 0\n"));
  EXPECT_THAT(text, HasSubstr("\narmgate_authority_expires_timestamp_seconds 5000\n"));
  EXPECT_THAT(text, HasSubstr("\narmgate_locked_resources 4\n"));
  EXPECT_THAT(text, HasSubstr("\narmgate_waiting_writes 2\n"));
  EXPECT_THAT(text, HasSubstr("\narmgate_connections_max 42\n"));
  EXPECT_THAT(text, HasSubstr("\narmgate_request_body_bytes 70000\n"));
  EXPECT_THAT(text, HasSubstr("\narmgate_connection_events_total{event=\"handshake-failed\"} 8\n"));
  EXPECT_THAT(text, HasSubstr("\narmgate_outcomes_total{outcome=\"stale\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("\narmgate_events_total{event=\"queue_full\"} 3\n"));
  const std::string whose = R"({subscription="aa-1",principal="#12345678")";
  EXPECT_THAT(text, HasSubstr("\narmgate_arm_remaining_requests" + whose + ",budget=\"subscription-reads\"} 40\n"));
  EXPECT_THAT(text, HasSubstr("\narmgate_arm_come_again_seconds" + whose + "} 1.5\n"));
  EXPECT_THAT(text, HasSubstr("\narmgate_own_questions_total 5\n"));
  EXPECT_THAT(text, HasSubstr("\narmgate_budgets_ignored_total{why=\"unreadable\"} 6\n"));
}

TEST(Metrics, EachNameAndLabelIsInTheManual) {
  const std::string manual = read_manual("docs/monitoring.md").text;
  const std::string text = Counted().text();
  const std::regex told(R"re(# TYPE (\w+)|(?:event|outcome|kind|why)="([\w-]+)")re");
  std::set<std::string> names;
  for (std::sregex_iterator found(text.begin(), text.end(), told), end; found != end; ++found) {
    names.insert((*found)[1].matched ? (*found)[1] : (*found)[2]);
  }
  EXPECT_GT(names.size(), 30u);
  for (const auto& name : names) EXPECT_THAT(manual, HasSubstr("`" + name + "`")) << "docs/monitoring.md does not explain it";
}

}  // namespace
}  // namespace armgate
