// doubt.h – writes whose outcome nobody knows: their re-sends are recognised and answered, not forwarded (DESIGN §6).
#pragma once

#include <optional>

#include "proxy/stages/exchange.h"
#include "proxy/stages/identify.h"
#include "proxy/stages/parts.h"
#include "proxy/state/planned.h"

namespace armgate {

// The identity of what was asked: method, host, target and body. Not who asked.
Hash128 bytes_of(const Hasher& hasher, const arm::Request& request);

// The same with the credential: without it, claims alone would be unverified.
Hash128 resend_key(const Hasher& hasher, const Hash128& bytes, const Client& client);
Hash128 resend_key(const Hasher& hasher, const Exchange& exchange, const Client& client);

// True for a POST that may change something while armgate protects, whether or not a rule names it.
bool is_watched_action(const Exchange& exchange, const rules::Plan& plan);

void note_in_doubt(const Pipeline::Parts& parts, const Exchange& exchange, const KeyedPlan& plan, const Client& client);

// Whether the request is the re-send of a write that is in doubt; Expired is told once.
ClientState::Doubt doubt_about(const Pipeline::Parts& parts, const Exchange& exchange, const Client& client);

// The answer to a re-send of a write that is in doubt; nothing if it may go. Says in the report when a doubt has just expired.
std::optional<arm::Response> answer_while_in_doubt(const Pipeline::Parts& parts, Exchange& exchange, const rules::Plan& plan,
                                                   const Client& client);

}  // namespace armgate
