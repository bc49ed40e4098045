#include "proxy/request/identify.h"

#include "arm/identity.h"
#include "base/mutant.h"

namespace armgate {

Hash128 client_key(const Hasher& hasher, std::string_view proxy_user) { return hasher.hash_fields("user", proxy_user); }

namespace {

Sender work_out(const Hasher& hasher, const ConnectionIdentity& from, std::string_view authorization) {
  Sender sender;
  sender.credential = hasher.hash_fields("authorization", authorization);
  sender.principal = principal_of(hasher, authorization);
  if (!from.proxy_user.empty()) {
    sender.client = client_key(hasher, from.proxy_user);
    sender.label = from.proxy_user;
    return sender;
  }
  sender.client = sender.principal.is_zero() ? hasher.hash_fields("peer", from.peer) : sender.principal;
  sender.label = sender.client.tag();
  return sender;
}

}  // namespace

Hash128 principal_of(const Hasher& hasher, std::string_view authorization) {
  if (authorization.empty()) return {};
  if (const auto claims = arm::claims_of(authorization)) return hasher.hash_fields("claims", claims->tenant, claims->principal);
  return hasher.hash_fields("credential", authorization);
}

Client identify(const Parts& parts, const Exchange& exchange) {
  const auto authorization = exchange.request.head.fields.get("authorization");
  Sender unkept;
  Sender& sender = exchange.last_sender != nullptr ? *exchange.last_sender : unkept;
  const Fingerprint shown = parts.shared.fingerprints.of(authorization);
  const bool is_known = !sender.client.is_zero() && sender.shown == shown;
  if (!is_known) {
    sender = work_out(parts.shared.hasher, exchange.from, authorization);
    sender.shown = shown;
  }
  Client client;
  client.key = sender.client;
  client.principal = sender.principal;
  client.label = sender.label;
  client.credential = sender.credential;
  if (!exchange.from.proxy_user.empty()) {
    const auto declared = parts.shared.options.clients.find(exchange.from.proxy_user);
    if (declared != parts.shared.options.clients.end()) client.declared = declared->second;
  }
  if (is_mutant(Mutant::OneCacheForAll)) client.key = Hash128{1, 1};
  client.state = parts.shared.clients.find_or_add(client.key, parts.clock.now());
  return client;
}

}  // namespace armgate
