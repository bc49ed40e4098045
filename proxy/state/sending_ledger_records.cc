// The ledger's records: where they stand, by what they are found, and how many there may be.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/mutant.h"
#include "proxy/state/sending_ledger.h"

namespace armgate {
namespace {

using Kind = SendingLedger::Ending::Kind;

template <class Index, class Key, class Iterator>
void remove_from(Index& index, const Key& key, Iterator place) {
  const auto it = index.find(key);
  if (it == index.end()) return;
  const auto at = std::find(it->second.begin(), it->second.end(), place);
  if (at != it->second.end()) it->second.erase(at);
  if (it->second.empty()) index.erase(it);
}

}  // namespace

size_t SendingLedger::bytes_of(const Ending& ending) {
  if (!ending.answer) return 0;
  size_t bytes = ending.answer->body.size();
  for (const auto& field : ending.answer->head.fields) bytes += field.name.size() + field.value.size();
  return bytes;
}

SendingLedger::Call SendingLedger::call_of(const Hash128& request, const std::string& request_id) {
  return {request, is_mutant(Mutant::IdsIgnoredInJoin) ? std::string() : request_id};
}

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
      if (is_kept(sending)) return sending.ending->answer ? Stage::Repeatable : Stage::Recorded;
      return sending.ending->answer ? Stage::Done : Stage::InDoubt;  // done, but its client cannot be told so
    case Kind::InDoubt: break;
  }
  return is_kept(sending) ? Stage::Recorded : Stage::InDoubt;
}

// Beyond the arrival of its answer.
bool SendingLedger::is_kept(const Sending& sending) {
  if (!sending.ending) return false;
  const bool may_have_run = sending.ending->kind == Kind::InDoubt && sending.repeats.by_id;
  return may_have_run || (sending.ending->kind == Kind::Accepted && sending.repeats.any());
}

bool SendingLedger::is_found_by_content(const Sending& sending) {
  const bool in_doubt = sending.ending && sending.ending->kind == Kind::InDoubt;
  const bool is_joined = sending.ending && sending.repeats.running > Duration::zero();
  return in_doubt || is_joined || sending.repeats.window > Duration::zero();
}

TimePoint SendingLedger::end_of_repeats(const Sending& sending) const {
  const Repeats& repeats = sending.repeats;
  const Duration unnamed = std::max({repeats.window, repeats.running, options_.keep});
  return sending.ended.time + (repeats.by_id ? options_.repeat_keep : unnamed);
}

bool SendingLedger::may_be_settled(const Sending& sending) {
  if (!sending.ending || sending.settled) return false;
  switch (sending.ending->kind) {
    case Kind::Expected: return sending.request_id.empty() && sending.one_actor;
    case Kind::Refused: return sending.request_id.empty();
    case Kind::Accepted: {
      // What waits for the end of its operation alone is over with its client's next write.
      const bool only_joined = !sending.repeats.by_id && sending.repeats.window == Duration::zero();
      return sending.told ? only_joined : sending.request_id.empty();
    }
    case Kind::InDoubt: break;
  }
  return true;
}

void SendingLedger::index(Iterator place) {
  if (may_be_settled(*place)) unsettled_[place->resource].push_back(place);
  if (is_found_by_content(*place)) whatever_id_[place->request].push_back(place);
  if (is_kept(*place)) repeats_until_.emplace(place->repeats_until, place->id);
  if (place->ending) bytes_ += bytes_of(*place->ending);
}

void SendingLedger::unindex(Iterator place) {
  if (may_be_settled(*place)) remove_from(unsettled_, place->resource, place);
  if (is_found_by_content(*place)) remove_from(whatever_id_, place->request, place);
  if (is_kept(*place)) repeats_until_.erase({place->repeats_until, place->id});
  if (place->ending) bytes_ -= bytes_of(*place->ending);
}

