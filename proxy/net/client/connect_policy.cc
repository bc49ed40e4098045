#include "proxy/net/client/connect_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arm/identity.h"
#include "base/text.h"
#include "proxy/http/head_parser.h"
#include "proxy/net/upstream/address_policy.h"
#include "proxy/net/upstream/host_pattern.h"

namespace armgate::net {
namespace {

constexpr std::string_view kForbidden = "ArmgateConnectRefused";

// The address that instance metadata clients ask over plain HTTP (learn.microsoft.com, Azure Instance Metadata
// Service).
constexpr std::string_view kMetadata = "169.254.169.254";

Refusal refuse_plain_request(std::string_view head) {
  const std::string_view line = head.substr(0, head.find_first_of("\r\n"));
  const size_t start = line.find(' ');
  const std::string_view target = start == std::string_view::npos ? std::string_view{} : line.substr(start + 1);
  if (target.starts_with("http://169.254.") || target.starts_with("http://[fd00:ec2::254]")) {
    return {403, kForbidden,
            fmt::format("armgate does not relay requests to the metadata service: set NO_PROXY={}", kMetadata)};
  }
  if (target.starts_with("http://")) {
    return {405, kForbidden, "armgate relays HTTPS only, by CONNECT: set HTTPS_PROXY to it and leave HTTP_PROXY unset"};
  }
  return {405, kForbidden, "this is the proxy port of armgate: set HTTPS_PROXY to it instead of calling it directly"};
}

bool is_local_name(std::string_view host) { return host == "localhost" || host.ends_with(".localhost"); }

}  // namespace

bool carries_mark(const arm::Headers& fields, std::string_view mark) {
  return !mark.empty() && std::any_of(fields.begin(), fields.end(), [mark](const arm::Field& field) {
    return equal_ignoring_case(field.name, kMarkField) && field.value.find(mark) != field.value.npos;
  });
}

ConnectDecision decide_connect(std::string_view head, const http::Limits& limits, const ConnectPolicy& policy) {
  ConnectDecision decision;
  if (!head.starts_with("CONNECT ")) {
    decision.refusal = refuse_plain_request(head);
    return decision;
  }
  auto parsed = http::parse_request_head(head, limits);
  if (!parsed) {
    decision.refusal = refuse_head(parsed.error(), head, limits);
    return decision;
  }
  arm::BasicUser user = arm::basic_user(parsed->proxy_authorization);
  decision.proxy_user = std::move(user.name);
  decision.user_is_unusable = user.is_unusable;
  if (carries_mark(parsed->head.fields, policy.own_mark)) {
    decision.refusal = {403, kForbidden, "the proxy behind armgate is armgate itself: correct upstream.proxy"};
    return decision;
  }
  decision.host = parsed->head.host;
  decision.port = parsed->port.value_or(0);
  if (matches_host(decision.host, policy.intercepted) && decision.port == policy.intercepted_port) {
    decision.action = ConnectAction::Intercept;
    return decision;
  }
  decision.action = ConnectAction::Tunnel;
  if (policy.local_targets == LocalTargets::Allow || matches_host(decision.host, policy.allowed)) return decision;
  std::optional<std::string_view> why;
  if (is_local_name(decision.host)) why = "this machine";
  if (const auto address = address_of(decision.host)) why = refused_address(*address);
  if (why) {
    decision.action = ConnectAction::Refuse;
    decision.refusal = {403, kForbidden,
                        fmt::format("{} is {}, to which armgate opens no tunnel: put it into NO_PROXY", decision.host, *why)};
  }
  return decision;
}

}  // namespace armgate::net
