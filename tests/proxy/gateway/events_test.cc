// Goal: the lines of the log for what the network, mode observe and leases tell are those of docs/answers.md. Method: each event into a
// log, and the line that came of it.
#include "proxy/gateway/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "json/tree.h"

namespace armgate {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr WallTime kWall = WallTime(milliseconds(1767225600007));

// The members of the one line that `write` makes; null if it makes none at this level.
template <class Write>
json line_of(LogLevel level, Write write) {
  std::ostringstream out;
  auto log = Log::to_stream(out, level);
  write(*log);
  log.reset();
  return out.str().empty() ? json() : json::parse(out.str());
}

TEST(Events, OfTheNetworkHaveANameAndALevelEach) {
  using net::NetEventKind;
  const struct {
    NetEventKind kind;
    const char* event;
    const char* level;
  } rows[] = {
      {NetEventKind::ConnectionLimit, "connection-limit", "warning"},
      {NetEventKind::AcceptFailed, "accept-failed", "error"},
      {NetEventKind::ProxyRefused, "connect-refused", "warning"},
      {NetEventKind::NameNotTaken, "name-not-taken", "warning"},
      {NetEventKind::HandshakeFailed, "handshake-failed", "warning"},
      {NetEventKind::RequestRefused, "request-refused", "warning"},
      {NetEventKind::BodyLimit, "body-limit", "warning"},
      {NetEventKind::TunnelFailed, "tunnel-failed", "warning"},
      {NetEventKind::TunnelPastGuard, "tunnel-past-guard", "warning"},
      {NetEventKind::TunnelOpened, "tunnel-opened", "debug"},
      {NetEventKind::TunnelClosed, "tunnel-closed", "debug"},
      {NetEventKind::ConnectionAccepted, "connection-accepted", "debug"},
      {NetEventKind::Intercepted, "intercepted", "debug"},
  };
  for (const auto& row : rows) {
    const json line = line_of(LogLevel::Debug, [&](Log& log) {
      log_event(log, kWall, {.kind = row.kind, .peer = "10.0.0.7", .client = "nightly", .host = "arm.example", .text = "why"});
    });
    EXPECT_EQ(line["event"], row.event);
    EXPECT_EQ(line["level"], row.level) << row.event;
    EXPECT_EQ(line["peer"], "10.0.0.7");
    EXPECT_EQ(line["client"], "nightly");
    EXPECT_EQ(line["host"], "arm.example");
    EXPECT_FALSE(line.contains("method")) << "it is not known";
    EXPECT_EQ(line["text"], "why");
  }
  EXPECT_EQ(line_of(LogLevel::Info, [](Log& log) { log_event(log, kWall, {.kind = net::NetEventKind::Intercepted}); }), json());
}

TEST(ConnectionEvents, CountWhatSomebodyShouldLookAt) {
  ConnectionEvents events;
  for (const auto kind :
       {net::NetEventKind::HandshakeFailed, net::NetEventKind::TunnelClosed, net::NetEventKind::HandshakeFailed}) {
    events.count(kind);
  }
  using testing::Pair;
  EXPECT_THAT(events.counts(), testing::UnorderedElementsAre(
                                   Pair("connection-limit", 0u), Pair("accept-failed", 0u), Pair("connect-refused", 0u),
                                   Pair("name-not-taken", 0u), Pair("handshake-failed", 2u), Pair("request-refused", 0u),
                                   Pair("body-limit", 0u), Pair("tunnel-failed", 0u), Pair("tunnel-past-guard", 0u)));
}

TEST(Events, AFindingSaysWhatIsKnownAndNothingElse) {
  ObserveFinding finding;
  finding.kind = ObserveFinding::Kind::Stale;
  finding.client = "nightly";
  finding.method = "PUT";
  finding.resource = "/subscriptions/s";
  finding.changed = {"/tags/a", "/sku"};
  json line = line_of(LogLevel::Info, [&](Log& log) { log_finding(log, kWall, finding); });
  EXPECT_EQ(line["event"], "would");
  EXPECT_EQ(line["kind"], "stale");
  EXPECT_EQ(line["changed"], "/tags/a, /sku");
  EXPECT_FALSE(line.contains("other_client")) << line;
  EXPECT_FALSE(line.contains("waited_ms")) << "it is no wait: " << line;
  finding.kind = ObserveFinding::Kind::Wait;
  finding.waited = std::chrono::seconds(3);
  line = line_of(LogLevel::Info, [&](Log& log) { log_finding(log, kWall, finding); });
  EXPECT_EQ(line["waited_ms"], 3000);
}

TEST(Events, ALeaseIsToldWithWhoAskedForIt) {
  RunLeases::Lease lease;
  lease.client = "repair-7";
  lease.purpose = "pool system";
  lease.held = true;
  lease.age = milliseconds(1500);
  const json line = line_of(LogLevel::Info, [&](Log& log) { log_run_lease(log, kWall, "lease-taken", lease, "nadja"); });
  EXPECT_EQ(line["event"], "lease-taken");
  EXPECT_EQ(line["state"], "held");
  EXPECT_EQ(line["age_ms"], 1500);
  EXPECT_EQ(line["operator"], "nadja");
  lease.held = false;
  EXPECT_EQ(line_of(LogLevel::Info, [&](Log& log) { log_run_lease(log, kWall, "lease-taken", lease, "nadja"); })["state"],
            "waiting");
}

}  // namespace
}  // namespace armgate
