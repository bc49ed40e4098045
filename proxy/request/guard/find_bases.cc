#include "proxy/request/guard/find_bases.h"

#include <memory>
#include <utility>
#include <vector>

#include "arm/etag.h"
#include "base/mutant.h"
#include "proxy/policy/body_etag.h"
#include "proxy/policy/merged_base.h"
#include "proxy/policy/right.h"
#include "proxy/request/content_coding.h"
#include "proxy/request/read/parents.h"
#include "proxy/request/read/remember.h"

namespace armgate {

void decode_bodies(std::vector<policy::BaseState>& states, size_t bytes_max) {
  for (policy::BaseState& state : states) state.body = in_plain_bytes(state.body, bytes_max);
}

namespace {

// A client's precondition that its rule lets be replaced by a stronger one.
bool may_be_strengthened(const Write& write) {
  const bool wanted = write.plan.guarded && write.plan.rule->guard.star == rules::Star::Strengthen;
  return wanted && arm::asks_for_any_state(write.head().fields);
}

void leave_to_client(Write& write) {
  write.bases = {};
  write.bases.rule = policy::BaseRule::OwnPrecondition;
}

// A client that has given up waiting for its answer and asks for something else is no second actor.
void leave_for_gone_clients(const Write& write) {
  std::vector<uint64_t> unheard;
  write.ask([&](const policy::History& history) {
    const policy::ClientRecord* record = history.client(write.client.key);
    if (record == nullptr) return;
    for (const policy::UnderWay& other : record->under_way) unheard.push_back(other.id);
  });
  std::erase_if(unheard, [&](uint64_t sending) { return sending == 0 || write.ledger().is_heard(sending); });
  for (const uint64_t sending : unheard)
    write.parts.shared.resources.apply(write.plan.resource_key, policy::WriteLeft{write.client.key, sending});
}

}  // namespace

void find_bases(Write& write) {
  const auto& shared = write.parts.shared;
  if (write.has_own_precondition && !may_be_strengthened(write)) return leave_to_client(write);
  const bool is_remembered = rules::is_remembered(write.plan.rule->guard.kind);
  if (is_remembered) {
    take_list_items(write.parts, write.client, write.plan);
    take_from_parents(write.parts, write.client, write.plan);
  }
  write.body_etag = policy::body_etag(write.plan, write.exchange.request.body);
  const auto deletion = shared.resources.last_delete(write.plan.target.resource);
  policy::WriteFacts& facts = write.facts;
  facts.request_id = write.request_id;
  facts.body_etag = write.body_etag;
  facts.api_version = write.plan.target.api_version;
  facts.deleted = deletion.order;
  facts.deleted_by = deletion.client;
  facts.known_from = shared.known_from;
  facts.former = shared.former;
  facts.pages_forgotten = write.client.state->pages_forgotten() != 0;
  const auto& limits = shared.resources.limits();
  write.bases = {};  // stays so where no state is remembered (an order, like a deployment): it is built on none
  write.bases.arrived = facts.arrived.order;
  if (is_remembered) write.ask([&](const policy::History& h) { write.bases = policy::possible_bases(h, limits, facts); });
  facts.body_etag = {};
  const bool nothing_better = write.is_unconditional() || write.rule() == policy::BaseRule::Create;
  if (write.has_own_precondition && nothing_better) return leave_to_client(write);
  const bool is_patch = write.plan.operation == arm::OperationKind::Patch;
  const policy::WantedBody wanted{write.exchange.request.body, facts.api_version,
                                  is_patch ? arm::BodyKind::Partial : arm::BodyKind::Whole};
  if (!write.bases.if_stale.empty()) {
    decode_bodies(write.bases.possible, shared.options.body_keep_max);
    decode_bodies(write.bases.if_stale, shared.options.body_keep_max);
    policy::narrow_down(write.bases, wanted, *body_facts(write.plan));
  }
  if (!write.bases.merged.empty()) decode_bodies(write.bases.possible, shared.options.body_keep_max);
  policy::add_merged(write.bases, wanted, *body_facts(write.plan));
  if (!write.is_unconditional()) write.ledger().note_had_base(write.sending);
}

bool is_forced(const Write& write) {
  const auto& limits = write.parts.shared.resources.limits();
  return write.ask([&](const policy::History& history) { return policy::is_forced(history, limits, write.facts); });
}

WriteUnderWay::WriteUnderWay(const Write& write) : write_(write) {
  if (!write.replaces) return;
  leave_for_gone_clients(write);
  write.parts.shared.resources.apply(
      write.plan.resource_key,
      policy::WriteArrived{write.client.key, {write.sending, write.request_hash, write.request_id}, write.parts.clock.now()});
}

WriteUnderWay::~WriteUnderWay() {
  if (write_.replaces)
    write_.parts.shared.resources.apply(write_.plan.resource_key, policy::WriteLeft{write_.client.key, write_.sending});
}

}  // namespace armgate
