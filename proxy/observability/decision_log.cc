#include "proxy/observability/decision_log.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "json/tree.h"
#include "proxy/observability/reason_words.h"
#include "proxy/observability/tally.h"

namespace armgate {
namespace {

using nlohmann::ordered_json;

constexpr size_t kTextBytesMax = 2000;  // ids and what others say may be of any length

std::string_view cut(std::string_view text) { return text.substr(0, kTextBytesMax); }

// In the memory that is there.
void copy_texts(const std::vector<std::string>& from, std::vector<std::string>& to) {
  to.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) to[i] = cut(from[i]);
}

bool is_notable(const Report& report) {
  return !report.reason.empty() || report.merged.count > 0 || report.attempts > 1 || report.waited > Duration::zero();
}

// Beside what the tally knows: how a request fared that was sent and answered as it came.
std::string_view outcome_of(const Exchange& exchange) {
  const std::string_view outcome = to_text(deed_of(exchange));
  if (!outcome.empty()) return outcome;
  if (exchange.report.waited > Duration::zero()) return "waited";
  return exchange.report.attempts > 1 ? "repeated" : "passed";
}

// In the place of one that is forgotten: every guarded write passes here.
void fill(Decision& decision, const Exchange& exchange, WallTime wall, TimePoint now) {
  const Report& report = exchange.report;
  const auto& head = exchange.request.head;
  decision.at = wall;
  decision.client = cut(exchange.client_label);
  decision.method = cut(head.method_token);
  decision.resource = cut(exchange.resource().empty() ? arm::path_of(head.target) : exchange.resource());
  decision.status = exchange.status;
  decision.duration_ms = whole_milliseconds(now - exchange.arrived.time);
  decision.waited_ms = whole_milliseconds(report.waited);
  decision.attempts = report.attempts;
  decision.notable = is_notable(report);
  decision.replayed = report.replayed;
  decision.outcome = outcome_of(exchange);
  decision.guard = cut(report.guard);
  decision.reason = cut(report.reason);
  copy_texts(report.merged.pointers, decision.merged);
  copy_texts(report.locks, decision.locks);
  decision.upstream_code = cut(report.upstream_code);
  decision.upstream_message = cut(report.upstream_message);
  decision.upstream_error = cut(report.upstream_error);
}

// Of a decision without a reason.
std::string_view words_without_reason(const Decision& decision) {
  if (!decision.merged.empty()) return "others had changed something else; both changes were sent together";
  if (decision.attempts > 1) return "sent more than once";
  if (decision.waited_ms > 0) return "waited";
  if (decision.guard.find("unverified") != decision.guard.npos) return "sent at once; what is there could not be read";
  if (decision.guard == "client") return "sent at once with its client's own precondition";
  if (decision.guard == "create") return "sent at once as a create";
  if (decision.guard == "unconditional" || decision.guard == "forgotten")
    return "sent at once, without a precondition: its client has read nothing";
  return decision.guard.empty() ? "sent at once" : "sent at once, held to the state that it was built from";
}

ReasonWords told_of(const Decision& decision) {
  ReasonWords told = words_of(decision.reason);
  if (told.words.empty())
    told.words = decision.reason.empty() ? words_without_reason(decision) : std::string_view(decision.reason);
  return told;
}

Troubles::Event event_of(const Decision& decision) {
  const bool refused = decision.outcome == "stale" || decision.outcome == "refused" || decision.outcome == "unanswered";
  const bool conflict = !refused && (decision.status == 409 || decision.status == 412 || decision.status == 429);
  const ReasonWords told = words_of(decision.reason);
  return {refused, conflict, decision.attempts > 1, decision.waited_ms,
          told.words.empty() ? words_without_reason(decision) : told.words};
}

ordered_json json_of(const Decision& decision) {
  const ReasonWords told = told_of(decision);
  ordered_json json{{"id", decision.id},
                    {"at_ms", std::chrono::duration_cast<std::chrono::milliseconds>(decision.at.time_since_epoch()).count()},
                    {"client", decision.client},
                    {"method", decision.method},
                    {"resource", decision.resource},
                    {"status", decision.status},
                    {"outcome", decision.outcome},
                    {"notable", decision.notable},
                    {"words", told.words},
                    {"duration_ms", decision.duration_ms},
                    {"waited_ms", decision.waited_ms},
                    {"attempts", decision.attempts}};
  const auto add = [&json](const char* name, const std::string& value) {
    if (!value.empty()) json[name] = value;
  };
  if (!told.advice.empty()) json["advice"] = told.advice;
  if (decision.replayed) json["replayed"] = true;
  if (!decision.merged.empty()) json["merged"] = decision.merged;
  if (!decision.locks.empty()) json["locks"] = decision.locks;
  add("guard", decision.guard);
  add("reason", decision.reason);
  add("upstream_code", decision.upstream_code);
  add("upstream_message", decision.upstream_message);
  add("upstream_error", decision.upstream_error);
  return json;
}

ordered_json json_of(const std::vector<Troubles::Counts>& troubles, TimePoint now) {
  ordered_json all = ordered_json::array();
  for (const auto& counts : troubles) {
    all.push_back({{"name", counts.name},
                   {"troubles", counts.all()},
                   {"refused", counts.refused},
                   {"conflicts", counts.conflicts},
                   {"repeated", counts.repeated},
                   {"waited", counts.waited},
                   {"waited_ms", counts.waited_ms},
                   {"last_words", counts.last_words},
                   {"last_age_ms", whole_milliseconds(now - counts.last)}});
  }
  return all;
}

}  // namespace

void DecisionLog::note(const Exchange& exchange, WallTime wall, TimePoint now) {
  const Report& report = exchange.report;
  const bool decided = report.altered || !report.guard.empty() || !report.reason.empty() || report.attempts > 1;
  if (!decided) return;
  const std::lock_guard lock(mutex_);
  Decision& decision = (is_notable(report) ? notable_ : plain_).next();
  fill(decision, exchange, wall, now);
  decision.id = ++last_id_;
  const Troubles::Event event = event_of(decision);
  clients_.add(decision.client, event, now);
  resources_.add(decision.resource, event, now);
}

Decision& DecisionLog::Kept::next() {
  if (all.size() < kKept) return all.emplace_back();
  return all[oldest++ % kKept];
}

std::string DecisionLog::json(WallTime wall, TimePoint now) const {
  std::vector<Decision> all;
  std::vector<Troubles::Counts> clients;
  std::vector<Troubles::Counts> resources;
  {
    const std::lock_guard lock(mutex_);
    all = notable_.all;
    all.insert(all.end(), plain_.all.begin(), plain_.all.end());
    clients = clients_.most(kTroublesShown, now);
    resources = resources_.most(kTroublesShown, now);
  }
  std::sort(all.begin(), all.end(), [](const Decision& a, const Decision& b) { return a.id > b.id; });
  ordered_json decisions = ordered_json::array();
  for (const Decision& decision : all) decisions.push_back(json_of(decision));
  const ordered_json told = {{"now_ms", std::chrono::duration_cast<std::chrono::milliseconds>(wall.time_since_epoch()).count()},
                             {"decisions", std::move(decisions)},
                             {"clients", json_of(clients, now)},
                             {"resources", json_of(resources, now)}};
  return dump_json(told) + "\n";
}

}  // namespace armgate
