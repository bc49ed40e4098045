#include "proxy/gateway/events.h"

#include <string>
#include <string_view>

namespace armgate {

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

void log_lease(Log& log, WallTime wall, std::string_view event, const RunLeases::Lease& lease, std::string_view who) {
  log.event(LogLevel::Info, wall, event,
            {{"client", lease.client},
             {"resource", lease.resources},
             {"text", lease.purpose},
             {"state", lease.held ? "held" : "waiting"},
             {"age_ms", whole_milliseconds(lease.age)},
             {"operator", who}});
}

void log_event(Log& log, WallTime wall, const net::NetEvent& event) {
  using net::NetEventKind;
  const auto say = [&](LogLevel level, std::string_view name) {
    log.event(level, wall, name,
              {{"peer", event.peer},
               {"client", event.client},
               {"host", event.host},
               {"method", Log::Value::unless_empty(event.method)},
               {"path", Log::Value::unless_empty(event.path)},
               {"text", event.text}});
  };
  switch (event.kind) {
    case NetEventKind::ConnectionLimit: return say(LogLevel::Warning, "connection-limit");
    case NetEventKind::AcceptFailed: return say(LogLevel::Error, "accept-failed");
    case NetEventKind::ProxyRefused: return say(LogLevel::Warning, "connect-refused");
    case NetEventKind::HandshakeFailed: return say(LogLevel::Warning, "handshake-failed");
    case NetEventKind::RequestRefused: return say(LogLevel::Warning, "request-refused");
    case NetEventKind::TunnelFailed: return say(LogLevel::Warning, "tunnel-failed");
    case NetEventKind::TunnelPastGuard: return say(LogLevel::Warning, "tunnel-past-guard");
    case NetEventKind::TunnelOpened: return say(LogLevel::Debug, "tunnel-opened");
    case NetEventKind::TunnelClosed: return say(LogLevel::Debug, "tunnel-closed");
    case NetEventKind::ConnectionAccepted: return say(LogLevel::Debug, "connection-accepted");
    case NetEventKind::Intercepted: return say(LogLevel::Debug, "intercepted");
  }
}

}  // namespace armgate
