#include "proxy/stages/write.h"

#include <fmt/format.h>

#include "proxy/stages/doubt.h"
#include "proxy/stages/remember.h"

namespace armgate {

Write make_write(Pipeline::Parts& parts, Exchange& exchange, const KeyedPlan& plan, const Client& client, Patience& patience) {
  Write write{parts, exchange, plan, client, patience};
  write.bytes = bytes_of(parts.shared.hasher, exchange.request);
  write.request_id = request_id_of(parts.shared.hasher, exchange);
  write.replaces = plan.operation == arm::OperationKind::Put || plan.guarded;
  return write;
}

std::vector<rules::LockKey> all_keys(const Write& write) {
  std::vector<rules::LockKey> keys = write.plan.keys;
  for (const auto& reference : write.references) keys.push_back(reference.key);
  return keys;
}

std::vector<std::string> keys_until_answer(const Write& write) {
  std::vector<std::string> ids;
  for (const auto& reference : write.references) {
    if (reference.until == rules::HoldUntil::Request) ids.push_back(reference.key.id);
  }
  return ids;
}

Hash128 origin_of(const Hasher& hasher, uint64_t binding, std::string_view request_id) {
  return hasher.chain(Hash128{binding, 1}, request_id);
}

Hash128 origin_of(const Write& write) { return origin_of(write.parts.shared.hasher, write.bound.binding, write.request_id); }

Outcome client_left(const Write& write, std::string_view reason) {
  write.parts.shared.counters.clients_left.fetch_add(1, std::memory_order_relaxed);
  write.report().reason = reason;
  return {Outcome::Kind::Left, {}, {}};
}

}  // namespace armgate
