#include "proxy/cluster/codec.h"

#include <algorithm>
#include <utility>

#include "proxy/cluster/archive.h"

namespace armgate {

template <class A>
void each(A& a, Moment& v) {
  a(v.order, v.time);
}

namespace arm {
template <class A>
void each(A& a, ErrorCodes& v) {
  a(v.code, v.message);
}
template <class A>
void each(A& a, Tracking& v) {
  a(v.by, v.status_url, v.location_url, v.state);
}
template <class A>
void each(A& a, ResourceId& v) {
  a(v.id, v.type);
}
template <class A>
void each(A& a, Response& v) {
  a(v.head.status, v.head.reason);
  std::vector<std::pair<std::string, std::string>> fields;
  for (const auto& field : v.head.fields) fields.emplace_back(field.name, field.value);
  uint64_t count = fields.size();
  a(count);
  for (uint64_t i = 0; i < count; ++i) {
    if constexpr (A::kReads) {
      if (!a.ok()) break;
      fields.emplace_back();
    }
    a(fields[i].first, fields[i].second);
    if constexpr (A::kReads) v.head.fields.add(fields[i].first, fields[i].second);
  }
  a(v.body);
}
}  // namespace arm

namespace policy {
template <class A>
void each(A& a, KeptBody& v) {
  a(v.bytes, v.compressed, v.is_partial, v.target, v.etag);
}
template <class A>
void each(A& a, Rendering& v) {
  a(v.api_version, v.body);
}
template <class A>
void each(A& a, UnderWay& v) {
  a(v.id, v.request_hash, v.request_id);
}
template <class A>
void each(A& a, Refusal& v) {
  a(v.request_hash, v.request_id, v.arrived, v.told, v.requested_body, v.found);
}
template <class A>
void each(A& a, MergedWrite& v) {
  a(v.at, v.write_key, v.request_id, v.api_version, v.base, v.requested_body, v.sent);
}
template <class A>
void each(A& a, StateShown& v) {
  a(v.client, v.as, v.request_id, v.asked, v.at, v.write_key, v.absent, v.etag, v.rendering);
}
template <class A>
void each(A& a, NotModified& v) {
  a(v.client, v.request_id, v.asked, v.at, v.etag, v.api_version);
}
template <class A>
void each(A& a, WriteAccepted& v) {
  a(v.cause, v.client, v.request_hash, v.write_key, v.requested_body, v.at, v.certain, v.merged, v.knows_merges,
    v.asked_for_all, v.deletes, v.if_match);
}
template <class A>
void each(A& a, OperationEnded& v) {
  a(v.request_hash, v.at, v.succeeded, v.failed);
}
template <class A>
void each(A& a, ResourceDeleted& v) {
  a(v.client, v.at);
}
template <class A>
void each(A& a, Found& v) {
  a(v.asked);
}
template <class A>
void each(A& a, ResourceCreated& v) {
  a(v.at);
}
template <class A>
void each(A& a, WriteArrived& v) {
  a(v.client, v.write, v.at);
}
template <class A>
void each(A& a, WriteLeft& v) {
  a(v.client, v.write);
}
template <class A>
void each(A& a, Refused& v) {
  a(v.client, v.refusal, v.took_back);
}
template <class A>
void each(A& a, AnswerLost& v) {
  a(v.client, v.shown);
}
template <class A>
void each(A& a, RightUsed& v) {
  a(v.client);
}
template <class A>
void each(A&, ShownByPost&) {}
}  // namespace policy

namespace rules {
template <class A>
void each(A& a, LockKey& v) {
  a(v.id, v.mode);
}
}  // namespace rules

template <class A>
void each(A& a, ListAnswer& v) {
  a(v.scope, v.api_version, v.request_id, v.asked, v.shown, v.body);
}
template <class A>
void each(A& a, ClaimInfo& v) {
  a(v.client_label, v.what, v.since, v.client, v.inherited, v.is_reentrant, v.run_purpose, v.priority, v.is_turn, v.resource,
    v.bytes);
}
template <class A>
void each(A& a, OperationResult& v) {
  a(v.how, v.error);
}
// Of what it changed only names are told (Settled::touched).
template <class A>
void each(A& a, WriteOutcome& v) {
  a(v.kind, v.status, v.is_running, v.tracking, v.known, v.merged, v.result, v.etag, v.owned);
}
template <class A>
void each(A& a, JournaledWrite& v) {
  a(v.client, v.request_hash, v.resend, v.named, v.first_sent, v.client_label, v.tool, v.request_id, v.method, v.host, v.path,
    v.api_version, v.resource, v.if_match, v.also_locked, v.begun, v.owned);
}
template <class A>
void each(A& a, SendingLedger::Asking& v) {
  a(v.sending, v.number);
}
template <class A>
void each(A& a, SendingLedger::Repeats& v) {
  a(v.by_id, v.window, v.running, v.first_sent, v.known_from, v.known_until);
}
template <class A>
void each(A& a, SendingLedger::Arrival& v) {
  a(v.request, v.request_id, v.resource, v.at, v.one_actor, v.content, v.resend, v.repeats);
}
template <class A>
void each(A& a, SendingLedger::Recorded& v) {
  a(v.status, v.etag, v.tracking, v.was_merged, v.ended);
}
template <class A>
void each(A& a, SendingLedger::Ending& v) {
  a(v.kind, v.answer, v.reason, v.intent, v.recorded);
}
template <class A>
void each(A& a, SendingEvent& v) {
  a(v.what, v.client, v.asking, v.arrival, v.ending);
}

namespace cluster {

template <class A>
void each(A& a, PageShown& v) {
  a(v.client, v.page);
}
template <class A>
void each(A& a, ShownAgain& v) {
  a(v.resource, v.shown, v.body);
}
template <class A>
void each(A& a, PageShownAgain& v) {
  a(v.client, v.page, v.body);
}
template <class A>
void each(A& a, PageLost& v) {
  a(v.client, v.shown);
}
template <class A>
void each(A& a, Claimed& v) {
  a(v.claim, v.keys, v.info);
}
template <class A>
void each(A& a, Released& v) {
  a(v.claim, v.some);
}
template <class A>
void each(A& a, OwnAdmitted& v) {
  a(v.claim, v.which);
}
template <class A>
void each(A& a, Intended& v) {
  a(v.claim, v.write, v.is_imported);
}
template <class A>
void each(A& a, Settled& v) {
  a(v.intent, v.outcome, v.touched);
}
template <class A>
void each(A& a, Finished& v) {
  a(v.intent, v.when, v.seen, v.result);
}
template <class A>
void each(A& a, Replayed& v) {
  a(v.intent);
}
template <class A>
void each(A& a, ResultSeen& v) {
  a(v.resource, v.id, v.type, v.method, v.client, v.request_hash, v.intent, v.result, v.at, v.when);
}
template <class A>
void each(A& a, StateSeen& v) {
  a(v.resource, v.id, v.state, v.when);
}
template <class A>
void each(A& a, Probing& v) {
  a(v.resource, v.judged);
}
template <class A>
void each(A& a, Imported& v) {
  a(v.since);
}
template <class A>
void each(A& a, UnlockAsked& v) {
  a(v.key, v.who);
}
template <class A>
void each(A& a, EndTold& v) {
  a(v.host, v.target, v.status, v.body);
}
template <class A>
void each(A& a, OwnedPolled& v) {
  a(v.operation, v.principal);
}
template <class A>
void each(A& a, OwnedLeft& v) {
  a(v.operation);
}
template <class A>
void each(A& a, Reserved& v) {
  a(v.claim);
}
template <class A>
void each(A& a, Yielded& v) {
  a(v.claim);
}
template <class A>
void each(A& a, AbortTaken& v) {
  a(v.key);
}
// Its event is a variant of its own: write_event() and read_event().
template <class A>
void each(A& a, Told& v) {
  a(v.resource);
}

namespace {

// 1: without results of operations; 2: without turns and unlocks; 3: without polls and reservations; 4: without aborts; 5:
// without bodies that are known by their hashes; 6: without what is read by POST. A row is of the oldest format that has what
// is in it, so that replicas of before can read it.
constexpr uint64_t kOldestFormat = 5;
constexpr uint64_t kFormatWithHashes = 6;
constexpr uint64_t kFormat = 7;

uint64_t format_of(const Event& event) {
  const auto* const told = std::get_if<Told>(&event);
  if (told != nullptr && std::holds_alternative<policy::ShownByPost>(told->event)) return kFormat;
  const bool has_hash = std::holds_alternative<ShownAgain>(event) || std::holds_alternative<PageShownAgain>(event);
  return has_hash ? kFormatWithHashes : kOldestFormat;
}

// A variant goes as the place of what it holds among its types, and that.
template <class Variant>
void write_variant(Out& out, Writer& writer, Variant& variant) {
  writer.number(variant.index());
  std::visit([&](auto& value) { out(value); }, variant);
}

template <class Variant, size_t... I>
bool read_variant(In& in, size_t index, Variant& variant, std::index_sequence<I...>) {
  const auto read = [&](auto place) {
    if (index != place) return false;
    in(variant.template emplace<place>());
    return true;
  };
  return (read(std::integral_constant<size_t, I>{}) || ...);
}

template <class Variant>
bool read_variant(In& in, Reader& reader, Variant& variant) {
  return read_variant(in, reader.number(), variant, std::make_index_sequence<std::variant_size_v<Variant>>{});
}

void write_event(Out& out, Writer& writer, Event event) {
  auto* const told = std::get_if<Told>(&event);
  if (told == nullptr) return write_variant(out, writer, event);
  writer.number(event.index());
  out(told->resource);
  write_variant(out, writer, told->event);
}

bool read_event(In& in, Reader& reader, Event& event) {
  const uint64_t index = reader.number();
  if (index != Event(Told{}).index()) {
    return read_variant(in, index, event, std::make_index_sequence<std::variant_size_v<Event>>{});
  }
  Told& told = event.emplace<Told>();
  in(told.resource);
  return read_variant(in, reader, told.event);
}

}  // namespace

std::string encode(const std::vector<Event>& events, TimePoint now) {
  Writer writer;
  Out out(writer, now);
  uint64_t format = kOldestFormat;
  for (const Event& event : events) format = std::max(format, format_of(event));
  writer.number(format);
  writer.number(events.size());
  for (const Event& event : events) write_event(out, writer, event);
  return writer.take();
}

std::optional<std::vector<Event>> decode(std::string_view bytes, TimePoint then) {
  Reader reader(bytes);
  In in(reader, then);
  if (const uint64_t format = reader.number(); format < kOldestFormat || format > kFormat) return std::nullopt;
  std::vector<Event> events;
  for (uint64_t left = reader.number(); left > 0; --left) {
    Event event;
    if (!read_event(in, reader, event) || !reader.ok()) return std::nullopt;
    events.push_back(std::move(event));
  }
  if (!reader.at_end() || !reader.ok()) return std::nullopt;
  return events;
}

}  // namespace cluster
}  // namespace armgate
