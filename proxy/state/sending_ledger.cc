#include "proxy/state/sending_ledger.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/mutant.h"

namespace armgate {
namespace {

using Kind = SendingLedger::Ending::Kind;

size_t bytes_of(const std::optional<SendingLedger::Ending>& ending) {
  return ending && ending->answer ? ending->answer->body.size() : 0;
}

}  // namespace

SendingLedger::Sending* SendingLedger::find_locked(uint64_t id) {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &*it->second;
}

const SendingLedger::Sending* SendingLedger::find_locked(uint64_t id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &*it->second;
}

void SendingLedger::forget(Place place) {
  const auto same = by_request_.find(place->request);
  std::erase(same->second, place->id);
  if (same->second.empty()) by_request_.erase(same);
  bytes_ -= bytes_of(place->ending);
  by_id_.erase(place->id);
  in_order_.erase(place);
}

bool SendingLedger::is_over(const Sending& sending, TimePoint now) const {
  if (!sending.ending || !sending.sharers.empty()) return false;
  const Duration most = sending.ending->kind == Kind::Unknown ? options_.in_doubt_max : options_.keep;
  return now - sending.ended.time > most;
}

// Those that have not ended stay; the time of the others runs from their ends, which come in any order.
void SendingLedger::keep_within_bounds(TimePoint now) {
  const bool full = in_order_.size() > options_.sendings_max || bytes_ > options_.bytes_max;
  const bool due = !in_order_.empty() && is_over(in_order_.front(), now);
  if (!full && !due) return;
  for (auto it = in_order_.begin(); it != in_order_.end();) {
    const auto candidate = it++;
    const bool over_bound = in_order_.size() > options_.sendings_max || bytes_ > options_.bytes_max;
    const bool idle = candidate->ending && candidate->sharers.empty();
    // One in doubt says so once when its time is over.
    const bool keeps_quiet = candidate->ending && candidate->ending->kind != Kind::Unknown && is_over(*candidate, now);
    if (keeps_quiet || (over_bound && idle)) forget(candidate);
  }
}

uint64_t SendingLedger::add_locked(const Arrival& arrival) {
  Sending& sending = in_order_.emplace_back();
  sending.id = next_id_++;
  sending.request = arrival.request;
  sending.request_id = arrival.request_id;
  sending.resource = arrival.resource;
  sending.arrived = arrival.at;
  sending.asker = arrival.asker;
  const uint64_t id = sending.id;
  by_id_.emplace(id, std::prev(in_order_.end()));
  by_request_[arrival.request].push_back(id);
  keep_within_bounds(arrival.at.time);
  return id;
}

SendingLedger::Match SendingLedger::judge(const Sending& earlier, const Arrival& arrival,
                                          const WrittenSince& written_since) const {
  const bool same_id = earlier.request_id == arrival.request_id;
  const bool has_id = !arrival.request_id.empty() && same_id;
  const bool other_call = !same_id && !arrival.request_id.empty() && !earlier.request_id.empty();
  const bool expired = is_over(earlier, arrival.at.time);
  if (earlier.ending && earlier.ending->kind == Kind::Unknown) {
    // An id where there was none, or none where there was one, may be the same call.
    if (other_call || (earlier.settled && !has_id)) return Match::New;
    return expired ? Match::DoubtExpired : Match::InDoubt;
  }
  if (expired || (!same_id && !is_mutant(Mutant::IdsIgnoredInJoin))) return Match::New;
  const bool gone = earlier.undelivered || (earlier.asker && earlier.asker->gone.load(std::memory_order_acquire));
  const bool orphan = earlier.sent && gone;
  if (!earlier.ending) return orphan || has_id || is_mutant(Mutant::LiveWritersJoined) ? Match::Shared : Match::New;
  switch (earlier.ending->kind) {
    case Kind::Expected: return Match::Again;
    case Kind::Refused: return has_id || gone ? Match::Again : Match::New;
    case Kind::Unknown: break;
    case Kind::Accepted: {
      if (!orphan && !has_id) return Match::New;
      if (!earlier.ending->answer) return orphan ? Match::InDoubt : Match::New;
      // What was sent without a base is judged once more if somebody else has written since.
      const bool overtaken = !has_id && !earlier.had_base && written_since && written_since(earlier.ended.order);
      if (overtaken) return Match::Again;
      return Match::Shared;
    }
  }
  return Match::New;
}

// Without an id the client's next write is its word that it knows how the ones before ended.
void SendingLedger::settle_others(const Arrival& arrival) {
  for (auto it = in_order_.begin(); it != in_order_.end();) {
    const auto candidate = it++;
    const bool other = candidate->resource == arrival.resource && candidate->request != arrival.request;
    const bool settled = other && candidate->ending && candidate->ending->kind == Kind::Accepted &&
                         candidate->request_id.empty() && candidate->sharers.empty() && candidate->undelivered;
    if (settled) forget(candidate);
  }
}

SendingLedger::Matched SendingLedger::match(const Arrival& arrival, Waiter* waiter, uint32_t bits,
                                            const WrittenSince& written_since) {
  MutexLock lock(&mutex_);
  const auto same = by_request_.find(arrival.request);
  const std::vector<uint64_t> earlier = same == by_request_.end() ? std::vector<uint64_t>() : same->second;
  for (auto id = earlier.rbegin(); id != earlier.rend(); ++id) {
    Sending& sending = *by_id_.at(*id);
    const Match match = judge(sending, arrival, written_since);
    switch (match) {
      case Match::New: continue;
      case Match::InDoubt: return {match, 0};
      case Match::DoubtExpired:
        forget(by_id_.at(*id));
        return {match, add_locked(arrival)};
      case Match::Again:
        bytes_ -= bytes_of(sending.ending);
        sending.ending.reset();
        sending.asker = arrival.asker;
        sending.undelivered = false;
        sending.sent = false;
        return {match, sending.id};
      case Match::Shared: {
        const bool is_asker = sending.undelivered || sending.asker->gone.load(std::memory_order_acquire);
        sending.sharers.push_back({waiter, bits, is_asker});
        if (sending.ending) waiter->signal(bits);
        if (is_asker) {
          sending.asker = arrival.asker;
          sending.undelivered = false;
        }
        return {match, sending.id};
      }
    }
  }
  settle_others(arrival);
  return {Match::New, add_locked(arrival)};
}

bool SendingLedger::knows(const Arrival& arrival) {
  MutexLock lock(&mutex_);
  const auto same = by_request_.find(arrival.request);
  if (same == by_request_.end()) return false;
  return std::any_of(same->second.begin(), same->second.end(), [&](uint64_t id) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const Match match = judge(*by_id_.at(id), arrival, nullptr);
    return match == Match::Shared || match == Match::InDoubt;
  });
}

