#include "proxy/state/sending_ledger.h"

#include <algorithm>
#include <utility>

#include "base/mutant.h"
#include "proxy/state/sending_event.h"

namespace armgate {
namespace {

using Kind = SendingLedger::Ending::Kind;

}  // namespace

// ---- what an arriving request is

// Whether it is an earlier one whose answer has not arrived.
SendingLedger::Match SendingLedger::judge_lost(const Sending& earlier, const Arrival& arrival, const Questions& ask) const {
  const bool same_id = earlier.request_id == arrival.request_id;
  const bool has_id = !arrival.request_id.empty() && same_id;
  const bool other_call = !same_id && !arrival.request_id.empty() && !earlier.request_id.empty();
  if (earlier.ending && earlier.ending->kind == Kind::InDoubt) {
    // An id where there was none, or none where there was one, may be the same call.
    if (other_call || (earlier.settled && !has_id)) return Match::New;
    const bool for_long = arrival.at.time - earlier.ended.time > options_.in_doubt_max;
    return for_long && earlier.sharers.empty() && !earlier.repeats.by_id ? Match::DoubtExpired : Match::InDoubt;
  }
  if (!same_id && !is_mutant(Mutant::IdsIgnoredInJoin)) return Match::New;
  const bool gone = earlier.undelivered || (earlier.asker && earlier.asker->gone.load(std::memory_order_acquire));
  if (!earlier.ending) {
    const bool is_undelivered = earlier.sent && gone;
    return is_undelivered || has_id || is_mutant(Mutant::LiveWritersJoined) ? Match::Shared : Match::New;
  }
  switch (earlier.ending->kind) {
    case Kind::Expected: return Match::Again;
    case Kind::Refused: {
      if (!has_id && !gone) return Match::New;
      // With another credential it could not be told the answer, and would find it again and again for as long as others share
      // it.
      const bool is_being_shared = earlier.ending->answer && !earlier.sharers.empty() && earlier.resend == arrival.resend;
      return is_being_shared ? Match::Shared : Match::Again;
    }
    case Kind::InDoubt: break;
    case Kind::Accepted: {
      if (!gone && !has_id) return Match::New;
      if (!earlier.ending->answer) return gone && !earlier.ending->recorded ? Match::InDoubt : Match::New;
      // What was sent without a base is judged once more if somebody else has written since.
      const bool overtaken =
          !has_id && !earlier.had_base && ask.written && ask.written(earlier.id, earlier.ended.order) != Since::Nothing;
      return overtaken ? Match::Again : Match::Shared;
    }
  }
  return Match::New;
}

// Whether it is one whose answer is given again although it has arrived.
SendingLedger::Match SendingLedger::judge_repeated(const Sending& earlier, const Arrival& arrival, const Questions& ask) const {
  if (earlier.ending && earlier.ending->kind != Kind::Accepted) return Match::New;
  const Match given = !earlier.ending || earlier.ending->answer || earlier.ending->recorded ? Match::Shared : Match::InDoubt;
  if (earlier.repeats.by_id && arrival.repeats.by_id) return given;
  const Duration window = std::min(earlier.repeats.window, arrival.repeats.window);
  const bool is_within = window > Duration::zero() && (!earlier.ending || arrival.at.time - earlier.ended.time <= window);
  const bool both_join = earlier.repeats.running > Duration::zero() && arrival.repeats.running > Duration::zero();
  const bool runs = both_join && earlier.ending && ask.runs && ask.runs(earlier.ending->intent, earlier.ended.order);
  const bool has_failed = is_within && earlier.ending && ask.failed && ask.failed(earlier.ending->intent);
  if ((!is_within || has_failed) && !runs) return Match::New;
  if (!earlier.ending || is_mutant(Mutant::RepeatedWhateverCame)) return given;
  const Since since = ask.written ? ask.written(earlier.id, earlier.ended.order) : Since::Unknown;
  if (since == Since::Nothing) return given;
  // Carrying it out again is what the rule forbids; and that somebody has written is not known.
  return since == Since::Unknown && is_within ? Match::InDoubt : Match::New;
}

// What is kept longer than an answer that did not arrive is kept for another reason.
bool SendingLedger::may_be_lost(const Sending& earlier, TimePoint now) const {
  const bool is_done = earlier.ending && earlier.ending->kind == Kind::Accepted;
  return !earlier.told && (!is_done || now - earlier.ended.time <= options_.keep);
}

SendingLedger::Match SendingLedger::compare(const Sending& earlier, const Arrival& arrival, const Questions& ask) const {
  if (is_over(earlier, arrival.at.time)) return Match::New;
  if (arrival.repeats.by_id && earlier.content != arrival.content) return Match::Misused;
  const Match lost = may_be_lost(earlier, arrival.at.time) ? judge_lost(earlier, arrival, ask) : Match::New;
  return lost != Match::New || is_mutant(Mutant::DeliveredIsForgotten) ? lost : judge_repeated(earlier, arrival, ask);
}

SendingLedger::Found SendingLedger::find_earlier(const Arrival& arrival, const Questions& ask, const Sending* before) {
  const auto newest_in = [&](const auto& index, const auto& key) {
    const auto it = index.find(key);
    Found found;
    if (it == index.end()) return found;
    for (auto place = it->second.rbegin(); place != it->second.rend(); ++place) {
      const bool counts = before == nullptr || ((*place)->logged != 0 && (*place)->logged < before->logged);
      const Match match = counts ? compare(**place, arrival, ask) : Match::New;
      if (match == Match::New) continue;
      found = {match, *place};
      // Of several processes one may have begun the same once more before it knew of the first: that one's answer, or doubt,
      // counts.
      const bool goes_again = match == Match::Again || match == Match::DoubtExpired;
      if (!goes_again || options_.sink == nullptr) break;
    }
    return found;
  };
  const Found same_call = newest_in(by_call_, call_of(arrival.request, arrival.request_id));
  return same_call.match != Match::New ? same_call : newest_in(whatever_id_, arrival.request);
}

void SendingLedger::attach(Sending& sending, const Arrival& arrival, Waiter* waiter, uint32_t bits) {
  const bool is_asker = sending.undelivered || !sending.asker || sending.asker->gone.load(std::memory_order_acquire);
  if (is_asker) {
    take_asking(sending, arrival);
    if (options_.sink != nullptr) tell_sink({SendingEvent::What::Asked, {}, {sending.id, sending.asking}, arrival, {}});
  }
  sending.sharers.push_back({waiter, bits, is_asker ? sending.asking : 0});
  if (sending.ending) waiter->signal(bits);
}

SendingLedger::Matched SendingLedger::match(const Arrival& arrival, Waiter* waiter, uint32_t bits, const Questions& ask) {
  MutexLock lock(&mutex_);
  settle_doubts(arrival.resource, arrival.at.order, SettledBy::OtherWrite, arrival.request);
  expire_repeats(arrival.at.time);
  Found found = find_earlier(arrival, ask);
  const bool is_named = arrival.repeats.by_id && found.match == Match::New;
  if (is_named && arrival.repeats.first_sent <= std::max(arrival.repeats.known_from, forgotten_)) {
    return {Match::Forgotten, {}, {}};
  }
  if (is_named && arrival.repeats.first_sent > arrival.repeats.known_until) return {Match::Ahead, {}, {}};
  switch (found.match) {
    case Match::Forgotten:
    case Match::Ahead:
    case Match::Misused:
    case Match::InDoubt: return {found.match, {}, {}};
    case Match::New: {
      found.place = add_locked(arrival);
      tell_begun(*found.place, arrival, nullptr);
      break;
    }
    case Match::Again:
    case Match::DoubtExpired: {
      const Ending seen = *found.place->ending;
      run_again(found.place, arrival);
      tell_begun(*found.place, arrival, &seen);
      break;
    }
    case Match::Shared: attach(*found.place, arrival, waiter, bits); break;
  }
  const Sending& sending = *found.place;
  return {found.match, {sending.id, sending.asking}, sending.at, sending.resend != arrival.resend};
}

bool SendingLedger::knows(const Arrival& arrival) {
  MutexLock lock(&mutex_);
  const Match match = find_earlier(arrival, {}).match;
  return match == Match::Shared || match == Match::InDoubt;
}

SendingLedger::Asking SendingLedger::add(const Arrival& arrival) {
  MutexLock lock(&mutex_);
  settle_doubts(arrival.resource, arrival.at.order, SettledBy::OtherWrite, arrival.request);
  const Iterator place = add_locked(arrival);
  tell_begun(*place, arrival, nullptr);
  return {place->id, place->asking};
}

uint64_t SendingLedger::add_former(const Arrival& arrival, Ending ending) {
  MutexLock lock(&mutex_);
  const Iterator place = add_former_locked(arrival, ending);
  if (options_.sink != nullptr)
    tell_sink({SendingEvent::What::Former, {}, {place->id, place->asking}, arrival, std::move(ending)});
  return place->id;
}

SendingLedger::Iterator SendingLedger::add_former_locked(const Arrival& arrival, Ending ending) {
  const Iterator place = add_locked(arrival);
  place->told = ending.kind == Kind::Accepted;  // nobody knows; but being given again is all that it is kept for
  place->sent = place->undelivered = place->maybe_applied = place->had_base = true;
  place->ended = arrival.at;
  set_ending(place, std::move(ending));
  return place;
}

// ---- the exchange that runs the write

void SendingLedger::sent(uint64_t sending) {
  MutexLock lock(&mutex_);
  Sending* s = find_locked(sending);
  if (s == nullptr) return;
  s->sent = true;
  if (options_.sink != nullptr) tell_sink({SendingEvent::What::Sent, {}, {sending, s->asking}, {}, {}});
}

void SendingLedger::note_had_base(uint64_t sending) {
  MutexLock lock(&mutex_);
  Sending* s = find_locked(sending);
  if (s == nullptr) return;
  s->had_base = true;
  if (options_.sink != nullptr) tell_sink({SendingEvent::What::HadBase, {}, {sending, s->asking}, {}, {}});
}

void SendingLedger::note_maybe_applied(uint64_t sending) {
  MutexLock lock(&mutex_);
  Sending* s = find_locked(sending);
  if (s == nullptr) return;
  s->maybe_applied = true;
  if (options_.sink != nullptr) tell_sink({SendingEvent::What::MaybeApplied, {}, {sending, s->asking}, {}, {}});
}

bool SendingLedger::maybe_applied(uint64_t sending) const {
  MutexLock lock(&mutex_);
  const Sending* s = find_locked(sending);
  return s != nullptr && s->maybe_applied;
}

bool SendingLedger::is_heard(uint64_t sending) const {
  MutexLock lock(&mutex_);
  const Sending* s = find_locked(sending);
  return s != nullptr && !s->undelivered && !(s->asker && s->asker->gone.load(std::memory_order_acquire));
}

uint64_t SendingLedger::next_id() const {
  MutexLock lock(&mutex_);
  return next_id_;
}

int SendingLedger::note_visibility_try(uint64_t sending) {
  MutexLock lock(&mutex_);
  Sending* s = find_locked(sending);
  return s == nullptr ? 0 : s->visibility_tries++;
}

void SendingLedger::end(const Asking& asking, Ending ending, Moment now) {
  MutexLock lock(&mutex_);
  const auto it = by_id_.find(asking.sending);
  if (it == by_id_.end()) return;
  Sending& sending = *it->second;
  if (options_.sink != nullptr) {
    tell_sink({SendingEvent::What::Ended, {}, asking, {}, ending});
    const bool is_unknown_yet = sending.begun == asking.number && !sending.ending;
    if (sending.runner != asking.number && !is_unknown_yet) return;
    sending.is_end_logged = false;
  }
  end_locked(it->second, asking.number, std::move(ending), now);
}

void SendingLedger::end_locked(Iterator place, uint64_t by, Ending ending, Moment now) {
  const bool is_shared = !place->sharers.empty();
  if (ending.kind != Kind::Accepted && !is_shared) ending.answer = nullptr;  // sent again, it is decided again
  const bool is_too_large = bytes_of(ending) > options_.bytes_max && !is_shared;
  if (is_too_large && !(place->repeats.any() && ending.recorded)) return forget(place);
  if (is_too_large) ending.answer = nullptr;
  place->ended = now;
  place->ended_by = by;
  set_ending(place, std::move(ending));
  for (const Sharer& sharer : place->sharers) sharer.waiter->signal(sharer.bits);
  keep_within_bounds(now.time);
}

void SendingLedger::close(const Asking& asking, bool has_arrived) {
  const Sending* s = find_locked(asking);
  if (s == nullptr || !s->ending || !s->sharers.empty()) return;
  const Kind kind = s->ending->kind;
  const bool is_closed = kind == Kind::Refused || (kind == Kind::Accepted && has_arrived);
  if (!is_closed) return;
  const Iterator place = by_id_.at(s->id);
  is_kept(*place) ? mark_told(place) : forget(place);
}

void SendingLedger::written(const Asking& asking) {
  if (asking.sending == 0) return;  // it has no record
  MutexLock lock(&mutex_);
  if (options_.sink != nullptr) tell_sink({SendingEvent::What::Written, {}, asking, {}, {}});
  close(asking, false);
}

void SendingLedger::delivered(const Asking& asking) {
  if (asking.sending == 0) return;  // it has no record
  MutexLock lock(&mutex_);
  if (options_.sink != nullptr) tell_sink({SendingEvent::What::Delivered, {}, asking, {}, {}});
  close(asking, true);
}

void SendingLedger::undelivered(const Asking& asking) {
  if (asking.sending == 0) return;  // it has no record
  MutexLock lock(&mutex_);
  if (options_.sink != nullptr) tell_sink({SendingEvent::What::Undelivered, {}, asking, {}, {}});
  if (Sending* s = find_locked(asking)) s->undelivered = true;
}

// ---- who shares an answer

void SendingLedger::leave(uint64_t sending, Waiter* waiter, With with) {
  MutexLock lock(&mutex_);
  Sending* s = find_locked(sending);
  if (s == nullptr) return;
  const auto sharer = std::find_if(s->sharers.begin(), s->sharers.end(), [&](const Sharer& x) { return x.waiter == waiter; });
  if (sharer == s->sharers.end()) return;
  if (sharer->asking == s->asking && with == With::Nothing) {
    s->undelivered = true;
    if (options_.sink != nullptr) tell_sink({SendingEvent::What::Undelivered, {}, {sending, s->asking}, {}, {}});
  }
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

SendingLedger::Told SendingLedger::told(uint64_t sending, const Hash128& resend) const {
  MutexLock lock(&mutex_);
  const Sending* s = find_locked(sending);
  if (s == nullptr) return {Ending{}, false};
  return {s->ending, s->resend != resend};
}

// ---- settled

// By what its client did after the order `since`.
void SendingLedger::settle_doubts(const Hash128& resource, uint64_t since, SettledBy by, const Hash128& request, From from) {
  const auto it = unsettled_.find(resource);
  if (it == unsettled_.end()) return;
  const Iterators places = std::move(it->second);
  unsettled_.erase(it);
  for (const Iterator place : places) {
    const Kind kind = place->ending->kind;
    const bool in_doubt = kind == Kind::InDoubt;
    const bool by_other = place->request != request && (kind == Kind::Accepted || (place->one_actor && !in_doubt));
    const bool is_settled = by == SettledBy::OtherWrite ? by_other : !place->told;
    // What was told elsewhere before the end was told here came before it, whatever number it has.
    const bool is_later = place->ended.order >= since || (from == From::Elsewhere && !place->is_end_logged);
    if (!is_settled || !place->sharers.empty() || is_later) {
      unsettled_[resource].push_back(place);
    } else if (in_doubt && !place->request_id.empty()) {
      place->settled = true;
    } else if (is_kept(*place) && (by == SettledBy::Read || place->repeats.window > Duration::zero())) {
      mark_told(place);
    } else {
      forget(place);
    }
  }
}

void SendingLedger::resolve(const Hash128& resource, Moment asked) {
  MutexLock lock(&mutex_);
  if (options_.sink != nullptr) {
    SendingEvent event{SendingEvent::What::Resolved, {}, {}, {}, {}};
    event.arrival.resource = resource;
    event.arrival.at = asked;
    tell_sink(std::move(event));
  }
  settle_doubts(resource, asked.order, SettledBy::Read, {});
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
