#include "proxy/state/sending_ledger.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/mutant.h"

namespace armgate {
namespace {

using Kind = SendingLedger::Ending::Kind;

size_t bytes_of(const SendingLedger::Ending& ending) {
  if (!ending.answer) return 0;
  size_t bytes = ending.answer->body.size();
  for (const auto& field : ending.answer->head.fields) bytes += field.name.size() + field.value.size();
  return bytes;
}

std::pair<Hash128, std::string> call_of(const Hash128& request, const std::string& request_id) {
  return {request, is_mutant(Mutant::IdsIgnoredInJoin) ? std::string() : request_id};
}

template <class Index, class Key, class Place>
void remove_from(Index& index, const Key& key, Place place) {
  const auto it = index.find(key);
  if (it == index.end()) return;
  const auto at = std::find(it->second.begin(), it->second.end(), place);
  if (at != it->second.end()) it->second.erase(at);
  if (it->second.empty()) index.erase(it);
}

}  // namespace

// ---- the records and where they stand

SendingLedger::Sending* SendingLedger::find_locked(uint64_t id) {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &*it->second;
}

const SendingLedger::Sending* SendingLedger::find_locked(uint64_t id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &*it->second;
}

SendingLedger::Sending* SendingLedger::find_locked(const Asking& asking) {
  Sending* sending = find_locked(asking.sending);
  return sending != nullptr && sending->asking == asking.number ? sending : nullptr;
}

SendingLedger::Stage SendingLedger::stage_of(const Sending& sending) {
  if (!sending.ending) return Stage::Running;
  switch (sending.ending->kind) {
    case Kind::Expected:
    case Kind::Refused: return Stage::WithoutEffect;
    case Kind::Accepted:
      return sending.ending->answer ? Stage::Done : Stage::InDoubt;  // done, but its client cannot be told so
    case Kind::Unknown: break;
  }
  return Stage::InDoubt;
}

bool SendingLedger::may_be_settled(const Sending& sending) {
  if (!sending.ending || sending.settled) return false;
  switch (sending.ending->kind) {
    case Kind::Expected:
    case Kind::Refused: return sending.request_id.empty() && sending.one_actor;
    case Kind::Accepted: return sending.request_id.empty();
    case Kind::Unknown: break;
  }
  return true;
}

void SendingLedger::index(Place place) {
  if (may_be_settled(*place)) unsettled_[place->resource].push_back(place);
  if (place->ending && place->ending->kind == Kind::Unknown) doubts_[place->request].push_back(place);
  if (place->ending) bytes_ += bytes_of(*place->ending);
}

void SendingLedger::unindex(Place place) {
  if (may_be_settled(*place)) remove_from(unsettled_, place->resource, place);
  if (place->ending && place->ending->kind == Kind::Unknown) remove_from(doubts_, place->request, place);
  if (place->ending) bytes_ -= bytes_of(*place->ending);
}

// None: it runs.
void SendingLedger::set_ending(Place place, std::optional<Ending> ending) {
  auto& before = list_of(stage_of(*place));
  unindex(place);
  place->ending = std::move(ending);
  place->settled = false;
  auto& after = list_of(stage_of(*place));
  after.splice(after.end(), before, place);
  index(place);
}

SendingLedger::Place SendingLedger::add_locked(const Arrival& arrival) {
  auto& running = list_of(Stage::Running);
  const Place place = running.emplace(running.end());
  place->id = next_id_++;
  place->request = arrival.request;
  place->request_id = arrival.request_id;
  place->resource = arrival.resource;
  place->arrived = arrival.at;
  take_asking(*place, arrival);
  by_id_.emplace(place->id, place);
  by_call_[call_of(place->request, place->request_id)].push_back(place);
  keep_within_bounds(arrival.at.time);
  return place;
}

void SendingLedger::forget(Place place) {
  unindex(place);
  remove_from(by_call_, call_of(place->request, place->request_id), place);
  by_id_.erase(place->id);
  list_of(stage_of(*place)).erase(place);
}

// ---- limits

bool SendingLedger::is_over(const Sending& sending, TimePoint now) const {
  if (!sending.ending || !sending.sharers.empty()) return false;
  const bool in_doubt = sending.ending->kind == Kind::Unknown;
  // One in doubt says so once when its time is over.
  return now - sending.ended.time > (in_doubt ? options_.in_doubt_max + options_.keep : options_.keep);
}

// Those of a stage have ended in the order in which they stand.
void SendingLedger::expire_locked(TimePoint now) {
  for (const Stage stage : {Stage::WithoutEffect, Stage::Done, Stage::InDoubt}) {
    auto& list = list_of(stage);
    for (auto it = list.begin(); it != list.end();) {
      const auto candidate = it++;
      if (!candidate->sharers.empty()) continue;
      if (!is_over(*candidate, now)) break;
      forget(candidate);
    }
  }
}

void SendingLedger::keep_within_bounds(TimePoint now) {
  expire_locked(now);
  const auto make_room = [this](Stage stage, auto is_short_of_room) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    auto& list = list_of(stage);
    for (auto it = list.begin(); it != list.end() && is_short_of_room();) {
      const auto candidate = it++;
      if (candidate->sharers.empty()) forget(candidate);
    }
  };
  make_room(Stage::Done, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return bytes_ > options_.bytes_max; });
  for (const Stage stage : {Stage::WithoutEffect, Stage::Done, Stage::InDoubt}) {
    make_room(stage, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return by_id_.size() > options_.sendings_max; });
  }
}

