#include "proxy/stages/write.h"

#include <fmt/format.h>

#include "proxy/stages/doubt.h"
#include "proxy/stages/remember.h"

namespace armgate {

Write make_write(Pipeline::Parts& parts, Exchange& exchange, const KeyedPlan& plan, const Client& client, Patience& patience) {
  Write write{parts, exchange, plan, client, patience};
  write.bytes = bytes_of(parts.shared.hasher, exchange.request);
  write.authorization = std::string(exchange.request.head.fields.get("authorization"));
  write.request_id = request_id_of(parts.shared.hasher, exchange);
  write.replaces = plan.operation == arm::OperationKind::Put || plan.guarded;
  return write;
}

std::vector<rules::LockKey> all_keys(const Write& write) {
  std::vector<rules::LockKey> keys = write.plan.keys;
  for (const auto& reference : write.references) keys.push_back(reference.key);
  return keys;
}

std::optional<std::string> target_of_neighbour(const Write& write, const arm::ResourceId& other) {
  const auto provider = [](std::string_view type) { return type.substr(0, type.find('/')); };
  const arm::Target& own = write.plan.target;
  if (other.id == own.resource.id || provider(other.type) != provider(own.resource.type)) return std::nullopt;
  return fmt::format("{}?api-version={}", other.id, own.api_version);
}

bool may_run_beside_its_own(const Write& write) {
  const bool moves_a_goal =
      write.plan.operation == arm::OperationKind::Put || write.plan.operation == arm::OperationKind::Patch;
  return moves_a_goal && write.plan.rule->reenter == rules::Reenter::Holder;
}

std::vector<std::string> keys_until_answer(const Write& write) {
  std::vector<std::string> ids;
  for (const auto& reference : write.references) {
    if (reference.until == rules::HoldUntil::Request) ids.push_back(reference.key.id);
  }
  return ids;
}

Hash128 origin_of(const Write& write) {
  return write.parts.shared.hasher.chain(Hash128{write.bound.binding, 1}, write.request_id);
}

arm::Tracking tracked_by_resource(const Write& write) {
  arm::Tracking tracking;
  const bool deletes = write.plan.operation == arm::OperationKind::Delete;
  tracking.by = deletes ? arm::TrackedBy::ResourceGone : arm::TrackedBy::ResourceState;
  return tracking;
}

Outcome client_left(const Write& write, std::string_view reason) {
  write.parts.shared.counters.clients_left.fetch_add(1, std::memory_order_relaxed);
  write.report().reason = reason;
  return {Outcome::Kind::Left, {}, {}};
}

}  // namespace armgate
