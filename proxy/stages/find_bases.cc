#include "proxy/stages/find_bases.h"

#include <memory>
#include <utility>

#include "arm/etag.h"
#include "base/mutant.h"
#include "proxy/policy/body_etag.h"
#include "proxy/policy/outcome.h"
#include "proxy/stages/content_coding.h"
#include "proxy/stages/remember.h"

namespace armgate {

void decode_bodies(std::vector<policy::BaseState>& states, size_t bytes_max) {
  for (policy::BaseState& state : states) {
    if (!state.body || !state.body->compressed) continue;
    auto plain = plain_body(*state.body, bytes_max);
    auto decoded = std::make_shared<policy::KeptBody>();
    decoded->is_partial = state.body->is_partial;
    if (plain) decoded->bytes = (*std::move(plain)).into_string();
    state.body = plain ? std::move(decoded) : nullptr;
  }
}

void find_bases(Write& write) {
  const auto& shared = write.parts.shared;
  if (arm::has_own_precondition(write.head().fields)) {
    write.bases.rule = policy::BaseRule::OwnPrecondition;
    return;
  }
  if (write.plan.guarded) take_list_items(write.parts, write.client, write.plan);
  const std::string etag = policy::body_etag(write.plan, write.exchange.request.body);
  const auto deletion = shared.resources.last_delete(write.plan.target.resource);
  policy::WriteFacts& facts = write.facts;
  facts.request_id = write.request_id;
  facts.body_etag = etag;
  facts.api_version = write.plan.target.api_version;
  facts.deleted = deletion.order;
  facts.deleted_by = deletion.client;
  facts.known_from = shared.started.time;
  facts.former = shared.former;
  facts.pages_forgotten = write.client.state->pages_forgotten() != 0;
  const auto& limits = shared.resources.limits();
  shared.resources.ask(write.plan.resource_key, [&](const policy::History& history) {
    write.bases = policy::possible_bases(history, limits, facts);
    write.insists = policy::insists(history, facts, write.bytes);
  });
  facts.body_etag = {};
  if (!write.bases.wide.empty()) {
    decode_bodies(write.bases.narrow, shared.options.body_keep_max);
    decode_bodies(write.bases.wide, shared.options.body_keep_max);
    policy::narrow_down(write.bases, {write.exchange.request.body, facts.api_version}, *body_facts(write.plan));
  }
  if (!write.is_unconditional()) write.ledger().note_had_base(write.sending);
}

WriteUnderWay::WriteUnderWay(const Write& write) : write_(write) {
  if (!write.replaces) return;
  write.parts.shared.resources.apply(
      write.plan.resource_key,
      policy::Arrived{write.client.key, {write.sending, write.bytes, write.request_id}, write.parts.clock.now()});
}

WriteUnderWay::~WriteUnderWay() {
  if (write_.replaces)
    write_.parts.shared.resources.apply(write_.plan.resource_key, policy::Left{write_.client.key, write_.sending});
}

}  // namespace armgate