uint64_t SendingLedger::add(const Arrival& arrival) {
  MutexLock lock(&mutex_);
  return add_locked(arrival);
}

uint64_t SendingLedger::expect(const Arrival& arrival, Ending::Kind kind) {
  MutexLock lock(&mutex_);
  const uint64_t id = add_locked(arrival);
  Sending& sending = *find_locked(id);
  sending.sent = sending.undelivered = sending.maybe_applied = sending.had_base = true;
  sending.ending = Ending{kind, nullptr, {}};
  sending.ended = arrival.at;
  return id;
}

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

Moment SendingLedger::first_arrival(uint64_t sending) const {
  MutexLock lock(&mutex_);
  const Sending* s = find_locked(sending);
  return s != nullptr ? s->arrived : Moment{};
}

int SendingLedger::note_visibility_try(uint64_t sending) {
  MutexLock lock(&mutex_);
  Sending* s = find_locked(sending);
  return s == nullptr ? 0 : s->visibility_tries++;
}

void SendingLedger::end(uint64_t sending, Ending ending, Moment now) {
  MutexLock lock(&mutex_);
  Sending* s = find_locked(sending);
  if (s == nullptr) return;
  s->ending = std::move(ending);
  s->ended = now;
  bytes_ += bytes_of(s->ending);
  for (const Sharer& sharer : s->sharers) sharer.waiter->signal(sharer.bits);
  keep_within_bounds(now.time);
}

void SendingLedger::delivered(uint64_t sending) {
  MutexLock lock(&mutex_);
  const auto it = by_id_.find(sending);
  if (it == by_id_.end() || !it->second->sharers.empty() || !it->second->ending) return;
  const Kind kind = it->second->ending->kind;
  if (kind == Kind::Accepted || kind == Kind::Refused) forget(it->second);
}

void SendingLedger::undelivered(uint64_t sending) {
  MutexLock lock(&mutex_);
  if (Sending* s = find_locked(sending)) s->undelivered = true;
}

void SendingLedger::leave(uint64_t sending, Waiter* waiter, With with) {
  MutexLock lock(&mutex_);
  Sending* s = find_locked(sending);
  if (s == nullptr) return;
  const auto sharer = std::find_if(s->sharers.begin(), s->sharers.end(), [&](const Sharer& x) { return x.waiter == waiter; });
  if (sharer == s->sharers.end()) return;
  if (sharer->is_asker && with == With::Nothing) s->undelivered = true;
  s->sharers.erase(sharer);
}

std::optional<SendingLedger::Ending> SendingLedger::ending(uint64_t sending) const {
  MutexLock lock(&mutex_);
  const Sending* s = find_locked(sending);
  return s == nullptr ? Ending{} : s->ending;
}

void SendingLedger::resolve(const Hash128& resource, Moment asked) {
  MutexLock lock(&mutex_);
  for (auto it = in_order_.begin(); it != in_order_.end();) {
    const auto candidate = it++;
    const bool seen = candidate->resource == resource && candidate->ending && candidate->ended.order < asked.order;
    if (!seen || !candidate->sharers.empty()) continue;
    const Kind kind = candidate->ending->kind;
    if (kind == Kind::Unknown) candidate->settled = true;
    const bool known_now = kind != Kind::Expected;
    if (known_now && candidate->request_id.empty()) forget(candidate);
  }
}

bool SendingLedger::expire(TimePoint now) {
  MutexLock lock(&mutex_);
  for (auto it = in_order_.begin(); it != in_order_.end();) {
    const auto candidate = it++;
    if (is_over(*candidate, now)) forget(candidate);
  }
  return !in_order_.empty();
}

size_t SendingLedger::size() const {
  MutexLock lock(&mutex_);
  return in_order_.size();
}

}  // namespace armgate
