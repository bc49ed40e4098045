#include "proxy/policy/shown_entries.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "arm/etag.h"
#include "base/mutant.h"

namespace armgate::policy {
namespace {

// Something newer was shown to the client so long ago that nobody builds on this one any more, and this one not again since.
bool is_superseded(const ShownEntry& one, const std::vector<ShownEntry>& seen, const HistoryLimits& limits,
                   const WriteFacts& write) {
  if (write.arrived.time - one.observation->last_shown.time <= limits.think_max) return false;
  return std::any_of(seen.begin(), seen.end(), [&](const ShownEntry& s) {
    return !is_pending(s) && s.entry->number > one.entry->number &&
           write.arrived.time - s.observation->first_shown.time > limits.think_max;
  });
}

// The writes of this client whose operations failed, oldest first. Hardly ever any.
std::vector<const Entry*> own_failures(const History& history, const WriteFacts& write) {
  std::vector<const Entry*> failures;
  for (const Entry& e : history.entries()) {
    if (e.failed && e.cause == Cause::Written && e.writer == write.client) failures.push_back(&e);
  }
  return failures;
}

// The own write whose operation failed and that the client was shown here; null: it is none of these. A read that was asked for
// after its end shows what came of it, also if that is the same.
const Entry* failure_shown_by(const ShownEntry& one, const std::vector<const Entry*>& failures) {
  const auto shows_it = [&](const Entry* failed) {
    return failed->number <= one.entry->number && one.entry->number <= failed->ended &&
           (one.observation->as == ShownAs::OwnAnswer || one.observation->last_asked <= failed->ended);
  };
  const auto found = std::ranges::find_if(failures, shows_it);
  return found == failures.end() ? nullptr : *found;
}

// Whether nobody else has written since that failure began.
bool is_alone_since(const Entry& failed, const History& history, const std::vector<const Entry*>& failures) {
  const auto is_own_failure = [&](const Entry& e) { return std::ranges::find(failures, &e) != failures.end(); };
  return !history.written_since(failed.number, is_own_failure);
}

// Once the client has read what came of the failure, whoever goes on from the former all the same undoes nothing but ARM's
// taking back.
bool was_taken_back(const ShownEntry& one, const std::vector<ShownEntry>& seen, const History& history,
                    const std::vector<const Entry*>& failures) {
  const Entry* failed = failure_shown_by(one, failures);
  if (failed == nullptr) return false;
  const bool is_alone = is_alone_since(*failed, history, failures);
  return std::ranges::any_of(seen, [&](const ShownEntry& s) {
    const bool is_read = s.observation->as != ShownAs::OwnAnswer;
    const bool tells = is_read || (is_alone && s.entry->number > one.entry->number);
    if (!is_pending(s) && s.observation->last_asked > failed->ended && tells) return true;
    // A read that lacked the write before the failure was known has shown what came of it all the same.
    return is_alone && s.observation->lagging && !s.observation->lost && s.observation->last_asked > one.entry->number;
  });
}

// Order: the state was there at that moment at the latest. A read that was under way while a write was accepted may show either
// side of it.
uint64_t as_new_as(const ShownEntry& s) { return s.observation->lagging ? s.observation->last_shown.order : s.entry->number; }

// An actor that writes at one api-version is taken to have read at it. While some actor may still work on a state read at that
// version, later states read at other versions are no base and give no right: bodies of different versions cannot be compared.
// Nobody works on a state from before a deletion.
void prefer_own_version(std::vector<ShownEntry>& live, const WriteFacts& write, Actors actors, uint64_t born) {
  if (actors == Actors::Single || is_mutant(Mutant::ApiVersionsMixed)) return;
  const auto at_own = [&](const ShownEntry& s) {
    return !s.entry->absent && s.entry->number >= born && s.observation->api_version == write.api_version;
  };
  // A client that was never seen to read at this version, but only to write, reads at another version. So does this write's
  // actor.
  const auto is_read = [&](const ShownEntry& s) { return at_own(s) && s.observation->as != ShownAs::OwnAnswer; };
  if (std::ranges::none_of(live, is_read)) return;
  const auto own = std::find_if(live.rbegin(), live.rend(), at_own);
  const uint64_t since = own->entry->number;
  std::erase_if(live, [&](const ShownEntry& s) { return !s.entry->absent && !at_own(s) && as_new_as(s) > since; });
}

}  // namespace

bool is_pending(const ShownEntry& s) { return s.observation->lost || s.observation->lagging || s.late; }

bool is_read_to_build_on(const Observation& o, const History& history, const HistoryLimits& limits, const WriteFacts& write) {
  if (o.as == ShownAs::OwnAnswer) return false;
  return history.find(o.entry) != nullptr || write.arrived.time - o.last_shown.time <= limits.observation_age;
}

ShownBefore shown_before(const History& history, const ClientRecord& record, const HistoryLimits& limits,
                         const WriteFacts& write) {
  const bool reads = std::ranges::any_of(record.shown, [](const Observation& o) { return o.as != ShownAs::OwnAnswer; });
  const uint64_t before = std::max(write.arrived.order, write.arrived_by);
  ShownBefore seen;
  seen.forgotten = record.forgotten != 0;
  seen.forgotten_at = record.forgotten_at;
  seen.known.reserve(record.shown.size());
  auto next = history.entries().begin();  // what is shown next is mostly the entry after that which was shown last
  for (const Observation& o : record.shown) {
    // Behind what passed unseen its own writes went on.
    const bool is_unseen_since = o.as == ShownAs::OwnAnswer && o.last_shown.time < write.known_from;
    const bool in_time = !is_unseen_since && (reads || write.arrived.time - o.last_shown.time <= limits.observation_age);
    if (!in_time || o.first_shown.order >= before) continue;
    const bool is_next = next != history.entries().end() && next->number == o.entry;
    const Entry* entry = is_next ? &*next : history.find(o.entry);
    if (entry == nullptr) {
      seen.forgotten = true;
      if (!is_read_to_build_on(o, history, limits, write)) continue;
      seen.read_forgotten = true;
      seen.forgotten_at = std::max(seen.forgotten_at, o.last_shown.time);
      continue;
    }
    next = history.entries().begin() + (entry - &history.entries().front()) + 1;
    seen.known.push_back({&o, entry, o.first_shown.order >= write.arrived.order});
  }
  return seen;
}

BaseState state_of(const ShownEntry& seen, const WriteFacts& write, uint64_t born) {
  const Entry& entry = *seen.entry;
  BaseState state;
  state.entry = entry.number;
  state.absent = entry.absent;
  state.gone = !entry.absent && entry.number < born;
  state.deleted = state.gone && entry.number < write.deleted;
  state.etag = entry.etag;
  const Rendering* rendering = entry.rendered_at(seen.observation->api_version);
  if (const Rendering* own = entry.rendered_at(write.api_version)) rendering = own;
  if (rendering != nullptr) {
    state.api_version = rendering->api_version;
    state.body = rendering->body;
    if (state.body) state.target = state.body->target;
    state.is_partial = rendering->body && rendering->body->is_partial;
  }
  if (entry.writer == write.client && entry.asked_for_all && entry.renderings.size() == 1) state.sent = entry.requested_body;
  // What lags may be as old as can be: every write that is known came after it.
  const uint64_t asked = seen.observation->as == ShownAs::OwnAnswer ? entry.number : seen.observation->last_asked;
  state.known_since = seen.observation->lagging ? 0 : std::max(entry.number, asked);
  return state;
}

bool is_same_state(const BaseState& a, const BaseState& b) { return a.entry == b.entry && a.api_version == b.api_version; }

std::vector<BaseState> states_of(const std::vector<ShownEntry>& seen, const WriteFacts& write, uint64_t born) {
  std::vector<const ShownEntry*> newest_first;
  newest_first.reserve(seen.size());
  for (auto it = seen.rbegin(); it != seen.rend(); ++it) newest_first.push_back(&*it);
  const auto number = [](const ShownEntry* s) { return s->entry->number; };
  if (!std::ranges::is_sorted(newest_first, std::ranges::greater(), number))
    std::ranges::stable_sort(newest_first, std::ranges::greater(), number);
  std::vector<BaseState> states;
  states.reserve(newest_first.size());
  for (const ShownEntry* s : newest_first) {
    BaseState state = state_of(*s, write, born);
    // Those of one entry stand together.
    const auto is_of_it = [&](const BaseState& before) { return before.entry == state.entry; };
    const auto others = std::find_if_not(states.rbegin(), states.rend(), is_of_it);
    const bool is_known = std::any_of(states.rbegin(), others, [&](const BaseState& b) { return is_same_state(b, state); });
    if (!is_known) states.push_back(std::move(state));
  }
  return states;
}

void note_last_read(std::vector<BaseState>& states, const std::vector<ShownEntry>& shown) {
  if (shown.empty()) return;
  const ShownEntry& last = shown.back();
  const Observation& how = *last.observation;
  if (how.as == ShownAs::OwnAnswer || !how.lagging || how.lost || last.late) return;
  for (BaseState& state : states) state.is_last_read = state.entry == last.entry->number;
}

uint64_t born_at(const History& history, const WriteFacts& write) {
  return is_mutant(Mutant::DeletedEtagsCount) ? 0 : std::max(write.deleted, history.absent());
}

Actors effective_actors(const ClientRecord& record, const WriteFacts& write) {
  if (is_mutant(Mutant::EverybodyIsMany) && write.actors == Actors::Unknown) return Actors::Many;
  const bool several = write.actors == Actors::Single && record.several_until >= write.arrived.time;
  return several ? Actors::Unknown : write.actors;
}

bool may_be_taken_back(const ShownEntry& one, const History& history, const WriteFacts& write) {
  const auto failures = own_failures(history, write);
  const Entry* failed = failure_shown_by(one, failures);
  return failed != nullptr && is_alone_since(*failed, history, failures);
}

std::vector<ShownEntry> live_of(const std::vector<ShownEntry>& seen, const History& history, const HistoryLimits& limits,
                                const WriteFacts& write, Actors actors, uint64_t born, OwnVersion own_version) {
  std::vector<ShownEntry> left;
  const auto failures = actors == Actors::Many ? std::vector<const Entry*>() : own_failures(history, write);
  if (!failures.empty()) {
    std::ranges::copy_if(seen, std::back_inserter(left),
                         [&](const ShownEntry& s) { return !was_taken_back(s, seen, history, failures); });
  }
  const std::vector<ShownEntry>& among = failures.empty() ? seen : left;
  std::vector<ShownEntry> live = among;
  std::erase_if(live, [&](const ShownEntry& s) { return is_superseded(s, among, limits, write); });
  if (own_version == OwnVersion::Preferred) prefer_own_version(live, write, actors, born);
  return live;
}

// ---- its own writes ----

bool only_own_since(const History& history, const ClientRecord& record, const WriteFacts& write, uint64_t since) {
  if (history.forgotten() > since || write.actors == Actors::Many) return false;
  const auto is_later_read = [&](const Observation& o) { return o.as != ShownAs::OwnAnswer && o.entry > since; };
  if (std::ranges::any_of(record.shown, is_later_read)) return false;
  const auto is_written = [&](const Entry& e) { return e.number > since && e.cause != Cause::Seen; };
  const bool knows_failures = write.actors == Actors::Single;
  const auto is_own = [&](const Entry& e) { return e.writer == write.client && (e.certain || (e.failed && knows_failures)); };
  const auto& entries = history.entries();
  return std::ranges::any_of(entries, is_written) &&
         std::ranges::all_of(entries, [&](const Entry& e) { return !is_written(e) || is_own(e); });
}

bool is_in_one_hand(const History& history, const ClientRecord& record, const WriteFacts& write, uint64_t since) {
  size_t times = 0;
  for (const Observation& o : record.shown) {
    const Entry* entry = history.find(o.entry);
    if (entry == nullptr || !arm::is_same_etag(entry->etag, write.body_etag)) continue;
    const bool once = o.first_shown.order == o.last_shown.order && !o.lost && !o.lagging;
    times += once ? 1 : 2;
  }
  if (times != 1) return false;
  return std::ranges::all_of(history.entries(), [&](const Entry& e) {
    if (e.number <= since || e.cause == Cause::Seen) return true;
    const SharedBody& asked = e.requested_body;
    return e.cause == Cause::Written && asked && asked->etag && arm::is_same_etag(*asked->etag, write.body_etag);
  });
}

bool was_told(const Refusal& r, const WriteFacts& write) { return !r.lost && r.told != 0 && r.told < write.arrived.order; }

const Refusal* told_refusal_of(const ClientRecord& record, const WriteFacts& write) {
  const auto same = [&](const Refusal& r) { return r.request_hash == write.request_hash && was_told(r, write); };
  const auto last = std::find_if(record.refusals.rbegin(), record.refusals.rend(), same);
  return last == record.refusals.rend() ? nullptr : &*last;
}

bool repeats_refused(const History& history, const ClientRecord& record, const WriteFacts& write) {
  const auto is_own = [&](const Entry& e) { return e.writer == write.client && e.certain; };
  const auto& entries = history.entries();
  const auto last =
      std::find_if(entries.rbegin(), entries.rend(), [&](const Entry& e) { return e.cause == Cause::Written && is_own(e); });
  const Refusal* refusal = told_refusal_of(record, write);
  if (last == entries.rend() || refusal == nullptr || refusal->told < last->number) return false;
  const auto is_read_since = [&](const Observation& o) { return o.as != ShownAs::OwnAnswer && o.last_asked > last->number; };
  return !history.written_since(last->number, [](const Entry&) { return false; }) &&
         std::ranges::none_of(record.shown, is_read_since);
}

bool has_seen_it_gone(const History& history, const WriteFacts& write, uint64_t deleted, Writers writers) {
  const ClientRecord* record = history.client(write.client);
  if (record == nullptr || write.actors == Actors::Many || history.forgotten() > deleted) return false;
  uint64_t last = deleted;
  for (const Entry& e : history.entries()) {
    if (e.cause == Cause::Seen || e.number <= deleted) continue;
    const bool runs = e.cause == Cause::Written && e.ended == 0;
    if (runs || (writers == Writers::Own && e.writer != write.client)) return false;
    last = std::max({last, e.number, e.ended});
  }
  return std::ranges::any_of(record->shown, [&](const Observation& o) {
    const Entry* entry = o.as == ShownAs::OwnAnswer || o.lost ? nullptr : history.find(o.entry);
    return entry != nullptr && entry->absent && o.last_asked > last && o.first_shown.order < write.arrived.order;
  });
}

}  // namespace armgate::policy
