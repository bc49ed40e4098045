#include "proxy/stages/identify.h"

#include "arm/identity.h"
#include "base/mutant.h"

namespace armgate {

namespace {

Sender work_out(const Hasher& hasher, const ConnectionIdentity& from, std::string_view authorization,
                const Hash128& credential) {
  Sender sender;
  sender.credential = credential;
  if (!from.proxy_user.empty()) {
    sender.client = hasher.hash_fields("user", from.proxy_user);
    sender.label = from.proxy_user;
    return sender;
  }
  if (const auto claims = arm::claims_of(authorization)) {
    sender.client = hasher.hash_fields("claims", claims->tenant, claims->principal);
  } else if (!authorization.empty()) {
    sender.client = hasher.hash_fields("credential", authorization);
  } else {
    sender.client = hasher.hash_fields("peer", from.peer);
  }
  sender.label = "#" + sender.client.hex().substr(0, 8);
  return sender;
}

}  // namespace

Client identify(const Pipeline::Parts& parts, const Exchange& exchange) {
  const auto authorization = exchange.request.head.fields.get("authorization");
  Sender unkept;
  Sender& sender = exchange.last_sender != nullptr ? *exchange.last_sender : unkept;
  const Hash128 credential = parts.shared.hasher.hash_fields("authorization", authorization);
  const bool is_known = !sender.client.is_zero() && sender.credential == credential;
  if (!is_known) sender = work_out(parts.shared.hasher, exchange.from, authorization, credential);
  Client client;
  client.key = sender.client;
  client.label = sender.label;
  client.credential = sender.credential;
  if (!exchange.from.proxy_user.empty()) {
    const auto declared = parts.shared.options.actors.find(exchange.from.proxy_user);
    if (declared != parts.shared.options.actors.end()) client.actors = declared->second;
  }
  if (is_mutant(Mutant::OneCacheForAll)) client.key = Hash128{1, 1};
  client.state = parts.shared.clients.find_or_add(client.key, parts.clock.now());
  return client;
}

}  // namespace armgate
