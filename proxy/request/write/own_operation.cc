#include "proxy/request/write/own_operation.h"

#include <utility>

#include "arm/owned_url.h"
#include "proxy/request/content_coding.h"
#include "proxy/request/guard/find_bases.h"
#include "proxy/request/guard/reconcile.h"
#include "proxy/request/write/intend.h"
#include "proxy/request/write/settle.h"

namespace armgate {
namespace {

// The one state that it was built from, if it can be told later whether that is there still.
std::optional<policy::BaseState> certain_base(const Write& write) {
  if (write.rule() == policy::BaseRule::OwnPrecondition || write.is_unconditional() || !write.bases.is_certain())
    return std::nullopt;
  std::vector<policy::BaseState> bases = write.bases.possible;
  decode_bodies(bases, write.parts.shared.options.body_keep_max);
  policy::BaseState& base = bases.front();
  const bool is_readable = base.absent || (base.body && !base.is_partial && base.api_version == write.plan.target.api_version);
  if (base.gone || !is_readable) return std::nullopt;
  return std::move(base);
}

std::string url_of(const OwnedOperation& operation, arm::OperationUrl form) {
  return arm::owned_url(operation.host(), operation.target(), {operation.id(), form});
}

}  // namespace

bool may_be_owned(const Write& write) {
  const auto operation = write.plan.operation;
  const bool may_go_again = operation == arm::OperationKind::Put || operation == arm::OperationKind::Patch;
  return may_go_again && write.plan.mode == rules::Mode::Protect && write.plan.rule->late.is_on();
}

std::shared_ptr<OwnedOperation> own_operation(const Write& write, const Outcome& outcome, const LeasedWrite& leased) {
  auto& parts = write.parts;
  const auto& body = write.exchange.request.body;
  const bool as_asked = !write.has_own_precondition && !write.exchange.clients_own && !outcome.runs_unseen;
  const bool fits = body.size() <= parts.shared.options.body_keep_max;
  if (!may_be_owned(write) || !arm::is_at_url(leased.tracking.by) || !as_asked || !fits || write.exchange.principal.is_zero())
    return nullptr;
  auto base = certain_base(write);
  if (!base) return nullptr;
  auto again = std::make_shared<SendAgain>();
  again->share = parts.shared.owned.keep(body.size() + (base->body ? base->body->bytes.size() : 0));
  if (!again->share) return nullptr;
  const Hash128 id = parts.shared.hasher.hash_fields("armgate-operations", std::to_string(leased.intent));
  const std::string also_locked = rules::to_lines(write.references);
  describe(record_of(write, also_locked), again->record);
  again->record.owned = id;
  again->request = write.exchange.request;
  for (const char* field : {"Authorization", "If-Match", "If-None-Match"}) again->request.head.fields.remove(field);
  again->base = *std::move(base);
  again->read_target = views(write).front().target;
  again->principal = write.exchange.principal;
  const Change change = change_of(write, true);
  again->write_key = change.write_key;
  again->requested_body = change.requested_body;
  again->knows_merges = change.knows_merges;
  again->carries_etag = write.may_carry_etag();
  again->creates_only = write.creates_only();
  again->taken = parts.clock.now();
  auto operation =
      std::make_shared<OwnedOperation>(id, leased.host, write.head().target, leased.intent, leased.tracking, std::move(again));
  // Its client's polls may come to other replicas, and tokens are told to none.
  if (parts.cluster != nullptr) operation->keep_token(write.authorization());
  if (!parts.shared.owned.add(operation)) return nullptr;
  return operation;
}

void put_own_urls(const OwnedOperation& operation, arm::Headers& fields) {
  const bool has_location = !operation.snapshot().tracking.location_url.empty();
  arm::replace_operation_urls(fields, url_of(operation, arm::OperationUrl::Status),
                              has_location ? url_of(operation, arm::OperationUrl::Location) : std::string());
}

void put_own_urls(const OwnedOperation& operation, arm::Tracking& answer) {
  if (!answer.status_url.empty()) answer.status_url = url_of(operation, arm::OperationUrl::Status);
  if (!answer.location_url.empty()) answer.location_url = url_of(operation, arm::OperationUrl::Location);
}

}  // namespace armgate
