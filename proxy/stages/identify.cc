#include "proxy/stages/identify.h"

#include "arm/identity.h"
#include "base/mutant.h"

namespace armgate {

Client identify(const Pipeline::Parts& parts, const Exchange& exchange) {
  const Hasher& hasher = parts.shared.hasher;
  const auto authorization = exchange.request.head.fields.get("authorization");
  Client client;
  client.peer = hasher.hash(exchange.from.peer);
  if (!exchange.from.proxy_user.empty()) {
    client.key = hasher.hash_fields("user", exchange.from.proxy_user);
    client.label = exchange.from.proxy_user;
    const auto declared = parts.shared.options.actors.find(exchange.from.proxy_user);
    if (declared != parts.shared.options.actors.end()) client.actor = declared->second;
  } else {
    if (const auto claims = arm::claims_of(authorization)) {
      client.by_token = true;
      client.key = hasher.hash_fields("claims", claims->tenant, claims->principal);
    } else if (!authorization.empty()) {
      client.key = hasher.hash_fields("credential", authorization);
    } else {
      client.key = hasher.hash_fields("peer", exchange.from.peer);
    }
    client.label = "#" + client.key.hex().substr(0, 8);
  }
  if (is_mutant(Mutant::OneCacheForAll)) client.key = Hash128{1, 1};
  client.state = parts.shared.clients.find_or_add(client.key, parts.clock.now());
  return client;
}

}  // namespace armgate
