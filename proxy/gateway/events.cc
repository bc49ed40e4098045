#include "proxy/gateway/events.h"

#include <string>
#include <string_view>

namespace armgate {
namespace {

struct Named {
  LogLevel level;
  std::string_view event;
};

Named named_as(net::NetEventKind kind) {
  using net::NetEventKind;
  switch (kind) {
    case NetEventKind::ConnectionLimit: return {LogLevel::Warning, "connection-limit"};
    case NetEventKind::AcceptFailed: return {LogLevel::Error, "accept-failed"};
    case NetEventKind::ProxyRefused: return {LogLevel::Warning, "connect-refused"};
    case NetEventKind::NameNotTaken: return {LogLevel::Warning, "name-not-taken"};
    case NetEventKind::HandshakeFailed: return {LogLevel::Warning, "handshake-failed"};
    case NetEventKind::RequestRefused: return {LogLevel::Warning, "request-refused"};
    case NetEventKind::BodyLimit: return {LogLevel::Warning, "body-limit"};
    case NetEventKind::TunnelFailed: return {LogLevel::Warning, "tunnel-failed"};
    case NetEventKind::TunnelPastGuard: return {LogLevel::Warning, "tunnel-past-guard"};
    case NetEventKind::TunnelOpened: return {LogLevel::Debug, "tunnel-opened"};
    case NetEventKind::TunnelClosed: return {LogLevel::Debug, "tunnel-closed"};
    case NetEventKind::ConnectionAccepted: return {LogLevel::Debug, "connection-accepted"};
    case NetEventKind::Intercepted: break;
  }
  return {LogLevel::Debug, "intercepted"};
}

}  // namespace

void log_finding(Log& log, WallTime wall, const ObserveFinding& finding) {
  std::string changed;
  for (const auto& pointer : finding.changed) changed += (changed.empty() ? "" : ", ") + pointer;
  const bool waits = finding.kind == ObserveFinding::Kind::Wait;
  log.event(LogLevel::Warning, wall, "would",
            {{"kind", to_text(finding.kind)},
             {"client", finding.client},
             {"other_client", Log::Value::unless_empty(finding.other_client)},
             {"method", finding.method},
             {"resource", finding.resource},
             {"other", Log::Value::unless_empty(finding.other)},
             {"changed", Log::Value::unless_empty(changed)},
             {"base", Log::Value::unless_empty(finding.base)},
             {"why", Log::Value::unless_empty(finding.why)},
             {"waited_ms", waits ? Log::Value(whole_milliseconds(finding.waited)) : Log::Value()}});
}

void log_run_lease(Log& log, WallTime wall, std::string_view event, const RunLeases::Lease& lease, std::string_view who) {
  log.event(LogLevel::Info, wall, event,
            {{"client", lease.client},
             {"resource", lease.resources},
             {"text", lease.purpose},
             {"state", lease.held ? "held" : "waiting"},
             {"age_ms", whole_milliseconds(lease.age)},
             {"operator", who}});
}

void log_event(Log& log, WallTime wall, const net::NetEvent& event) {
  const Named named = named_as(event.kind);
  log.event(named.level, wall, named.event,
            {{"peer", event.peer},
             {"client", event.client},
             {"host", event.host},
             {"method", Log::Value::unless_empty(event.method)},
             {"path", Log::Value::unless_empty(event.path)},
             {"text", event.text}});
}

std::vector<std::pair<std::string_view, uint64_t>> ConnectionEvents::counts() const {
  std::vector<std::pair<std::string_view, uint64_t>> counts;
  for (size_t kind = 0; kind < counts_.size(); ++kind) {
    const Named named = named_as(static_cast<net::NetEventKind>(kind));
    if (named.level >= LogLevel::Warning) counts.emplace_back(named.event, counts_[kind].load(std::memory_order_relaxed));
  }
  return counts;
}

}  // namespace armgate
