#include "proxy/policy/bases.h"

#include <algorithm>
#include <functional>

#include "base/mutant.h"

namespace armgate::policy {
namespace {

// An observation and what it showed.
struct Seen {
  const Observation* observation;
  const Entry* entry;
};

bool is_pending(const Seen& s) { return s.observation->lost || s.observation->lagging; }

// What the client was shown before the write came, oldest first.
std::vector<Seen> shown_before(const History& history, const Reader& reader, const HistoryLimits& limits,
                               const WriteFacts& write) {
  std::vector<Seen> seen;
  for (const Observation& o : reader.shown) {
    const bool in_time =
        o.first_shown.order < write.arrived.order && write.arrived.time - o.last_shown.time <= limits.observation_age;
    const Entry* entry = in_time ? history.find(o.entry) : nullptr;
    if (entry != nullptr) seen.push_back({&o, entry});
  }
  return seen;
}

BaseState state_of(const Seen& seen, const WriteFacts& write, uint64_t born) {
  const Entry& entry = *seen.entry;
  BaseState state;
  state.entry = entry.number;
  state.absent = entry.absent;
  state.gone = !entry.absent && entry.number < born;
  state.etag = entry.etag;
  const Rendering* rendering = entry.rendered_at(seen.observation->api_version);
  if (const Rendering* own = entry.rendered_at(write.api_version)) rendering = own;
  if (rendering != nullptr) {
    state.api_version = rendering->api_version;
    state.target = rendering->target;
    state.body = rendering->body;
    state.is_partial = rendering->body && rendering->body->is_partial;
  }
  // What lags may be as old as can be: every write that is known came after it.
  const uint64_t asked = seen.observation->as == ShownAs::OwnAnswer ? entry.number : seen.observation->last_asked;
  state.known_since = seen.observation->lagging ? 0 : std::max(entry.number, asked);
  return state;
}

std::vector<BaseState> states_of(const std::vector<Seen>& seen, const WriteFacts& write, uint64_t born) {
  std::vector<BaseState> states;
  for (auto it = seen.rbegin(); it != seen.rend(); ++it) {
    BaseState state = state_of(*it, write, born);
    const auto same = [&](const BaseState& s) { return s.entry == state.entry && s.api_version == state.api_version; };
    if (std::none_of(states.begin(), states.end(), same)) states.push_back(std::move(state));
  }
  std::stable_sort(states.begin(), states.end(), [](const BaseState& a, const BaseState& b) { return a.entry > b.entry; });
  return states;
}

// The newest by the history's order; of two showings of one entry the later.
const Seen* newest_of(const std::vector<Seen>& seen) {
  const Seen* newest = nullptr;
  for (const Seen& s : seen) {
    if (!is_pending(s) && (newest == nullptr || s.entry->number >= newest->entry->number)) newest = &s;
  }
  return newest;
}

// Something newer was shown to the client so long ago that nobody builds on this one any more.
bool is_superseded(const Seen& one, const std::vector<Seen>& seen, const HistoryLimits& limits, const WriteFacts& write) {
  return std::any_of(seen.begin(), seen.end(), [&](const Seen& s) {
    return !is_pending(s) && s.entry->number > one.entry->number &&
           write.arrived.time - s.observation->first_shown.time > limits.think_max;
  });
}

// Who writes at one api-version has read at it: as long as such a state may be in somebody's hands, what came later at others is no
// base and gives no right. Bodies of different versions could not tell.
void prefer_own_version(std::vector<Seen>& live, const WriteFacts& write, Actors actors) {
  if (actors == Actors::Single || is_mutant(Mutant::ShapesMixed)) return;
  const auto at_own = [&](const Seen& s) { return !s.entry->absent && s.observation->api_version == write.api_version; };
  const auto own = std::find_if(live.rbegin(), live.rend(), at_own);
  if (own == live.rend()) return;
  const uint64_t since = own->entry->number;
  std::erase_if(live, [&](const Seen& s) { return !s.entry->absent && !at_own(s) && s.entry->number > since; });
}

uint64_t born_at(const History& history, const WriteFacts& write) {
  return is_mutant(Mutant::DeletedEtagsCount) ? 0 : std::max(write.deleted, history.absent());
}

// What the command that made the write was shown (az: one id for each): all its reads since the answer to its own last write. Nothing
// if the id does not tell one from another.
std::vector<Seen> of_command(const Reader& reader, const std::vector<Seen>& seen, const WriteFacts& write) {
  std::vector<Seen> own;
  const auto& overlapped = reader.overlapped_ids;
  const bool tells =
      !write.request_id.empty() && std::find(overlapped.begin(), overlapped.end(), write.request_id) == overlapped.end();
  if (!tells) return own;
  bool has_read = false;
  for (const Seen& s : seen) {
    if (s.observation->request_id != write.request_id) continue;
    const bool is_answer = s.observation->as == ShownAs::OwnAnswer;
    if (is_answer && !s.observation->lost) own.clear();
    has_read |= !is_answer;
    own.push_back(s);
  }
  if (!has_read) own.clear();
  return own;
}

Actors actors_of(const Reader& reader, const WriteFacts& write) {
  if (is_mutant(Mutant::EverybodyIsMany) && write.actors == Actors::Unknown) return Actors::Many;
  const bool several = write.actors == Actors::Single && reader.several_until >= write.arrived.time;
  return several ? Actors::Unknown : write.actors;
}

// An ETag may stand for several states (AKS: a pool's change leaves the cluster's where it is): it is one of those that the client was
// shown.
Bases by_etag_in_body(const History& history, const HistoryLimits& limits, const WriteFacts& write) {
  Bases bases;
  bases.rule = BaseRule::BodyEtag;
  const uint64_t born = born_at(history, write);
  std::vector<Seen> seen;
  if (const Reader* reader = history.reader(write.client)) seen = shown_before(history, *reader, limits, write);
  std::erase_if(seen, [&](const Seen& s) { return s.entry->etag != write.body_etag; });
  bases.narrow = states_of(seen, write, born);
  if (bases.narrow.empty()) {
    BaseState state;
    state.etag = write.body_etag;
    const auto& entries = history.entries();
    const auto entry =
        std::find_if(entries.rbegin(), entries.rend(), [&](const Entry& e) { return e.etag == write.body_etag; });
    const Observation none;
    if (entry != entries.rend()) state = state_of({&none, &*entry}, write, born);
    bases.narrow.push_back(std::move(state));
  }
  bases.known_since = UINT64_MAX;
  for (const BaseState& state : bases.narrow) bases.known_since = std::min(bases.known_since, state.known_since);
  return bases;
}

// A client that may be several actors may write on what one of them read through an earlier process, of which only the journal is
// left; that says whether there is anything to lose.
bool may_be_former(const History& history, const HistoryLimits& limits, const WriteFacts& write, Actors actors) {
  const bool soon = write.former != 0 && write.arrived.time - write.known_from <= limits.think_max;
  if (!soon || actors == Actors::Single) return false;
  return std::any_of(history.entries().begin(), history.entries().end(), [&](const Entry& e) {
    const bool another = e.writer != write.client || actors == Actors::Many;
    return e.cause == Cause::Written && e.number <= write.former && another;
  });
}

// Nothing that the client was shown is known: certainly nothing, or nothing any more.
Bases without_states(const History& history, const Reader* reader, const HistoryLimits& limits, const WriteFacts& write) {
  Bases bases;
  const bool young = write.arrived.time - write.known_from < limits.observation_age;
  const bool dropped = history.forgotten() != 0 || write.pages_forgotten || (reader != nullptr && reader->forgotten != 0);
  bases.rule = young || dropped ? BaseRule::Forgotten : BaseRule::Unconditional;
  bases.known_since = write.arrived.order;
  return bases;
}

}  // namespace

std::string_view to_text(Actors actors) {
  switch (actors) {
    case Actors::Single: return "single";
    case Actors::Unknown: return "unknown";
    case Actors::Many: return "many";
  }
  return "unknown";
}

std::optional<Actors> actors_of(std::string_view text) {
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
  if (!write.body_etag.empty()) return by_etag_in_body(history, limits, write);
  const Reader* reader = history.reader(write.client);
  if (reader == nullptr) return without_states(history, reader, limits, write);
  auto seen = shown_before(history, *reader, limits, write);
  auto own = of_command(*reader, seen, write);
  const bool by_id = !own.empty();
  if (by_id) seen = std::move(own);
  if (seen.empty()) return without_states(history, reader, limits, write);

  const Actors actors = actors_of(*reader, write);
  std::vector<Seen> live = seen;
  std::erase_if(live, [&](const Seen& s) { return is_superseded(s, seen, limits, write); });
  prefer_own_version(live, write, actors);
  const Seen* newest = newest_of(live);
  std::vector<Seen> one;
  if (newest != nullptr) one.push_back(*newest);
  for (const Seen& s : live) {
    const bool after = newest == nullptr || s.observation->last_shown.order > newest->observation->last_shown.order;
    if (is_pending(s) && after) one.push_back(s);
  }
  const uint64_t born = born_at(history, write);
  Bases bases;
  bases.narrow = states_of(actors == Actors::Many || by_id ? live : one, write, born);
  if (actors == Actors::Unknown && !by_id) {
    bases.wide = states_of(live, write, born);
    // Who was told that it is gone, or deleted it, and makes it anew: what was there before says nothing.
    const bool knows_it_is_gone = !bases.narrow.empty() && bases.narrow.front().absent;
    if (knows_it_is_gone) std::erase_if(bases.wide, [](const BaseState& s) { return s.gone; });
    if (bases.wide.size() == bases.narrow.size()) bases.wide.clear();
  }
  const bool all_gone = std::all_of(bases.narrow.begin(), bases.narrow.end(), [](const BaseState& s) { return s.gone; });
  if (all_gone && write.deleted_by == write.client && actors != Actors::Many) {
    BaseState none;
    none.absent = true;
    none.entry = none.known_since = std::max(write.deleted, history.deleted());
    bases.narrow = {std::move(none)};
    bases.wide.clear();
  }
  if (may_be_former(history, limits, write, actors)) {
    BaseState former;
    former.gone = true;  // a state that nothing is known of
    bases.narrow.push_back(std::move(former));
  }
  const bool creates = bases.narrow.size() == 1 && bases.narrow.front().absent;
  bases.rule = creates                  ? BaseRule::Create
               : by_id                  ? BaseRule::RequestId
               : actors == Actors::Many ? BaseRule::AnyShown
                                        : BaseRule::Newest;
  if (is_mutant(Mutant::NewestVersionAlways)) {
    const Observation none;
    bases.narrow = {state_of({&none, &history.entries().back()}, write, born)};
    bases.wide.clear();
  }
  bases.known_since = write.arrived.order;
  for (const auto* states : {&bases.narrow, &bases.wide}) {
    for (const BaseState& state : *states) bases.known_since = std::min(bases.known_since, state.known_since);
  }
  return bases;
}

Right right_of(const History& history, const HistoryLimits& limits, const WriteFacts& write) {
  Right right;
  const Reader* reader = history.reader(write.client);
  if (reader == nullptr || write.actors == Actors::Many || is_mutant(Mutant::NoRightAfterRefusal)) return right;
  const auto seen = shown_before(history, *reader, limits, write);
  auto live = seen;
  std::erase_if(live, [&](const Seen& s) { return is_superseded(s, seen, limits, write); });
  prefer_own_version(live, write, actors_of(*reader, write));
  const Seen* last = nullptr;
  for (const Seen& s : live) {
    if (s.observation->as != ShownAs::OwnAnswer && !s.observation->lost) last = &s;
  }
  if (last == nullptr) return right;  // one that lags is not what is there
  const uint64_t born = born_at(history, write);
  const auto gives_right = [&](const Refusal& r) {
    return !r.used && !r.lost && r.told != 0 && r.told < write.arrived.order && r.told > born &&
           last->observation->last_asked > r.told;
  };
  right.may_send = std::any_of(reader->refusals.begin(), reader->refusals.end(), gives_right);
  if (!right.may_send) return right;
  right.last_read = state_of(*last, write, born);
  for (const Entry& entry : history.entries()) {
    // What perhaps had no effect (5xx, a lost answer) proves nothing against a read that shows the state of before.
    const bool tells = entry.cause != Cause::ChildWritten && entry.cause != Cause::Acted && entry.certain;
    if (tells && entry.number > last->entry->number) right.newer.push_back(state_of({last->observation, &entry}, write, born));
  }
  std::vector<Seen> older;
  std::copy_if(live.begin(), live.end(), std::back_inserter(older),
               [&](const Seen& s) { return s.entry->number != last->entry->number; });
  const bool may_look_stale = actors_of(*reader, write) == Actors::Unknown;
  if (may_look_stale) right.superseded = states_of(older, write, born);
  std::copy_if(reader->refusals.begin(), reader->refusals.end(), std::back_inserter(right.same_change),
               [](const Refusal& r) { return r.reread && r.asked && r.found; });
  return right;
}

bool insists(const History& history, const WriteFacts& write, const Hash128& bytes) {
  const Reader* reader = history.reader(write.client);
  if (reader == nullptr) return false;
  const bool has_read = std::any_of(reader->shown.begin(), reader->shown.end(), [&](const Observation& o) {
    return o.as != ShownAs::OwnAnswer && o.first_shown.order < write.arrived.order;
  });
  const auto same = [&](const Refusal& r) {
    return r.bytes == bytes && !r.lost && r.told != 0 && r.told < write.arrived.order;
  };
  const auto last = std::find_if(reader->refusals.rbegin(), reader->refusals.rend(), same);
  if (has_read || last == reader->refusals.rend()) return false;
  return !history.written_since(last->told, [](const Entry&) { return false; });
}

}  // namespace armgate::policy
