#include "proxy/observability/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <chrono>
#include <sstream>
#include <utility>
#include <vector>

#include "proxy/async/own_counter.h"

namespace armgate {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

double seconds_of(Duration time) { return std::chrono::duration<double>(time).count(); }

double number(const std::atomic<uint64_t>& counter) { return static_cast<double>(counter.load(std::memory_order_relaxed)); }

// Families in the order in which they are told.
class Families {
 public:
  void begin(MetricType type, std::string name, std::string help) {
    families_.push_back({std::move(name), std::move(help), type, {}});
  }
  void gauge(std::string name, std::string help, double value, Labels labels = {}) {
    begin(MetricType::Gauge, std::move(name), std::move(help));
    set(std::move(labels), value);
  }
  void set(Labels labels, double value) { add(std::move(labels)).gauge.value = value; }
  void count(Labels labels, double value) { add(std::move(labels)).counter.value = value; }
  void histogram(Labels labels, const DurationHistogram::Counts& times) {
    ClientMetric::Histogram& told = add(std::move(labels)).histogram;
    for (size_t i = 0; i < times.buckets.size(); ++i) {
      told.sample_count += times.buckets[i];
      if (i < DurationHistogram::kBounds.size()) told.bucket.push_back({told.sample_count, DurationHistogram::kBounds[i]});
    }
    told.sample_sum = times.seconds;
  }
  std::string text() const {
    std::ostringstream text;
    prometheus::TextSerializer().Serialize(text, families_);
    return text.str();
  }

 private:
  ClientMetric& add(Labels labels) {
    ClientMetric& metric = families_.back().metric.emplace_back();
    metric.label = std::move(labels);
    return metric;
  }

