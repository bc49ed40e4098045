#include "proxy/stages/doubt.h"

#include "proxy/stages/answer.h"
#include "proxy/stages/remember.h"

namespace armgate {

Hash128 resend_key(const Hasher& hasher, const Hash128& bytes, const Client& client) {
  return hasher.chain(bytes, client.credential);
}

Hash128 resend_key(const Hasher& hasher, const Exchange& exchange, const Client& client) {
  return resend_key(hasher, bytes_of(hasher, exchange.request), client);
}

Hash128 bytes_of(const Hasher& hasher, const arm::Request& request) {
  return hasher.hash_fields(request.head.method_token, request.head.host, request.head.target, request.body);
}

bool is_watched_action(const Exchange& exchange, const rules::Plan& plan) {
  return plan.mode == rules::Mode::Protect && exchange.request.head.method == arm::Method::Post &&
         plan.operation != arm::OperationKind::ReadAction;
}

void note_in_doubt(const Pipeline::Parts& parts, const Exchange& exchange, const KeyedPlan& plan, const Client& client) {
  const Hasher& hasher = parts.shared.hasher;
  const Hash128 resend = resend_key(hasher, exchange, client);
  client.state->note_in_doubt(resend, request_id_of(hasher, exchange), plan.resource_key, parts.clock.next_moment());
}

ClientState::Doubt doubt_about(const Pipeline::Parts& parts, const Exchange& exchange, const Client& client) {
  if (!client.state->has_doubts()) return ClientState::Doubt::None;  // almost always; hashing the body costs more
  const Hasher& hasher = parts.shared.hasher;
  const Hash128 resend = resend_key(hasher, exchange, client);
  return client.state->doubt_of(resend, request_id_of(hasher, exchange), parts.clock.now());
}

std::optional<arm::Response> answer_while_in_doubt(const Pipeline::Parts& parts, Exchange& exchange, const rules::Plan& plan,
                                                   const Client& client) {
  const auto doubt = doubt_about(parts, exchange, client);
  if (doubt == ClientState::Doubt::Expired) exchange.report.reason = "sent-again-after-doubt-expired";
  if (doubt != ClientState::Doubt::InDoubt) return std::nullopt;
  exchange.report.reason = "still-in-doubt";
  exchange.report.altered = true;
  return make_outcome_unknown(plan.target.resource.id, "An earlier sending of this request got no answer.");
}

}  // namespace armgate
