#include "proxy/request/write/write.h"

#include <fmt/format.h>

#include "arm/etag.h"
#include "base/mutant.h"
#include "proxy/request/answer.h"
#include "proxy/request/read/remember.h"

namespace armgate {

Write make_write(Parts& parts, Exchange& exchange, const KeyedPlan& plan, const Client& client, ClientWait& client_wait) {
  Write write{parts, exchange, plan, client, client_wait};
  write.request_hash = request_hash_of(parts.shared.hasher, exchange.request);
  write.resend = resend_hash_of(parts.shared.hasher, write.request_hash, client, exchange.request.head.fields);
  write.request_id = request_id_of(parts.shared.hasher, exchange);
  write.has_own_precondition = arm::has_own_precondition(exchange.request.head.fields);
  write.replaces = plan.operation == arm::OperationKind::Put || plan.guarded;
  write.facts.client = client.key;
  write.facts.actors = client.declared.actors;
  write.facts.request_hash = write.request_hash;
  write.facts.arrived = exchange.arrived;
  return write;
}

std::string etag_of(const Outcome& outcome, const arm::ResponseHead& answer) {
  const auto in_head = arm::etag_in_head(answer.fields);
  return in_head.empty() ? outcome.body_etag.value_or("") : std::string(in_head);
}

std::vector<rules::LockKey> all_keys(const Write& write) {
  std::vector<rules::LockKey> keys = write.plan.keys;
  for (const auto& reference : write.references) keys.push_back(reference.key);
  return keys;
}

std::vector<std::string> keys_until_answer(const Write& write) {
  std::vector<std::string> ids;
  for (const auto& reference : write.references) {
    if (reference.until == rules::LeaseUntil::Request) ids.push_back(reference.key.id);
  }
  return ids;
}

Hash128 request_hash_of(const Hasher& hasher, const arm::Request& request) {
  return hasher.hash_fields(arm::to_text(request.head.method), request.head.host, request.head.target, request.body);
}

Hash128 resend_hash_of(const Hasher& hasher, const Hash128& request_hash, const Client& client, const arm::Headers& fields) {
  const Hash128 resend = hasher.chain(request_hash, client.credential);
  if (!arm::has_own_precondition(fields)) return resend;
  return hasher.chain(resend, hasher.hash_fields(fields.get("If-Match"), fields.get("If-None-Match"),
                                                 fields.get("If-Modified-Since"), fields.get("If-Unmodified-Since")));
}

Hash128 write_key_of(const Hasher& hasher, uint64_t sending, std::string_view request_id) {
  return hasher.chain(Hash128{sending, 1}, sending == 0 ? request_id : std::string_view());
}

Hash128 write_key_of(const Write& write) { return write_key_of(write.parts.shared.hasher, write.sending, write.request_id); }

bool others_wrote_since(const Write& write, uint64_t order, std::string_view in_doubt_on) {
  return others_wrote_since(write, write_key_of(write), order, in_doubt_on);
}

bool others_wrote_since(const Write& write, const Hash128& write_key, uint64_t order, std::string_view in_doubt_on) {
  if (is_mutant(Mutant::ForeignStateClaimed)) return false;
  const auto does_not_count = [&](const policy::Entry& e) {
    return e.is_of(write.client.key, write_key) || (!in_doubt_on.empty() && e.if_match == in_doubt_on);
  };
  return write.ask([&](const policy::History& history) { return history.written_since(order, does_not_count); });
}

Outcome try_later(const Write& write, std::string_view why, std::string_view reason, std::optional<Duration> come_again) {
  write.report().reason = reason;
  write.report().altered = true;
  const Tried tried = write.report().attempts > 0 ? Tried::WithoutEffect : Tried::No;
  return {Outcome::Kind::TryLater, make_busy(why, come_again.value_or(write.parts.shared.options.retry_after), tried), {}};
}

Outcome client_left(const Write& write, std::string_view reason) {
  write.parts.shared.counters.clients_left.fetch_add(1, std::memory_order_relaxed);
  write.report().reason = reason;
  return {Outcome::Kind::Left, {}, {}};
}

}  // namespace armgate