// ---- what an arriving request is

SendingLedger::Match SendingLedger::judge(const Sending& earlier, const Arrival& arrival,
                                          const WrittenSince& written_since) const {
  const bool same_id = earlier.request_id == arrival.request_id;
  const bool has_id = !arrival.request_id.empty() && same_id;
  const bool other_call = !same_id && !arrival.request_id.empty() && !earlier.request_id.empty();
  if (is_over(earlier, arrival.at.time)) return Match::New;
  if (earlier.ending && earlier.ending->kind == Kind::Unknown) {
    // An id where there was none, or none where there was one, may be the same call.
    if (other_call || (earlier.settled && !has_id)) return Match::New;
    const bool expired = arrival.at.time - earlier.ended.time > options_.in_doubt_max && earlier.sharers.empty();
    return expired ? Match::DoubtExpired : Match::InDoubt;
  }
  if (!same_id && !is_mutant(Mutant::IdsIgnoredInJoin)) return Match::New;
  const bool gone = earlier.undelivered || (earlier.asker && earlier.asker->gone.load(std::memory_order_acquire));
  if (!earlier.ending) {
    const bool is_orphan = earlier.sent && gone;
    return is_orphan || has_id || is_mutant(Mutant::LiveWritersJoined) ? Match::Shared : Match::New;
  }
  switch (earlier.ending->kind) {
    case Kind::Expected: return Match::Again;
    case Kind::Refused: {
      if (!has_id && !gone) return Match::New;
      const bool is_being_shared = earlier.ending->answer && !earlier.sharers.empty();
      return is_being_shared ? Match::Shared : Match::Again;
    }
    case Kind::Unknown: break;
    case Kind::Accepted: {
      if (!gone && !has_id) return Match::New;
      if (!earlier.ending->answer) return gone ? Match::InDoubt : Match::New;
      // What was sent without a base is judged once more if somebody else has written since.
      const bool overtaken = !has_id && !earlier.had_base && written_since && written_since(earlier.id, earlier.ended.order);
      return overtaken ? Match::Again : Match::Shared;
    }
  }
  return Match::New;
}