  std::vector<MetricFamily> families_;
};

void add_state(Families& families, const ServiceState& state) {
  families.gauge("armgate_info", "The version that runs and the mode in force.", 1,
                 {{"version", ARMGATE_VERSION}, {"mode", std::string(rules::to_text(state.mode))}});
  families.gauge("armgate_start_time_seconds", "When the service was started, since 1970.",
                 std::chrono::duration<double>(state.started.time_since_epoch()).count());
  families.gauge("armgate_authority_expires_timestamp_seconds",
                 "When the authority ends that it signs with, since 1970: no tool trusts its certificates any more.",
                 std::chrono::duration<double>(state.authority_until.time_since_epoch()).count());
  families.gauge("armgate_ready",
                 "1 while new requests are taken, 0 while the service ends or, in a cluster, nothing can be recorded.",
                 state.is_ready() ? 1 : 0);
  families.gauge("armgate_rules", "Rules as they were read at the start or at the last reload.",
                 static_cast<double>(state.rules));
  families.gauge("armgate_rules_draining",
                 "Sets of rules of before a reload that still count beside the present one: writes that began under them run.",
                 static_cast<double>(state.older_rules));
  families.gauge("armgate_reload_good", "1, or 0 if the last reload (SIGHUP) was refused: rules and mode are those of before.",
                 state.reload_good ? 1 : 0);
  families.gauge("armgate_connections", "Connections of clients, tunnels among them.", static_cast<double>(state.connections));
  families.gauge("armgate_connections_max", "How many of them are taken: limits.connections, or what open files allow.",
                 static_cast<double>(state.connections_max));
  families.gauge("armgate_request_body_bytes", "Bodies of requests that are under way; those of up to 16 KiB are not counted.",
                 static_cast<double>(state.request_body_bytes));
  families.gauge("armgate_locked_resources", "Resources that a write or its operation holds, or that are waited for.",
                 static_cast<double>(state.locks.keys));
  families.gauge("armgate_waiting_writes",
                 "Writes that wait for another one, and reservations of clients that are to come again.",
                 static_cast<double>(state.locks.waiting));
  families.gauge("armgate_journal_writable", "1, or 0 while the journal cannot be written and no write is sent.",
                 state.journal_writable ? 1 : 0);
  families.gauge("armgate_unfinished_writes",
                 "Writes that were sent to ARM, or are recorded and about to be, and have no outcome yet.",
                 static_cast<double>(state.unfinished));
  families.begin(MetricType::Counter, "armgate_connection_events_total",
                 "Connections of clients that were refused or failed, by the event in the log.");
  for (const auto& [event, count] : state.connection_events) {
    families.count({{"event", std::string(event)}}, static_cast<double>(count));
  }
}

void add_cluster(Families& families, const ClusterView& cluster) {
  families.gauge("armgate_cluster_engine_up", "1, or 0 while the cluster's engine does not answer this replica.",
                 cluster.engine_up ? 1 : 0);
  families.gauge("armgate_cluster_lease_seconds", "How long the others wait for this replica's next word; 0: it is over.",
                 seconds_of(cluster.membership_lease_left));
  families.gauge("armgate_cluster_replicas_alive", "Replicas that live, at the last look.", static_cast<double>(cluster.alive));
  families.begin(MetricType::Gauge, "armgate_cluster_synchronous_standbys",
                 "Standbys that a commit waits for, at the last look; none is told if the engine does not say (pg_monitor).");
  if (cluster.synchronous) families.set({}, static_cast<double>(*cluster.synchronous));
  families.gauge("armgate_cluster_warnings", "What armgate cluster status warns of.",
                 static_cast<double>(cluster.warnings.size()));
  families.begin(
      MetricType::Counter, "armgate_cluster_commits_total",
      "What this replica told the log: done; late, not answered in time; failed, the connection broke or was not had.");
  for (const auto& [how, count] :
       {std::pair<const char*, uint64_t>{"done", cluster.commits}, {"late", cluster.late}, {"failed", cluster.failed}}) {
    families.count({{"commit", how}}, static_cast<double>(count));
  }
  families.gauge("armgate_cluster_log_position", "The newest row of the cluster's log that this replica knows.",
                 static_cast<double>(cluster.log_position));
  families.gauge("armgate_cluster_log_waiting", "Events of this replica that wait for the log.",
                 static_cast<double>(cluster.log_waiting));
}

void add_upstream(Families& families, const UpstreamCounts& upstream) {
  families.begin(MetricType::Counter, "armgate_upstream_answers_total",
                 "What ARM answered, to clients' requests and to armgate's own questions, by status.");
  for (const auto& [status, count] : {std::pair<const char*, uint64_t>{"good", upstream.good},
                                      {"409", upstream.conflicts},
                                      {"412", upstream.preconditions},
                                      {"429", upstream.throttled},
                                      {"4xx", upstream.refused},
                                      {"5xx", upstream.failed},
                                      {"none", upstream.none}}) {
    families.count({{"status", status}}, static_cast<double>(count));
  }
}

void add_outcomes(Families& families, const GatewayTally::Counts& tally) {
  families.begin(MetricType::Counter, "armgate_outcomes_total", "Requests that were more than passed on, by what was done.");
  for (const auto& [outcome, count] : {std::pair<const char*, uint64_t>{"guarded", tally.guarded},
                                       {"merged", tally.merged},
                                       {"stale", tally.stale},
                                       {"refused", tally.refused},
                                       {"unanswered", tally.unanswered},
                                       {"recovered", tally.recovered},
                                       {"repeated", tally.repeated}}) {
    families.count({{"outcome", outcome}}, static_cast<double>(count));
  }
}

void add_results(Families& families, const std::vector<OperationResults::Count>& results) {
  families.begin(MetricType::Counter, "armgate_operation_results_total",
                 "How accepted writes have ended, their operations included, by type, result and ARM's error code.");
  for (const auto& each : results) {
    families.count({{"type", each.type}, {"result", std::string(arm::to_text(each.how))}, {"code", each.code}},
                   static_cast<double>(each.count));
  }
}

void add_events(Families& families, const Counters& counters) {
  families.begin(MetricType::Counter, "armgate_events_total", "What the service met, by its kind.");
  for (const auto& [event, counter] : {std::pair<const char*, const std::atomic<uint64_t>*>{"forced", &counters.forced},
                                       {"queue_full", &counters.queue_full},
                                       {"wait_timeout", &counters.wait_timeouts},
                                       {"client_left", &counters.clients_left},
                                       {"reservation_kept", &counters.reservations_kept},
                                       {"reservation_claimed", &counters.reservations_claimed},
                                       {"spurious_412", &counters.spurious_412s},
                                       {"merged", &counters.merged},
                                       {"outcome_unknown", &counters.outcomes_unknown},
                                       {"replayed", &counters.replayed},
                                       {"lease_expired", &counters.leases_expired},
                                       {"lease_released", &counters.leases_released},
                                       {"list_too_long", &counters.lists_too_long},
                                       {"references_cut", &counters.references_cut},
                                       {"question_held_back", &counters.questions_held_back},
                                       {"share_waited_for", &counters.paced},
                                       {"resource_sick", &counters.refused_sick},
                                       {"sent_again_late", &counters.sent_again_late},
                                       {"given_up_late", &counters.given_up_late},
                                       {"would_be_stale", &counters.would_be_stale},
                                       {"would_be_merged", &counters.would_be_merged},
                                       {"would_overlap", &counters.would_overlap},
                                       {"would_be_duplicate", &counters.would_be_duplicate},
                                       {"would_wait", &counters.would_wait},
                                       {"would_be_sick", &counters.would_be_sick}}) {
    families.count({{"event", event}}, number(*counter));
  }
}

void add_budgets(Families& families, const BudgetReport& budgets) {
  const auto labels_of = [](const BudgetReport::Row& row) {
    return Labels{{"subscription", row.subscription}, {"principal", row.principal}};
  };
  families.begin(MetricType::Gauge, "armgate_arm_remaining_requests", "What ARM's last answer said is left of a budget.");
  for (const auto& row : budgets.rows) {
    for (const auto& told : row.told) {
      Labels labels = labels_of(row);
      labels.push_back({"budget", std::string(arm::to_text(told.budget))});
      families.set(std::move(labels), told.left);
    }
  }
  families.begin(MetricType::Gauge, "armgate_arm_come_again_seconds", "How long ARM's last 429 still asks to wait.");
  for (const auto& row : budgets.rows) families.set(labels_of(row), seconds_of(row.come_again));
  families.begin(MetricType::Counter, "armgate_own_questions_total", "Reads of armgate's own: polls and comparisons.");
  families.count({}, static_cast<double>(budgets.own_reads));
  families.begin(MetricType::Counter, "armgate_budgets_ignored_total", "What was told about budgets and is not kept, by why.");
  families.count({{"why", "unreadable"}}, static_cast<double>(budgets.unreadable));
  families.count({{"why", "too-many"}}, static_cast<double>(budgets.forgotten));
}

}  // namespace

