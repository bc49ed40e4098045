#include "proxy/stages/bind.h"

#include "arm/etag.h"
#include "proxy/policy/body_etag.h"
#include "proxy/stages/evidence.h"
#include "proxy/stages/remember.h"

namespace armgate {

Bound bind(const Write& write) {
  auto& shared = write.parts.shared;
  if (arm::has_own_precondition(write.head().fields)) {
    Bound bound;
    bound.base.rule = policy::BaseRule::OwnPrecondition;
    bound.first_arrival = write.exchange.arrived;
    return bound;
  }
  if (write.plan.guarded) take_list_items(write.parts, write.client, write.plan);
  const std::string etag = policy::body_etag(write.plan, write.exchange.request.body);
  ArrivingWrite arriving;
  arriving.resource = write.plan.resource_key;
  arriving.bytes = write.bytes;
  arriving.begins = true;
  arriving.facts.arrived = write.exchange.arrived;
  arriving.facts.request_id = write.request_id;
  arriving.facts.body_etag = etag;
  arriving.facts.api_version = write.plan.target.api_version;
  if (write.plan.guarded && etag.empty()) {
    arriving.facts.evidence = content_evidence(write.parts, write.client, write.exchange, write.plan);
  }
  arriving.facts.actor = write.client.actor;
  arriving.facts.peer = write.client.peer;
  arriving.facts.prefer_peer = write.client.by_token;
  policy::Liveness liveness;
  liveness.now = write.parts.clock.now();
  liveness.think_max = shared.options.base.think_max;
  const auto deletion = shared.resources.last_delete(write.plan.target.resource);
  liveness.deleted_order = deletion.when.order;
  const bool before_arrival = deletion.when.order != 0 && deletion.when.order < write.exchange.arrived.order;
  if (before_arrival && deletion.client == write.client.key) arriving.facts.own_delete = deletion.when;
  return write.client.state->bind(arriving, liveness);
}

WriteUnderWay::WriteUnderWay(const Write& write) : write_(write) {
  number_ = write.bound.under_way;
  if (number_ || !write.replaces || write.bound.resend) return;
  number_ = write.client.state->begin_write(write.plan.resource_key, write.request_id, write.parts.clock.now());
}

WriteUnderWay::~WriteUnderWay() {
  if (number_) write_.client.state->end_write(write_.plan.resource_key, *number_);
}

}  // namespace armgate
