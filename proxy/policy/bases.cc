#include "proxy/policy/bases.h"

#include <algorithm>
#include <utility>

#include "arm/etag.h"
#include "base/mutant.h"
#include "proxy/policy/entry_match.h"
#include "proxy/policy/shown_entries.h"

namespace armgate::policy {
namespace {

// The newest by the history's order; of two showings of one entry the later.
const ShownEntry* newest_of(const std::vector<ShownEntry>& seen) {
  const ShownEntry* newest = nullptr;
  for (const ShownEntry& s : seen) {
    if (!is_pending(s) && (newest == nullptr || s.entry->number >= newest->entry->number)) newest = &s;
  }
  return newest;
}

// What the command that made the write was shown (az: one id for each): all its reads since the answer to its own last write.
// Nothing if the id does not tell one from another.
std::vector<ShownEntry> of_command(const ClientRecord& record, const std::vector<ShownEntry>& seen, const WriteFacts& write) {
  std::vector<ShownEntry> own;
  const auto& overlapped = record.overlapped_ids;
  const bool tells =
      !write.request_id.empty() && std::find(overlapped.begin(), overlapped.end(), write.request_id) == overlapped.end();
  if (!tells) return own;
  bool has_read = false;
  for (const ShownEntry& s : seen) {
    if (s.observation->request_id != write.request_id) continue;
    const bool is_answer = s.observation->as == ShownAs::OwnAnswer;
    if (is_answer && !s.observation->lost) own.clear();
    has_read |= !is_answer;
    own.push_back(s);
  }
  if (!has_read) own.clear();
  return own;
}

// Up to that order its client knows all to be gone: it deleted it, was told so, or is one and goes on from its last read.
uint64_t known_gone(const History& history, const ClientRecord& record, const WriteFacts& write) {
  if (effective_actors(record, write) == Actors::Single) return ~uint64_t{0};
  uint64_t order = write.deleted_by == write.client ? write.deleted : 0;
  for (const Observation& o : record.shown) {
    const Entry* e = o.lost || o.first_shown.order >= write.arrived.order ? nullptr : history.find(o.entry);
    if (e != nullptr && e->absent) order = std::max(order, e->number);
  }
  return order;
}

// What a client knows to be gone it does not build on. An ETag tells nothing across a deletion: some types count anew.
void erase_known_gone(std::vector<BaseState>& states, uint64_t known_gone_at) {
  const auto is_known = [&](const BaseState& s) { return s.gone && s.entry < known_gone_at; };
  if (!std::ranges::all_of(states, is_known)) std::erase_if(states, is_known);
}

// An ETag may stand for several states (AKS: a pool's change leaves the cluster's where it is): it is one of those that the
// client was shown.
Bases by_etag_in_body(const History& history, const HistoryLimits& limits, const WriteFacts& write) {
  Bases bases;
  bases.rule = BaseRule::BodyEtag;
  const uint64_t born = born_at(history, write);
  std::vector<ShownEntry> seen;
  const ClientRecord* record = history.client(write.client);
  if (record != nullptr) seen = shown_before(history, *record, limits, write).known;
  const auto is_named = [&](const Entry& e) { return arm::is_same_etag(e.etag, write.body_etag); };
  std::erase_if(seen, [&](const ShownEntry& s) { return !is_named(*s.entry); });
  bases.possible = states_of(seen, write, born);
  if (record != nullptr && write.actors != Actors::Many) erase_known_gone(bases.possible, known_gone(history, *record, write));
  if (bases.possible.empty()) {
    BaseState state;
    state.etag = write.body_etag;
    const auto entry = std::find_if(history.entries().rbegin(), history.entries().rend(), is_named);
    const Observation none;
    if (entry != history.entries().rend()) state = state_of({&none, &*entry}, write, born);
    bases.possible.push_back(std::move(state));
  }
  return bases;
}

// A client that may be several actors may write on what one of them read through an earlier process, of which only the journal
// is left; that says whether there is anything to lose.
//
// Such a write is refused once. A client that was refused reads again, and a name that has written since is taken for one that
// did.
bool may_be_former(const History& history, const ClientRecord& record, const HistoryLimits& limits, const WriteFacts& write,
                   Actors actors) {
  const bool soon = write.former != 0 && write.arrived.time - write.known_from <= limits.think_max;
  if (!soon || actors == Actors::Single) return false;
  const auto is_own_since = [&](const Entry& e) {
    return e.cause == Cause::Written && e.number > write.former && e.writer == write.client;
  };
  const bool was_told = !record.refusals.empty() || std::ranges::any_of(history.entries(), is_own_since);
  if (actors == Actors::Unknown && was_told) return false;
  return std::any_of(history.entries().begin(), history.entries().end(), [&](const Entry& e) {
    const bool another = e.writer != write.client || actors == Actors::Many;
    return e.cause == Cause::Written && e.number <= write.former && another;
  });
}

BaseState unknown_state() {
  BaseState state;
  state.gone = true;
  return state;
}

// Known at that order.
BaseState absent_state(uint64_t order) {
  BaseState state;
  state.absent = true;
  state.entry = state.known_since = order;
  return state;
}

// Nothing that the client was shown is known: certainly nothing, or nothing any more.
Bases without_states(const History& history, const ShownBefore& shown, const HistoryLimits& limits, const WriteFacts& write) {
  Bases bases;
  if (shown.read_forgotten) {
    bases.rule = BaseRule::Newest;
    bases.possible.push_back(unknown_state());
    return bases;
  }
  const bool young = write.arrived.time - write.known_from < limits.observation_age;
  const bool dropped = history.clients_forgotten() != 0 || write.pages_forgotten || shown.forgotten;
  bases.rule = young || dropped ? BaseRule::Forgotten : BaseRule::Unconditional;
  return bases;
}

// What was merged into its client's writes, as far as it may go on from one. Many actors are not waited for beyond think_max.
void find_merged(Bases& bases, const ClientRecord& record, const HistoryLimits& limits, const WriteFacts& write,
                 uint64_t born) {
  const Duration age_max = write.actors == Actors::Many ? limits.think_max : limits.observation_age;
  const auto is_over = [&](const MergedWrite& m) { return m.entry <= born || write.arrived.time - m.at > age_max; };
  bases.knows_merges = true;
  for (const MergedWrite& m : record.merged) {
    if (is_over(m)) continue;
    const bool other_command = bases.rule == BaseRule::RequestId && m.request_id != write.request_id;
    const bool counts = m.entry < write.arrived.order && bases.rule != BaseRule::BodyEtag && !other_command;
    bases.knows_merges &= counts;
    if (!counts) continue;
    BaseState asked;
    asked.entry = asked.known_since = m.entry;
    asked.api_version = m.api_version;
    asked.body = m.requested_body;
    asked.is_partial = asked.body && asked.body->is_partial;
    bases.merged.push_back({std::move(asked), m.base, m.sent});
  }
  bases.may_merge = record.unmerged_until < write.arrived.time && bases.merged.size() < limits.merged_max;
}

// Whether an older state can be told from the newest, as far as is known. If all show the same, which of them it was makes no
// difference: nothing looks stale against its own bytes (narrow_down()).
bool any_other(const std::vector<ShownEntry>& live, const BaseState& newest, const WriteFacts& write) {
  const bool may_tell = newest.body && newest.api_version == write.api_version;
  return std::any_of(live.begin(), live.end(), [&](const ShownEntry& s) {
    if (s.entry->number >= newest.entry) return false;
    const Rendering* rendering = may_tell && !s.entry->absent ? s.entry->rendered_at(write.api_version) : nullptr;
    return rendering == nullptr || !same_bytes(rendering->body, newest.body);
  });
}

// The newest is known at another api-version alone, so that nothing can look stale against it, and others have written since
// the one that its client knows at the write's own: the write may be built on that.
bool cannot_be_told(const Bases& bases, const History& history, const WriteFacts& write) {
  const BaseState& newest = bases.possible.front();
  if (newest.absent || newest.api_version == write.api_version || is_mutant(Mutant::ApiVersionsMixed)) return false;
  const auto is_at_own = [&](const BaseState& s) {
    return !s.absent && !s.gone && s.body && s.api_version == write.api_version && s.entry < newest.entry;
  };
  const auto own = std::ranges::find_if(bases.if_stale, is_at_own);
  const auto is_mine = [&](const Entry& e) { return e.writer == write.client; };
  return own != bases.if_stale.end() && history.written_since(own->entry, is_mine);
}

void add_states(std::vector<BaseState>& states, std::vector<BaseState> more) {
  for (BaseState& state : more) {
    const auto same = [&](const BaseState& s) { return is_same_state(s, state); };
    if (std::none_of(states.begin(), states.end(), same)) states.push_back(std::move(state));
  }
}

Bases states_for(const History& history, const ClientRecord* record, const HistoryLimits& limits, const WriteFacts& write);

// It may go on from the object that it sent last, which has the ETag of before; or be another actor, to whom the ETag belongs.
Bases behind_own_writes(Bases by_etag, const History& history, const ClientRecord& record, const HistoryLimits& limits,
                        WriteFacts write) {
  const bool is_one = is_in_one_hand(history, record, write, by_etag.possible.front().entry);
  if (is_one && write.actors == Actors::Unknown) write.actors = Actors::Single;
  write.body_etag = {};
  Bases later = states_for(history, &record, limits, write);
  if (later.possible.empty()) return by_etag;
  if (effective_actors(record, write) == Actors::Single) return later;
  add_states(later.possible, std::move(by_etag.possible));
  later.if_stale.clear();
  later.rule = BaseRule::AnyShown;
  return later;
}

// One actor knows what it has asked for, also if it did not wait for the answer, or that got lost. Of its writes that failed it
// knows too: what is there is what one of them asked for, or what was there before the first of them.
void go_on_from_own(Bases& bases, const ShownEntry& newest, const std::vector<ShownEntry>& seen, const History& history,
                    const ClientRecord& record, const WriteFacts& write, uint64_t born) {
  std::vector<BaseState> own;
  bool may_be_former = true;
  const uint64_t since = newest.entry->number;
  const auto& entries = history.entries();
  if (only_own_since(history, record, write, since)) {
    for (auto e = entries.rbegin(); e != entries.rend() && e->number > since && may_be_former; ++e) {
      BaseState asked_for = e->cause == Cause::Written ? state_of({newest.observation, &*e}, write, born) : BaseState();
      if (!asked_for.body) continue;
      may_be_former = e->failed;
      own.push_back(std::move(asked_for));
    }
  }
  if (may_be_former) {
    add_states(own, {state_of(newest, write, born)});
    may_be_former = may_be_taken_back(newest, history, write);
  }
  for (auto s = seen.rbegin(); s != seen.rend() && may_be_former; ++s) {
    if (is_pending(*s) || s->entry->number >= since) continue;
    add_states(own, {state_of(*s, write, born)});
    may_be_former = may_be_taken_back(*s, history, write);
  }
  if (may_be_former) own.push_back(absent_state(born));
  const bool is_newest_alone = own.size() == 1 && own.front().entry == since;
  if (is_newest_alone) return;
  if (own.size() > 1) bases.either_of = own.size();
  bases.possible = std::move(own);
}

// It is built on that one, whatever was possible before.
void build_on(Bases& bases, BaseState state) {
  bases.possible = {std::move(state)};
  bases.if_stale.clear();
  bases.either_of = 0;
}

// Without what was merged.
Bases states_for(const History& history, const ClientRecord* record, const HistoryLimits& limits, const WriteFacts& write) {
  if (!write.body_etag.empty()) {
    Bases bases = by_etag_in_body(history, limits, write);
    const uint64_t since = bases.possible.front().entry;
    const bool is_behind = record != nullptr && since != 0 && only_own_since(history, *record, write, since);
    return is_behind ? behind_own_writes(std::move(bases), history, *record, limits, write) : bases;
  }
  if (record == nullptr) return without_states(history, {}, limits, write);
  ShownBefore shown = shown_before(history, *record, limits, write);
  std::vector<ShownEntry>& seen = shown.known;
  auto own = of_command(*record, seen, write);
  const bool by_id = !own.empty();
  if (by_id) seen = std::move(own);
  if (seen.empty()) return without_states(history, shown, limits, write);

  const Actors actors = effective_actors(*record, write);
  const uint64_t born = born_at(history, write);
  const std::vector<ShownEntry> live = live_of(seen, history, limits, write, actors, born);
  const bool has_read = std::ranges::any_of(seen, [](const ShownEntry& s) { return s.observation->as != ShownAs::OwnAnswer; });
  const ShownEntry* newest = newest_of(live);
  std::vector<ShownEntry> one;
  if (newest != nullptr) one.push_back(*newest);
  for (const ShownEntry& s : live) {
    const bool after = newest == nullptr || s.observation->last_shown.order > newest->observation->last_shown.order;
    const bool is_given_again = s.observation->as == ShownAs::OwnAnswer;  // after something newer was read
    if ((is_pending(s) || is_given_again) && after) one.push_back(s);
  }
  Bases bases;
  bases.has_read = has_read;
  bases.possible = states_of(actors == Actors::Many || by_id ? live : one, write, born);
  if (actors != Actors::Many && !by_id) note_last_read(bases.possible, live);
  if (actors == Actors::Single && !by_id && newest != nullptr)
    go_on_from_own(bases, *newest, seen, history, *record, write, born);
  const bool is_repeated = write.repeated.order != 0;  // then what it may be built from is put together of two
  const bool may_be_wide = actors == Actors::Unknown && !by_id && !bases.possible.empty();
  if (may_be_wide && (is_repeated || any_other(live, bases.possible.front(), write))) {
    bases.if_stale = states_of(live, write, born);
    erase_known_gone(bases.if_stale, known_gone(history, *record, write));
    if (bases.if_stale.size() == bases.possible.size()) bases.if_stale.clear();
  }
  const bool may_be_any = !bases.if_stale.empty() && cannot_be_told(bases, history, write);
  if (may_be_any) bases.possible = std::exchange(bases.if_stale, {});
  const bool all_gone = std::all_of(bases.possible.begin(), bases.possible.end(), [](const BaseState& s) { return s.gone; });
  if (all_gone && write.deleted_by == write.client && actors != Actors::Many)
    build_on(bases, absent_state(std::max(write.deleted, history.deleted())));
  // Under one id the command itself has read here. Else one of many actors may build on what is not known any more.
  const bool may_be_forgotten = actors == Actors::Many && shown.forgotten_at >= write.arrived.time - limits.think_max;
  if (!by_id && (may_be_forgotten || may_be_former(history, *record, limits, write, actors)))
    bases.possible.push_back(unknown_state());
  const bool creates = bases.possible.size() == 1 && bases.possible.front().absent;
  bases.rule = creates                                ? BaseRule::Create
               : by_id                                ? BaseRule::RequestId
               : actors == Actors::Many || may_be_any ? BaseRule::AnyShown
                                                      : BaseRule::Newest;
  if (is_mutant(Mutant::NewestVersionAlways)) {
    const Observation none;
    build_on(bases, state_of({&none, &history.entries().back()}, write, born));
  }
  return bases;
}

bool is_own(const Entry& entry, const WriteFacts& write) {
  return entry.writer == write.client && write.actors != Actors::Many;
}

// The same bytes came again after something else was shown. Either it is the old request, sent again by an actor that did not
// read, or it was made anew (a file, which is always the same) on what was shown meanwhile. A client that is one actor reads
// before it makes anything anew.
void add_shown_since(Bases& bases, const History& history, const ClientRecord& record, const HistoryLimits& limits,
                     const WriteFacts& write) {
  WriteFacts again = write;
  again.arrived = write.repeated;
  // A write that was sent without any base may be a file, and the read may be another actor's of the same name. If its base may
  // only be forgotten, and no write is known that it could undo, it would be sent as it is. Then it is safer to guard it with
  // what was shown since.
  const bool instead = effective_actors(record, again) == Actors::Single;
  const bool may_be_a_file = bases.possible.empty() && !instead;
  if (may_be_a_file && (bases.rule != BaseRule::Forgotten || is_refused_if_forgotten(history, write))) return;
  Bases later = states_for(history, &record, limits, again);
  // What carries the id of a call is that call, unless the same command has read again.
  const bool is_old_call = !write.request_id.empty() && later.rule != BaseRule::RequestId;
  if (later.possible.empty() || is_old_call) return;
  if (!instead) {
    if (!bases.if_stale.empty() && later.if_stale.empty()) later.if_stale = later.possible;
    if (!later.if_stale.empty()) add_states(later.if_stale, bases.if_stale.empty() ? bases.possible : bases.if_stale);
    add_states(later.possible, std::move(bases.possible));
    later.has_read |= bases.has_read;
    if (later.if_stale.size() == later.possible.size()) later.if_stale.clear();
    if (later.rule == BaseRule::Create && later.possible.size() > 1) later.rule = BaseRule::AnyShown;
  }
  bases = std::move(later);
}

}  // namespace

bool was_overtaken(const History& history, const WriteFacts& write) {
  // What the same client began before is over for it, whenever its end is noticed; a deletion is on record when it has ended.
  const auto is_no_others = [&](const Entry& e) {
    const bool began_before = e.number < write.arrived.order || e.cause == Cause::Deleted;
    return e.request_hash == write.request_hash || (began_before && is_own(e, write));
  };
  return history.ended_since(write.arrived.order, is_no_others);
}

bool is_refused_if_forgotten(const History& history, const WriteFacts& write) {
  const auto undoes_nothing = [&](const Entry& e) { return is_own(e, write) || e.request_hash == write.request_hash; };
  return was_overtaken(history, write) || history.is_known_written_since(history.deleted(), undoes_nothing);
}

uint64_t Bases::known_since() const {
  uint64_t oldest = arrived;
  for (const auto* states : {&possible, &if_stale}) {
    for (const BaseState& state : *states) oldest = std::min(oldest, state.known_since);
  }
  return oldest;
}

std::string_view to_text(Actors actors) {
  switch (actors) {
    case Actors::Single: return "single";
    case Actors::Unknown: return "unknown";
    case Actors::Many: return "many";
  }
  return "unknown";
}

std::optional<Actors> parse_actors(std::string_view text) {
  for (const Actors actors : {Actors::Single, Actors::Unknown, Actors::Many}) {
    if (text == to_text(actors)) return actors;
  }
  return std::nullopt;
}

std::string_view to_text(BaseRule rule) {
  switch (rule) {
    case BaseRule::OwnPrecondition: return "client";
    case BaseRule::BodyEtag: return "body-etag";
    case BaseRule::RequestId: return "request-id";
    case BaseRule::Newest: return "newest";
    case BaseRule::AnyShown: return "any-shown";
    case BaseRule::Create: return "create";
    case BaseRule::Unconditional: return "unconditional";
    case BaseRule::Forgotten: return "forgotten";
  }
  return "unknown";
}

Bases possible_bases(const History& history, const HistoryLimits& limits, const WriteFacts& write) {
  const ClientRecord* record = history.client(write.client);
  Bases bases = states_for(history, record, limits, write);
  if (record != nullptr && write.repeated.order != 0) add_shown_since(bases, history, *record, limits, write);
  if (record != nullptr && !bases.if_stale.empty() && repeats_refused(history, *record, write)) bases.if_stale.clear();
  bases.arrived = write.arrived.order;
  const bool builds_on_something = !bases.possible.empty() && bases.rule != BaseRule::Create;
  if (record != nullptr && builds_on_something) find_merged(bases, *record, limits, write, born_at(history, write));
  return bases;
}

}  // namespace armgate::policy