void DurationHistogram::observe(Duration took) {
  const double seconds = seconds_of(took);
  size_t bucket = 0;
  while (bucket < kBounds.size() && seconds > kBounds[bucket]) ++bucket;
  add_alone(buckets_[bucket]);
  add_alone<int64_t>(microseconds_, std::chrono::duration_cast<std::chrono::microseconds>(took).count());
}

DurationHistogram::Counts DurationHistogram::counts() const {
  Counts counts;
  for (size_t i = 0; i < counts.buckets.size(); ++i) counts.buckets[i] = buckets_[i].load(std::memory_order_relaxed);
  counts.seconds = static_cast<double>(microseconds_.load(std::memory_order_relaxed)) / 1'000'000;
  return counts;
}

DurationHistogram::Counts& DurationHistogram::Counts::operator+=(const Counts& more) {
  for (size_t i = 0; i < buckets.size(); ++i) buckets[i] += more.buckets[i];
  seconds += more.seconds;
  return *this;
}

void RequestMetrics::count(const Exchange& exchange, TimePoint now) {
  const arm::Method method = exchange.request.head.method;
  const auto status_class = static_cast<size_t>(exchange.status / 100);
  add_alone(requests_[static_cast<size_t>(method)][status_class < kStatusClasses ? status_class : 0]);
  const bool reads = method == arm::Method::Get || method == arm::Method::Head;
  (reads ? reads_ : others_).observe(now - exchange.arrived.time);
  if (exchange.report.waited > Duration::zero()) waited_.observe(exchange.report.waited);
}

RequestMetrics::Counts RequestMetrics::counts() const {
  Counts counts;
  for (size_t method = 0; method < kMethods; ++method) {
    for (size_t status = 0; status < kStatusClasses; ++status) {
      counts.requests[method][status] = requests_[method][status].load(std::memory_order_relaxed);
    }
  }
  counts.reads = reads_.counts();
  counts.others = others_.counts();
  counts.waited = waited_.counts();
  return counts;
}

RequestMetrics::Counts& RequestMetrics::Counts::operator+=(const Counts& more) {
  for (size_t method = 0; method < kMethods; ++method) {
    for (size_t status = 0; status < kStatusClasses; ++status) requests[method][status] += more.requests[method][status];
  }
  reads += more.reads;
  others += more.others;
  waited += more.waited;
  return *this;
}

std::string metrics_text(const ServiceState& state, const RequestMetrics::Counts& requests, const UpstreamCounts& upstream,
                         const GatewayTally::Counts& tally, const Counters& counters,
                         const std::vector<OperationResults::Count>& results, const BudgetReport& budgets) {
  Families families;
  add_state(families, state);
  if (state.cluster) add_cluster(families, *state.cluster);
  families.begin(
      MetricType::Counter, "armgate_requests_total",
      "Requests to ARM that have ended, by method and status; status \"none\": their client went without an answer.");
  for (size_t method = 0; method < RequestMetrics::kMethods; ++method) {
    for (size_t status = 0; status < RequestMetrics::kStatusClasses; ++status) {
      const uint64_t count = requests.requests[method][status];
      if (count == 0) continue;
      const std::string status_text = status == 0 ? "none" : std::to_string(status) + "xx";
      families.count({{"method", std::string(arm::to_text(static_cast<arm::Method>(method)))}, {"status", status_text}},
                     static_cast<double>(count));
    }
  }
  families.begin(MetricType::Histogram, "armgate_request_duration_seconds",
                 "From a request's first byte to its answer's last, waiting and ARM's own time included.");
  families.histogram({{"kind", "read"}}, requests.reads);
  families.histogram({{"kind", "other"}}, requests.others);
  families.begin(MetricType::Histogram, "armgate_waited_seconds",
                 "How long requests waited for others' writes and before they were sent again, if they waited at all.");
  families.histogram({}, requests.waited);
  add_upstream(families, upstream);
  add_outcomes(families, tally);
  add_results(families, results);
  add_events(families, counters);
  add_budgets(families, budgets);
  return families.text();
}

}  // namespace armgate