SendingLedger::Found SendingLedger::find_earlier(const Arrival& arrival, const WrittenSince& written_since) {
  const auto newest_in = [&](const auto& index, const auto& key) {
    const auto it = index.find(key);
    if (it == index.end()) return Found();
    for (auto place = it->second.rbegin(); place != it->second.rend(); ++place) {
      const Match match = judge(**place, arrival, written_since);
      if (match != Match::New) return Found{match, *place};
    }
    return Found();
  };
  const Found same_call = newest_in(by_call_, call_of(arrival.request, arrival.request_id));
  return same_call.match != Match::New ? same_call : newest_in(doubts_, arrival.request);
}

void SendingLedger::take_asking(Sending& sending, const Arrival& arrival) {
  sending.asker = arrival.asker;
  sending.asking = next_asking_++;
  sending.one_actor = arrival.one_actor;
  sending.undelivered = false;
}

void SendingLedger::run_again(Place place, const Arrival& arrival) {
  set_ending(place, std::nullopt);
  take_asking(*place, arrival);
  place->sent = false;
  if (place->request_id == arrival.request_id) return;
  remove_from(by_call_, call_of(place->request, place->request_id), place);
  place->request_id = arrival.request_id;
  by_call_[call_of(place->request, place->request_id)].push_back(place);
}

void SendingLedger::share(Sending& sending, const Arrival& arrival, Waiter* waiter, uint32_t bits) {
  const bool is_asker = sending.undelivered || !sending.asker || sending.asker->gone.load(std::memory_order_acquire);
  if (is_asker) take_asking(sending, arrival);
  sending.sharers.push_back({waiter, bits, is_asker ? sending.asking : 0});
  if (sending.ending) waiter->signal(bits);
}

SendingLedger::Matched SendingLedger::match(const Arrival& arrival, Waiter* waiter, uint32_t bits,
                                            const WrittenSince& written_since) {
  MutexLock lock(&mutex_);
  settle(arrival.resource, arrival.at.order, SettledBy::OtherWrite, arrival.request);
  Found found = find_earlier(arrival, written_since);
  switch (found.match) {
    case Match::InDoubt: return {found.match, {}, {}};
    case Match::New: found.place = add_locked(arrival); break;
    case Match::Again:
    case Match::DoubtExpired: run_again(found.place, arrival); break;
    case Match::Shared: share(*found.place, arrival, waiter, bits); break;
  }
  return {found.match, {found.place->id, found.place->asking}, found.place->arrived};
}

bool SendingLedger::knows(const Arrival& arrival) {
  MutexLock lock(&mutex_);
  const Match match = find_earlier(arrival, nullptr).match;
  return match == Match::Shared || match == Match::InDoubt;
}

SendingLedger::Asking SendingLedger::add(const Arrival& arrival) {
  MutexLock lock(&mutex_);
  settle(arrival.resource, arrival.at.order, SettledBy::OtherWrite, arrival.request);
  const Place place = add_locked(arrival);
  return {place->id, place->asking};
}

uint64_t SendingLedger::expect(const Arrival& arrival, Ending::Kind kind) {
  MutexLock lock(&mutex_);
  const Place place = add_locked(arrival);
  place->sent = place->undelivered = place->maybe_applied = place->had_base = true;
  place->ended = arrival.at;
  set_ending(place, Ending{kind, nullptr, {}});
  return place->id;
}

// ---- the exchange that runs the write

void SendingLedger::sent(uint64_t sending) {
  MutexLock lock(&mutex_);
  if (Sending* s = find_locked(sending)) s->sent = true;
}

void SendingLedger::note_had_base(uint64_t sending) {
  MutexLock lock(&mutex_);
  if (Sending* s = find_locked(sending)) s->had_base = true;
}

void SendingLedger::note_maybe_applied(uint64_t sending) {
  MutexLock lock(&mutex_);
  if (Sending* s = find_locked(sending)) s->maybe_applied = true;
}

bool SendingLedger::maybe_applied(uint64_t sending) const {
  MutexLock lock(&mutex_);
  const Sending* s = find_locked(sending);
  return s != nullptr && s->maybe_applied;
}

