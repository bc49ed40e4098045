#include "proxy/policy/right.h"

#include <algorithm>
#include <iterator>

#include "base/mutant.h"
#include "proxy/policy/shown_entries.h"

namespace armgate::policy {
namespace {

// Whether it is a read that the write may be built on.
bool may_be_its_read(const Observation& o, const WriteFacts& write, BaseRule rule) {
  if (o.as == ShownAs::OwnAnswer || o.lost) return false;
  return rule != BaseRule::RequestId || o.request_id == write.request_id;
}

// It is a guess which of several actors reads at which api-version. A client that was refused twice since its last read at the
// write's own version, was told so, and has read again, is taken to read at the version of that read.
OwnVersion own_version_for(const std::vector<ShownEntry>& seen, const ClientRecord& record, const WriteFacts& write) {
  uint64_t read_at_own = 0, read = 0, refused = 0;
  for (const ShownEntry& s : seen) {
    if (s.observation->as == ShownAs::OwnAnswer) continue;
    read = std::max(read, s.observation->last_asked);
    if (s.observation->api_version == write.api_version) read_at_own = std::max(read_at_own, s.observation->last_asked);
  }
  size_t times = 0;
  for (const Refusal& r : record.refusals) {
    if (!was_told(r, write) || r.told < read_at_own) continue;
    refused = std::max(refused, r.told);
    ++times;
  }
  return times >= 2 && read > refused ? OwnVersion::OneOfMany : OwnVersion::Preferred;
}

}  // namespace

Right right_of(const History& history, const HistoryLimits& limits, const WriteFacts& write, BaseRule rule) {
  Right right;
  const ClientRecord* record = history.client(write.client);
  if (record == nullptr || write.actors == Actors::Many || is_mutant(Mutant::NoRightAfterRefusal)) return right;
  const Actors actors = effective_actors(*record, write);
  const uint64_t born = born_at(history, write);
  const std::vector<ShownEntry> seen = shown_before(history, *record, limits, write).known;
  const OwnVersion own_version = own_version_for(seen, *record, write);
  const auto live = live_of(seen, history, limits, write, actors, born, own_version);
  const ShownEntry* last = nullptr;
  for (const ShownEntry& s : live) {
    if (may_be_its_read(*s.observation, write, rule)) last = &s;
  }
  if (last == nullptr) return right;  // one that lags is not what is there
  // A client that is one actor and has written since the refusal got through. Of several actors it may have been another one,
  // so the right stays. But a write that names a state that is gone (a file) has the right only by its own refusal.
  const auto got_through = [&](const Refusal& r) {
    if (actors != Actors::Single) return rule == BaseRule::BodyEtag && r.request_hash != write.request_hash;
    return std::ranges::any_of(history.entries(), [&](const Entry& e) {
      return e.cause == Cause::Written && e.certain && e.writer == write.client && e.number > r.told;
    });
  };
  const auto gives_right = [&](const Refusal& r) {
    return !r.used && was_told(r, write) && r.told > born && last->observation->last_asked > r.told && !got_through(r);
  };
  right.may_send = std::any_of(record->refusals.begin(), record->refusals.end(), gives_right);
  if (!right.may_send) return right;
  right.last_read = state_of(*last, write, born);
  // What was seen before that read was asked for is not newer than what it shows, at whatever api-version that was.
  const Observation& read = *last->observation;
  const auto is_older = [&](const Entry& e) { return e.cause == Cause::Seen && !read.lagging && e.number < read.last_asked; };
  const auto is_own = [&](const Entry& e) { return e.writer == write.client; };
  right.written_since = history.ended_since(read.lagging ? last->entry->number : read.last_asked, is_own);
  for (const Entry& entry : history.entries()) {
    // What perhaps had no effect (5xx, a lost answer) proves nothing against a read that shows the state of before.
    const bool tells = entry.cause != Cause::ChildWritten && entry.cause != Cause::Acted && entry.certain;
    if (tells && entry.number > last->entry->number && !is_older(entry))
      right.newer.push_back(state_of({last->observation, &entry}, write, born));
  }
  std::vector<ShownEntry> older;
  std::copy_if(live.begin(), live.end(), std::back_inserter(older),
               [&](const ShownEntry& s) { return s.entry->number != last->entry->number; });
  if (actors == Actors::Unknown) right.superseded = states_of(older, write, born);
  // A client that was not told of its refusal does not repeat the write on purpose.
  std::copy_if(record->refusals.begin(), record->refusals.end(), std::back_inserter(right.same_change),
               [&](const Refusal& r) { return r.reread && r.requested_body && r.found && was_told(r, write); });
  return right;
}

bool is_forced(const History& history, const HistoryLimits& limits, const WriteFacts& write) {
  const ClientRecord* record = history.client(write.client);
  if (record == nullptr) return false;
  const bool has_read = std::any_of(record->shown.begin(), record->shown.end(), [&](const Observation& o) {
    return o.first_shown.order < write.arrived.order && is_read_to_build_on(o, history, limits, write);
  });
  const Refusal* last = told_refusal_of(*record, write);
  if (has_read || last == nullptr) return false;
  return !history.written_since(last->told, [](const Entry&) { return false; });
}

std::optional<Refusal> refused_in_vain(const History& history, const WriteFacts& write, BaseRule rule) {
  const ClientRecord* record = history.client(write.client);
  if (record == nullptr || record->refusals.size() < 2 || write.actors == Actors::Many) return std::nullopt;
  const Refusal& last = record->refusals.back();
  const Refusal& before = record->refusals[record->refusals.size() - 2];
  if (!last.reread || !was_told(last, write) || !was_told(before, write)) return std::nullopt;
  const bool has_read = std::any_of(record->shown.begin(), record->shown.end(), [&](const Observation& o) {
    return o.as == ShownAs::PointRead && !o.lagging && may_be_its_read(o, write, rule) && o.last_asked > last.told &&
           o.first_shown.order < write.arrived.order;
  });
  const bool in_vain = has_read && !history.written_since(before.told, [](const Entry&) { return false; });
  return in_vain ? std::optional(last) : std::nullopt;
}

}  // namespace armgate::policy
