// connect_policy.h – what becomes of the first request on the proxy port. Decided by the text alone, before any DNS.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arm/http.h"
#include "base/result.h"
#include "proxy/http/limits.h"
#include "proxy/net/client/refusal.h"
#include "proxy/net/upstream/connector.h"

namespace armgate::net {

struct ConnectPolicy {
  std::vector<std::string> intercepted;
  uint16_t intercepted_port = 443;
  LocalTargets local_targets = LocalTargets::Refuse;
  std::vector<std::string> allowed;  // hosts that may be reached wherever they lead
  std::string own_mark;              // of this process; empty: none
};

enum class ConnectAction { Intercept, Tunnel, Refuse };

struct ConnectDecision {
  ConnectAction action = ConnectAction::Refuse;
  std::string host;  // lower case
  uint16_t port = 0;
  std::string proxy_user;         // of Proxy-Authorization, whose password nobody looks at
  bool user_is_unusable = false;  // it has one of which nothing can be made: proxy_user is empty
  Refusal refusal;                // for Refuse
};

// Whether who has this mark sent it, itself or through others: proxies on the way may have added themselves, behind it or in a
// field of their own. Several armgates in a row are meant so; the same one twice never is.
bool carries_mark(const arm::Headers& fields, std::string_view mark);

// `head`: the whole first head, or the refused beginning of one.
ConnectDecision decide_connect(std::string_view head, const http::Limits& limits, const ConnectPolicy& policy);

}  // namespace armgate::net
