#include "proxy/observability/admin.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "arm/resource_id.h"
#include "base/text.h"
#include "base/utc.h"
#include "json/tree.h"
#include "proxy/async/waiter.h"
#include "proxy/observability/admin/admin_page.h"
#include "proxy/observability/admin_files.h"
#include "proxy/observability/record_view.h"
#include "proxy/request/answer.h"
#include "proxy/request/operation/unlock.h"
#include "proxy/seams/which_writes.h"
#include "proxy/state/budgets.h"
#include "proxy/state/operation/operation_results.h"

namespace armgate {
namespace {

using nlohmann::ordered_json;

// Nothing from elsewhere runs in it, and it stands in no page from elsewhere.
arm::Response live_page(const AdminFile& file) {
  arm::Response response = admin_page(200, "OK", file.type, std::string(file.content));
  response.head.fields.add("Content-Security-Policy",
                           "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
                           "form-action 'none'; frame-ancestors 'none'");
  response.head.fields.add("Referrer-Policy", "no-referrer");
  return response;
}

constexpr std::string_view kUnlock = "/unlock";

bool is_at_or_under(std::string_view path, std::string_view place) {
  return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
}

std::string_view to_text(LockTable::Entry::State state) {
  switch (state) {
    case LockTable::Entry::State::Holds: return "runs";
    case LockTable::Entry::State::Waits: return "waits";
    case LockTable::Entry::State::Away: return "kept";
  }
  return "unknown";
}

// What was more than passed on, in the words of the metric armgate_outcomes_total.
ordered_json counts_of(const GatewayTally::Counts& tally) {
  return {{"guarded", tally.guarded},   {"merged", tally.merged},         {"stale", tally.stale},
          {"refused", tally.refused},   {"unanswered", tally.unanswered}, {"recovered", tally.recovered},
          {"repeated", tally.repeated}, {"waited", tally.waited}};
}

ordered_json budgets_of(const BudgetReport& report) {
  ordered_json rows = ordered_json::array();
  for (const auto& row : report.rows) {
    ordered_json told = ordered_json::array();
    for (const auto& [budget, left, most] : row.told) {
      told.push_back({{"budget", arm::to_text(budget)}, {"left", left}, {"most", most}});
    }
    ordered_json waiting = ordered_json::array();
    for (const auto& [client, what, waited] : row.waiting) {
      waiting.push_back({{"client", client}, {"what", what}, {"waited_ms", whole_milliseconds(waited)}});
    }
    rows.push_back({{"subscription", row.subscription},
                    {"principal", row.principal},
                    {"told", std::move(told)},
                    {"come_again_ms", whole_milliseconds(row.come_again)},
                    {"waiting", std::move(waiting)}});
  }
  return rows;
}

std::string_view to_text(WritePhase phase) {
  switch (phase) {
    case WritePhase::Sent: return "sent";
    case WritePhase::Again: return "again";
    case WritePhase::Runs: return "runs";
    case WritePhase::Doubt: return "doubt";
  }
  return "unknown";
}

ordered_json cluster_of(const ClusterView& cluster, bool is_ready) {
  return {{"replica", cluster.replica},
          {"ready", is_ready},
          {"engine_up", cluster.engine_up},
          {"lease_ms", whole_milliseconds(cluster.membership_lease_left)},
          {"replicas_alive", cluster.alive},
          {"synchronous_standbys", cluster.synchronous ? ordered_json(*cluster.synchronous) : ordered_json(nullptr)},
          {"log_position", cluster.log_position},
          {"log_waiting", cluster.log_waiting},
          {"commits", {{"done", cluster.commits}, {"late", cluster.late}, {"failed", cluster.failed}}},
          {"warnings", cluster.warnings}};
}

constexpr std::string_view kHistory = "/history";
constexpr size_t kFailuresShown = 10;

void add_error(ordered_json& json, const arm::ErrorCodes& error) {
  if (!error.code.empty()) json["error_code"] = error.code;
  if (!error.message.empty()) json["message_code"] = error.message;
}

// How accepted writes have ended, whatever their types.
ordered_json results_of(const std::vector<OperationResults::Count>& counts) {
  std::map<std::string, uint64_t> all{{"succeeded", 0}, {"failed", 0}, {"canceled", 0}, {"unknown", 0}};
  for (const auto& each : counts) all[lower_text(arm::to_text(each.how))] += each.count;
  return all;
}

ordered_json failures_of(const std::vector<OperationResults::Last>& last) {
  ordered_json all = ordered_json::array();
  for (const auto& one : last) {
    if (all.size() == kFailuresShown) break;
    ordered_json failure{{"when", utc_text(one.when)},
                         {"what", one.method + " " + one.resource},
                         {"client", one.client},
                         {"result", arm::to_text(one.result.how)}};
    add_error(failure, one.result.error);
    all.push_back(std::move(failure));
  }
  return all;
}

ordered_json sick_of(const std::vector<OperationResults::Sick>& sick) {
  ordered_json all = ordered_json::array();
  for (const auto& one : sick) {
    const bool fails = one.why == OperationResults::Sick::Why::Failing;
    ordered_json told{{"resource", one.resource}, {"why", fails ? "failing" : "stuck"}, {"since", utc_text(one.since)}};
    if (fails) told.update({{"failures", one.failures}, {"last", utc_text(one.last)}});
    add_error(told, one.error);
    if (!one.state.empty()) told["state"] = one.state;
    all.push_back(std::move(told));
  }
  return all;
}

}  // namespace

const Admin::Page* Admin::find_page(std::string_view path) {
  static constexpr Page kPages[] = {{"/healthz", &Admin::healthz_page, false}, {"/readyz", &Admin::readyz_page, false},
                                    {"/metrics", &Admin::metrics_page, false}, {"/status", &Admin::status_page, true},
                                    {"/recent", &Admin::recent_page, true},    {"/decisions", &Admin::decisions_page, true}};
  const auto* const found =
      std::find_if(std::begin(kPages), std::end(kPages), [&](const Page& page) { return page.path == path; });
  return found == std::end(kPages) ? nullptr : found;
}

arm::Response Admin::healthz_page() const { return admin_text(200, "OK", "ok"); }

arm::Response Admin::readyz_page() const {
  const ServiceState state = sources_.state();
  if (!state.is_ready()) return admin_text(503, "Service Unavailable", state.draining ? "draining" : "apart");
  return admin_text(200, "OK", "ready");
}

arm::Response Admin::metrics_page() const {
  return admin_page(200, "OK", "text/plain; version=0.0.4; charset=utf-8", sources_.metrics());
}

arm::Response Admin::recent_page() const { return admin_page(200, "OK", "application/json", sources_.recent()); }

arm::Response Admin::decisions_page() const { return admin_page(200, "OK", "application/json", sources_.decisions()); }

arm::Response Admin::history_page(const arm::RequestHead& request) const {
  std::string_view resource = arm::path_of(request.target).substr(kHistory.size());
  const auto id = arm::parse_resource_id(resource);
  if (!resource.empty() && !id)
    return admin_text(400, "Bad Request", "what stands behind /history is no resource id (/subscriptions/...)");
  const std::string asked = std::string(arm::query_parameter(request.target, "last").value_or(""));
  size_t most = 20;
  const char* const end = asked.data() + asked.size();
  const auto [behind, wrong] = std::from_chars(asked.data(), end, most);
  const bool is_number = asked.empty() || (wrong == std::errc() && behind == end);
  if (!is_number || most > kHistoryMax) {
    return admin_text(
        400, "Bad Request",
        fmt::format("last is no number up to {}; more of a journal is read by: armgate history --last N", kHistoryMax));
  }
  const std::string_view only = arm::query_parameter(request.target, "only").value_or("");
  if (!only.empty() && only != kOnlyWritten) return admin_text(400, "Bad Request", fmt::format("only can be {}", kOnlyWritten));
  const auto which = only.empty() ? WhichWrites::All : WhichWrites::MayHaveWritten;
  auto told = sources_.history(most, id ? id->id : "", which);
  if (!told) return admin_text(503, "Service Unavailable", told.error().context);
  return admin_page(200, "OK", "application/json", *std::move(told) + "\n");
}

arm::Response Admin::answer(const arm::Request& whole, const std::string& peer) const {
  const arm::RequestHead& request = whole.head;
  const std::string_view path = arm::path_of(request.target);
  if (is_at_or_under(path, kLeasesPath)) {
    const auto refused = refuse_as_operator(request, peer);
    return refused ? *refused : answer_leases(sources_.leases, whole);
  }
  if (!whole.body.empty()) return admin_text(413, "Content Too Large", "only POST /leases has a body");
  const bool unlocks = is_at_or_under(path, kUnlock);
  const AdminFile* const file = find_admin_file(path);
  const bool is_history = is_at_or_under(path, kHistory);
  const Page* const page = find_page(path);
  if (!unlocks && file == nullptr && !is_history && page == nullptr) {
    return admin_text(
        404, "Not Found",
        "the pages are /, /healthz, /readyz, /metrics, /status, /recent, /decisions and /history; POST /unlock/subscriptions/... releases, POST "
        "/leases keeps");
  }
  const bool reads = request.method == arm::Method::Get || request.method == arm::Method::Head;
  if (unlocks ? request.method != arm::Method::Post : !reads) {
    const std::string_view allowed = unlocks ? "POST" : "GET, HEAD";
    arm::Response refused = admin_text(405, "Method Not Allowed", fmt::format("send {}", allowed));
    refused.head.fields.add("Allow", allowed);
    return refused;
  }
  if (unlocks) return unlock(request, peer);
  if (page != nullptr && !page->names_resources) return (this->*page->give)();
  if (!is_no_name(request.host)) {
    return admin_text(403, "Forbidden",
                      "this page is given only under an address or localhost as the host, as it names resources");
  }
  if (file != nullptr) return live_page(*file);
  return is_history ? history_page(request) : (this->*page->give)();
}

arm::Response Admin::unlock(const arm::RequestHead& request, const std::string& peer) const {
  if (const auto refused = refuse_as_operator(request, peer)) return *refused;
  const std::string_view who = request.fields.get("x-armgate-operator");
  const auto resource = arm::parse_resource_id(arm::path_of(request.target).substr(kUnlock.size()));
  if (!resource) return admin_text(400, "Bad Request", "what stands behind /unlock is no resource id (/subscriptions/...)");
  const Unlocked unlocked = sources_.unlock(sources_.locks.key_of(resource->id), who);
  if (unlocked.on_its_way && unlocked.released.empty()) {
    return admin_text(
        409, "Conflict",
        fmt::format("a write that has {} is on its way to ARM: it ends with ARM's answer, or when that does not come",
                    resource->id));
  }
  if (unlocked.released.empty() && !unlocked.others_told)
    return admin_text(404, "Not Found", fmt::format("no operation holds {}", resource->id));
  ordered_json released = ordered_json::array();
  for (const auto& write : unlocked.released) {
    ordered_json told = {{"what", write.what}, {"client", write.client}, {"held_ms", whole_milliseconds(write.held)}};
    if (write.inherited) told["inherited"] = true;
    released.push_back(std::move(told));
  }
  ordered_json answer = {{"resource", resource->id},
                         {"released", std::move(released)},
                         {"on_its_way", unlocked.on_its_way},
                         {"others_told", unlocked.others_told}};
  if (!unlocked.lease_of.empty()) answer["lease_of"] = unlocked.lease_of;
  return admin_json(200, "OK", answer);
}

arm::Response Admin::status_page() const {
  const ServiceState state = sources_.state();
  const GatewayTally::Counts tally = sources_.tally();
  const LockTable::Entries entries = sources_.locks.entries(kWritesShownMax);

  ordered_json writes = ordered_json::array();
  const TimePoint now = sources_.clock.now();
  for (const auto& entry : entries.oldest) {
    ordered_json write = {{"id", entry.number},
                          {"what", entry.info.what},
                          {"client", entry.info.client_label},
                          {"state", to_text(entry.state)},
                          {"since_ms", whole_milliseconds(now - entry.info.since)}};
    // A turn holds the resource as a write does, and nothing of it is sent.
    if (entry.state == LockTable::Entry::State::Holds) write["phase"] = entry.info.is_turn ? "kept" : to_text(entry.phase);
    if (entry.seen) write["seen_ms"] = whole_milliseconds(now - *entry.seen);
    if (entry.info.inherited) write["inherited"] = true;
    // Of a cluster another may have heard.
    const bool runs = entry.state == LockTable::Entry::State::Holds && entry.phase == WritePhase::Runs;
    if (runs && entry.info.inherited && !entry.seen && !state.cluster) write["unseen"] = true;
    if (entry.ahead > 0) write.update({{"ahead", entry.ahead}, {"behind", entry.behind}});
    writes.push_back(std::move(write));
  }
  ordered_json status = {{"version", ARMGATE_VERSION},
                         {"mode", rules::to_text(state.mode)},
                         {"started", utc_text(state.started)},
                         {"up_ms", whole_milliseconds(state.up)},
                         {"draining", state.draining},
                         {"config", state.config},
                         {"rules", state.rules},
                         {"connections", state.connections},
                         {"waiting", state.locks.waiting},
                         {"unfinished", state.unfinished},
                         {"journal_writable", state.journal_writable},
                         {"reload_good", state.reload_good},
                         {"requests", tally.requests},
                         {"counts", counts_of(tally)},
                         {"summary", summary(tally)},
                         {"budgets", budgets_of(sources_.budgets())},
                         {"results", results_of(sources_.results.counts())},
                         {"failures", failures_of(sources_.results.last())},
                         {"sick", sick_of(sources_.results.sick(now, sources_.is_at_work))},
                         {"writes", std::move(writes)},
                         {"writes_left_out", entries.others},
                         {"totals", {{"runs", entries.hold}, {"waits", entries.wait}, {"kept", entries.away}}}};
  if (state.cluster) status["cluster"] = cluster_of(*state.cluster, state.is_ready());
  return admin_json(200, "OK", status);
}

arm::Response Admin::answer_alone(const arm::Request& whole, const std::string& peer) const {
  const std::lock_guard alone(alone_);
  try {
    return answer(whole, peer);
  } catch (const std::exception& fault) {
    return admin_text(503, "Service Unavailable", fmt::format("this cannot be told now: {}", fault.what()));
  }
}

// The loop turns on meanwhile.
Task<arm::Response> Admin::answer_aside(const Exchange& exchange) const {
  arm::Response response;
  Waiter done(exchange.executor);
  const std::jthread reader([&] {
    response = answer_alone(exchange.request, exchange.from.peer);
    done.signal(1);
  });
  co_await done.wait();
  co_return std::move(response);
}

Task<Receipt> Admin::serve(Exchange& exchange, ClientLink& client) const {
  arm::Response response;
  if (is_at_or_under(arm::path_of(exchange.request.head.target), kHistory)) {
    response = co_await answer_aside(exchange);
  } else {
    response = answer(exchange.request, exchange.from.peer);
  }
  co_await write_answer(exchange, client, response);
  co_return Receipt();
}

}  // namespace armgate
