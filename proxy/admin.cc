#include "proxy/admin.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

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

arm::Response plain(int status, std::string_view reason, std::string body) {
  return page(status, reason, "text/plain; charset=utf-8", std::move(body) + "\n");
}

std::string_view to_text(LockTable::Entry::State state) {
  switch (state) {
    case LockTable::Entry::State::Holds: return "runs";
    case LockTable::Entry::State::Waits: return "waits";
    case LockTable::Entry::State::Away: return "kept";
  }
  return "unknown";
}

}  // namespace

arm::Response Admin::answer(const arm::RequestHead& request) const {
  if (request.method != arm::Method::Get && request.method != arm::Method::Head) {
    arm::Response refused = plain(405, "Method Not Allowed", "nothing can be changed here; send GET");
    refused.head.fields.add("Allow", "GET, HEAD");
    return refused;
  }
  const std::string_view path = arm::path_of(request.target);
  if (path == "/healthz") return plain(200, "OK", "ok");
  if (path == "/readyz") {
    return sources_.state().draining ? plain(503, "Service Unavailable", "draining") : plain(200, "OK", "ready");
  }
  if (path == "/metrics") return page(200, "OK", "text/plain; version=0.0.4; charset=utf-8", sources_.metrics());
  if (path == "/status") {
    if (request.host == "localhost" || net::address_of(request.host)) return page(200, "OK", "application/json", status_page());
    return plain(403, "Forbidden", "this page is given only under an address or localhost as the host, as it names resources");
  }
  return plain(404, "Not Found", "the pages are /healthz, /readyz, /metrics and /status");
}

std::string Admin::status_page() const {
  const ServiceState state = sources_.state();
  const GatewayTally::Counts tally = sources_.tally();
  const LockTable::Entries entries = sources_.locks.entries(kWritesShownMax);

  ordered_json writes = ordered_json::array();
  const TimePoint now = sources_.clock.now();
  for (const auto& entry : entries.oldest) {
    writes.push_back({{"what", entry.info.what},
                      {"client", entry.info.client_label},
                      {"state", to_text(entry.state)},
                      {"since_ms", whole_milliseconds(now - entry.info.since)}});
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
                               {"requests", tally.requests},
                               {"summary", summary(tally)},
                               {"writes", std::move(writes)},
                               {"writes_left_out", entries.others}};
  return status.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

Task<Receipt> Admin::serve(Exchange& exchange, ClientLink& client) const {
  const arm::Response response = answer(exchange.request.head);
  co_await write_answer(exchange, client, response);
  co_return Receipt();
}

}  // namespace armgate
