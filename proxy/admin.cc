#include "proxy/admin.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "arm/resource_id.h"
#include "proxy/admin_files.h"
#include "proxy/cli_environment.h"
#include "proxy/net/address_policy.h"
#include "proxy/stages/answer.h"

namespace armgate {
namespace {

using nlohmann::ordered_json;

arm::Response page(int status, std::string_view reason, std::string_view type, std::string body) {
  arm::Response response;
  response.head.status = status;
  response.head.reason = std::string(reason);
  response.head.fields = {{"Content-Type", type}, {"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}};
  response.body = std::move(body);
  return response;
}

arm::Response data(const ordered_json& value) {
  return page(200, "OK", "application/json", value.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n");
}

arm::Response plain(int status, std::string_view reason, std::string body) {
  return page(status, reason, "text/plain; charset=utf-8", std::move(body) + "\n");
}

// Nothing from elsewhere runs in it, and it stands in no page from elsewhere.
arm::Response live_page(const AdminFile& file) {
  arm::Response response = page(200, "OK", file.type, std::string(file.content));
  response.head.fields.add("Content-Security-Policy",
                           "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
                           "form-action 'none'; frame-ancestors 'none'");
  response.head.fields.add("Referrer-Policy", "no-referrer");
  return response;
}

constexpr std::string_view kUnlock = "/unlock";

// What no page from elsewhere can be reached under.
bool is_no_name(const std::string& host) { return host == "localhost" || net::address_of(host).has_value(); }

bool is_of_this_machine(const std::string& peer) {
  const auto address = net::address_of(peer);
  return address && net::is_loopback(*address);
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
  return {{"guarded", tally.guarded},       {"stale", tally.stale},         {"refused", tally.refused},
          {"unanswered", tally.unanswered}, {"recovered", tally.recovered}, {"repeated", tally.repeated},
          {"waited", tally.waited}};
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

}  // namespace

arm::Response Admin::answer(const arm::RequestHead& request, const std::string& peer) const {
  const std::string_view path = arm::path_of(request.target);
  const bool unlocks = path == kUnlock || path.starts_with(fmt::format("{}/", kUnlock));
  const bool reads = request.method == arm::Method::Get || request.method == arm::Method::Head;
  if (unlocks ? request.method != arm::Method::Post : !reads) {
    const std::string_view allowed = unlocks ? "POST" : "GET, HEAD";
    arm::Response refused = plain(405, "Method Not Allowed", fmt::format("send {}", allowed));
    refused.head.fields.add("Allow", allowed);
    return refused;
  }
  if (unlocks) return unlock(request, peer);
  if (path == "/healthz") return plain(200, "OK", "ok");
  if (path == "/readyz") {
    return sources_.state().draining ? plain(503, "Service Unavailable", "draining") : plain(200, "OK", "ready");
  }
  if (path == "/metrics") return page(200, "OK", "text/plain; version=0.0.4; charset=utf-8", sources_.metrics());
  const AdminFile* const file = find_admin_file(path);
  if (file == nullptr && path != "/status") {
    return plain(404, "Not Found",
                 "the pages are /, /healthz, /readyz, /metrics and /status; POST /unlock/subscriptions/... releases");
  }
  if (!is_no_name(request.host)) {
    return plain(403, "Forbidden", "this page is given only under an address or localhost as the host, as it names resources");
  }
  return file == nullptr ? status_page() : live_page(*file);
}

arm::Response Admin::unlock(const arm::RequestHead& request, const std::string& peer) const {
  if (!is_no_name(request.host) || !is_of_this_machine(peer)) {
    return plain(403, "Forbidden",
                 "this is only for who asks from this machine: listen.admin must be on loopback, or on all addresses");
  }
  const std::string_view who = request.fields.get("x-armgate-operator");
  if (!is_client_name(who)) {
    return plain(400, "Bad Request", "say in x-armgate-operator who you are: 1 to 64 letters, digits or \"._~-\"");
  }
  const auto resource = arm::parse_resource_id(arm::path_of(request.target).substr(kUnlock.size()));
  if (!resource) return plain(400, "Bad Request", "what stands behind /unlock is no resource id (/subscriptions/...)");
  const Unlocked unlocked = sources_.unlock(sources_.locks.key_of(resource->id), who);
  if (unlocked.on_its_way && unlocked.released.empty()) {
    return plain(409, "Conflict",
                 fmt::format("a write that has {} is on its way to ARM: it ends with ARM's answer, or when that does not come",
                             resource->id));
  }
  if (unlocked.released.empty()) return plain(404, "Not Found", fmt::format("no operation holds {}", resource->id));
  ordered_json released = ordered_json::array();
  for (const auto& write : unlocked.released) {
    released.push_back({{"what", write.what}, {"client", write.client}, {"held_ms", whole_milliseconds(write.held)}});
  }
  const ordered_json answer = {
      {"resource", resource->id}, {"released", std::move(released)}, {"on_its_way", unlocked.on_its_way}};
  return data(answer);
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
    if (entry.state == LockTable::Entry::State::Holds) write["phase"] = to_text(entry.phase);
    if (entry.info.inherited) write["inherited"] = true;
    if (entry.ahead > 0) write.update({{"ahead", entry.ahead}, {"behind", entry.behind}});
    writes.push_back(std::move(write));
  }
  const ordered_json status = {{"version", ARMGATE_VERSION},
                               {"mode", rules::to_text(state.mode)},
                               {"started", fmt::format("{:%FT%TZ}", std::chrono::floor<std::chrono::seconds>(state.started))},
                               {"up_ms", whole_milliseconds(state.up)},
                               {"draining", state.draining},
                               {"config", state.config},
                               {"rules", state.rules},
                               {"connections", state.connections},
                               {"waiting", state.locks.waiting},
                               {"unfinished", state.unfinished},
                               {"journal_writable", state.journal_writable},
                               {"requests", tally.requests},
                               {"counts", counts_of(tally)},
                               {"summary", summary(tally)},
                               {"writes", std::move(writes)},
                               {"writes_left_out", entries.others}};
  return data(status);
}

Task<Receipt> Admin::serve(Exchange& exchange, ClientLink& client) const {
  const arm::Response response = answer(exchange.request.head, exchange.from.peer);
  co_await write_answer(exchange, client, response);
  co_return Receipt();
}

}  // namespace armgate
