// intend.cc – the step that records a write before its first byte leaves.
#include "proxy/request/write/intend.h"

#include <utility>

#include "arm/url.h"
#include "base/mutant.h"
#include "proxy/request/cluster/recorded.h"
#include "proxy/request/queue/reservation.h"

namespace armgate {
namespace {

constexpr size_t kToolBytesMax = 200;  // of a User-Agent: SDKs put the system behind the tool

}  // namespace

IntentRecord record_of(const Write& write, std::string_view also_locked) {
  IntentRecord record;
  record.also_locked = also_locked;
  record.client = write.client.key;
  record.request_hash = write.request_hash;
  record.resend = write.resend;
  if (const auto& named = write.exchange.named) {
    record.named = named->key;
    record.first_sent = named->first_sent;
  }
  record.client_label = write.client.label;
  record.tool = write.head().fields.get("User-Agent").substr(0, kToolBytesMax);
  record.request_id = write.request_id;
  record.method = arm::to_text(write.head().method);  // the token may be in small letters
  record.host = write.head().host;
  record.path = arm::path_of(write.head().target);
  record.api_version = write.plan.target.api_version;
  record.resource = write.plan.target.resource.id;
  return record;
}

Task<Step<Intent>> intend(const Write& write, Guarded guarded) {
  auto& parts = write.parts;
  const std::string also_locked = rules::to_lines(write.references);
  IntentRecord record = record_of(write, also_locked);
  record.if_match = guarded.precondition().if_match;
  record.started = parts.clock.next_moment();
  record.begun = parts.clock.wall();
  record.executor = write.exchange.executor;
  record.claim = guarded.kept_as();
  const auto recorded = co_await parts.store.record_intent(record);
  if (!recorded) {
    // Nobody is to wait for its position meanwhile.
    if (parts.cluster != nullptr) co_return unrecorded(write);
    co_return try_later(write, "The journal cannot take the write.", "journal-unavailable");
  }
  if (!write.client_wait.may_begin()) {
    WriteOutcome not_sent;
    not_sent.kind = OutcomeKind::NotSent;
    not_sent.known = parts.clock.wall();
    parts.store.record_outcome(*recorded, not_sent);
    auto left = client_left(write, "client-left-before-sending");
    reserve_position(write, std::move(guarded).take_lease());
    co_return std::move(left);
  }
  co_return Intent(std::move(guarded), *recorded);
}

}  // namespace armgate