int SendingLedger::note_visibility_try(uint64_t sending) {
  MutexLock lock(&mutex_);
  Sending* s = find_locked(sending);
  return s == nullptr ? 0 : s->visibility_tries++;
}

void SendingLedger::end(uint64_t sending, Ending ending, Moment now) {
  MutexLock lock(&mutex_);
  const auto it = by_id_.find(sending);
  if (it == by_id_.end()) return;
  const Place place = it->second;
  const bool is_shared = !place->sharers.empty();
  if (ending.kind != Kind::Accepted && !is_shared) ending.answer = nullptr;  // sent again, it is decided again
  const bool is_too_large = bytes_of(ending) > options_.bytes_max && !is_shared;
  if (is_too_large) return forget(place);
  place->ended = now;
  set_ending(place, std::move(ending));
  for (const Sharer& sharer : place->sharers) sharer.waiter->signal(sharer.bits);
  keep_within_bounds(now.time);
}

void SendingLedger::close(const Asking& asking, bool has_arrived) {
  const Sending* s = find_locked(asking);
  if (s == nullptr || !s->ending || !s->sharers.empty()) return;
  const Kind kind = s->ending->kind;
  if (kind == Kind::Refused || (kind == Kind::Accepted && has_arrived)) forget(by_id_.at(s->id));
}

void SendingLedger::written(const Asking& asking) {
  MutexLock lock(&mutex_);
  close(asking, false);
}

void SendingLedger::delivered(const Asking& asking) {
  MutexLock lock(&mutex_);
  close(asking, true);
}

void SendingLedger::undelivered(const Asking& asking) {
  MutexLock lock(&mutex_);
  if (Sending* s = find_locked(asking)) s->undelivered = true;
}

// ---- who shares an answer

void SendingLedger::leave(uint64_t sending, Waiter* waiter, With with) {
  MutexLock lock(&mutex_);
  Sending* s = find_locked(sending);
  if (s == nullptr) return;
  const auto sharer = std::find_if(s->sharers.begin(), s->sharers.end(), [&](const Sharer& x) { return x.waiter == waiter; });
  if (sharer == s->sharers.end()) return;
  if (sharer->asking == s->asking && with == With::Nothing) s->undelivered = true;
  s->sharers.erase(sharer);
  const bool is_of_no_use = s->sharers.empty() && s->ending && s->ending->kind != Kind::Accepted && s->ending->answer;
  if (!is_of_no_use) return;
  bytes_ -= bytes_of(*s->ending);
  s->ending->answer = nullptr;
}

std::optional<SendingLedger::Ending> SendingLedger::ending(uint64_t sending) const {
  MutexLock lock(&mutex_);
  const Sending* s = find_locked(sending);
  return s == nullptr ? Ending{} : s->ending;
}

// ---- settled

// By what its client did after the order `since`.
void SendingLedger::settle(const Hash128& resource, uint64_t since, SettledBy by, const Hash128& request) {
  const auto it = unsettled_.find(resource);
  if (it == unsettled_.end()) return;
  const Places places = std::move(it->second);
  unsettled_.erase(it);
  for (const Place place : places) {
    const bool in_doubt = place->ending->kind == Kind::Unknown;
    const bool concerned = by == SettledBy::Read || (!in_doubt && place->request != request);
    if (!concerned || !place->sharers.empty() || place->ended.order >= since) {
      unsettled_[resource].push_back(place);
    } else if (in_doubt && !place->request_id.empty()) {
      place->settled = true;
    } else {
      forget(place);
    }
  }
}

void SendingLedger::resolve(const Hash128& resource, Moment asked) {
  MutexLock lock(&mutex_);
  settle(resource, asked.order, SettledBy::Read, {});
}

bool SendingLedger::expire(TimePoint now) {
  MutexLock lock(&mutex_);
  expire_locked(now);
  return !by_id_.empty();
}

size_t SendingLedger::size() const {
  MutexLock lock(&mutex_);
  return by_id_.size();
}

}  // namespace armgate