// `how` changes what decides by what the record is found and in which list it stands.
template <class How>
void SendingLedger::change(Iterator place, How how) {
  auto& before = list_of(stage_of(*place));
  unindex(place);
  how(*place);
  auto& after = list_of(stage_of(*place));
  if (&after != &before) after.splice(after.end(), before, place);
  index(place);
}

// None: it runs.
void SendingLedger::set_ending(Iterator place, std::optional<Ending> ending) {
  change(place, [&](Sending& sending) {
    sending.ending = std::move(ending);
    sending.settled = false;
    sending.repeats_until = end_of_repeats(sending);
  });
}

// Its answer has arrived, and is given again.
void SendingLedger::mark_told(Iterator place) {
  change(place, [](Sending& sending) { sending.told = true; });
}

void SendingLedger::drop_answer(Iterator place) {
  change(place, [](Sending& sending) { sending.ending->answer = nullptr; });
}

SendingLedger::Iterator SendingLedger::add_locked(const Arrival& arrival) {
  auto& running = list_of(Stage::Running);
  const Iterator place = running.emplace(running.end(), arrival);
  place->id = next_id_++;
  take_asking(*place, arrival);
  by_id_.emplace(place->id, place);
  by_call_[call_of(place->request, place->request_id)].push_back(place);
  index(place);
  keep_within_bounds(arrival.at.time);
  return place;
}

void SendingLedger::forget(Iterator place) {
  if (is_kept(*place) && place->repeats.by_id) forgotten_ = std::max(forgotten_, place->repeats.first_sent);
  unindex(place);
  remove_from(by_call_, call_of(place->request, place->request_id), place);
  by_id_.erase(place->id);
  list_of(stage_of(*place)).erase(place);
}

void SendingLedger::take_asking(Sending& sending, const Arrival& arrival) {
  sending.asker = arrival.asker;
  sending.asking = next_asking_++;
  sending.one_actor = arrival.one_actor;
  sending.undelivered = false;
}

void SendingLedger::run_again(Iterator place, const Arrival& arrival) {
  change(place, [&](Sending& sending) {
    sending.ending.reset();
    sending.settled = sending.told = sending.sent = false;
    sending.resend = arrival.resend;
    sending.repeats = arrival.repeats;
    sending.repeats_until = end_of_repeats(sending);
  });
  take_asking(*place, arrival);
  if (place->request_id == arrival.request_id) return;
  remove_from(by_call_, call_of(place->request, place->request_id), place);
  place->request_id = arrival.request_id;
  by_call_[call_of(place->request, place->request_id)].push_back(place);
}

// ---- limits

bool SendingLedger::is_over(const Sending& sending, TimePoint now) const {
  if (!sending.ending || !sending.sharers.empty()) return false;
  if (is_kept(sending)) return now > sending.repeats_until;
  const bool in_doubt = sending.ending->kind == Kind::InDoubt;
  // One in doubt says so once when its time is over.
  return now - sending.ended.time > (in_doubt ? options_.in_doubt_max + options_.keep : options_.keep);
}

void SendingLedger::expire_repeats(TimePoint now) {
  for (auto it = repeats_until_.begin(); it != repeats_until_.end() && it->first < now;) {
    const Iterator place = by_id_.at(it++->second);
    if (place->sharers.empty()) forget(place);
  }
}

// Those of the other stages have ended in the order in which they stand.
void SendingLedger::expire_locked(TimePoint now) {
  expire_repeats(now);
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
  while (bytes_ > options_.bytes_max && !list_of(Stage::Repeatable).empty()) {
    const Iterator oldest = list_of(Stage::Repeatable).begin();
    if (!oldest->sharers.empty()) break;
    oldest->ending->recorded ? drop_answer(oldest) : forget(oldest);
  }
  for (const Stage stage : {Stage::WithoutEffect, Stage::Done, Stage::Repeatable, Stage::Recorded, Stage::InDoubt}) {
    make_room(stage, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return by_id_.size() > options_.sendings_max; });
  }
}

}  // namespace armgate
