// identify.h – who sent a request, and what is remembered about them.
#pragma once

#include <memory>
#include <string>

#include "base/hash.h"
#include "proxy/policy/bases.h"
#include "proxy/stages/exchange.h"
#include "proxy/stages/parts.h"
#include "proxy/state/client_state.h"

namespace armgate {

struct Client {
  Hash128 key{};
  std::string label;  // for people: the proxy user, or the first digits of the hash
  policy::Actors actors = policy::Actors::Unknown;
  Hash128 credential{};  // keyed hash of the whole Authorization value: claims alone are unverified
  std::shared_ptr<ClientState> state;
};

// The proxy user if there is one, else the token's stable claims, else the whole credential, else the address.
Client identify(const Pipeline::Parts& parts, const Exchange& exchange);

}  // namespace armgate
