// identify.h – who sent a request, and what is remembered about them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "proxy/policy/bases.h"
#include "proxy/request/exchange.h"
#include "proxy/request/parts.h"
#include "proxy/state/client_state.h"

namespace armgate {

struct Client {
  Hash128 key{};
  Hash128 principal{};  // as Sender's
  std::string label;    // for people: the proxy user, or the first digits of the hash
  DeclaredClient declared{};
  Hash128 credential{};  // keyed hash of the whole Authorization value: claims alone are unverified
  std::shared_ptr<ClientState> state;
};

// The key of who gives this name in the proxy URL.
Hash128 client_key(const Hasher& hasher, std::string_view proxy_user);

// A keyed hash of the token's stable claims, else of the whole credential; zero if there is none.
Hash128 principal_of(const Hasher& hasher, std::string_view authorization);

// The proxy user if there is one, else the token's stable claims, else the whole credential, else the address.
Client identify(const Parts& parts, const Exchange& exchange);

}  // namespace armgate
