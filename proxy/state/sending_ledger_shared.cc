// The ledger of a client whose requests come to several processes: what changed it in one of them changes it here.
#include <utility>

#include "proxy/state/sending_event.h"
#include "proxy/state/sending_ledger.h"

namespace armgate {

using What = SendingEvent::What;
using Kind = SendingLedger::Ending::Kind;

void SendingLedger::tell_sink(SendingEvent event) {
  event.client = client_;
  options_.sink->tell(std::move(event));
}

void SendingLedger::tell_begun(Sending& sending, const Arrival& arrival, const Ending* seen) {
  if (options_.sink == nullptr) return;
  sending.begun = sending.asking;
  SendingEvent event{seen == nullptr ? What::Added : What::Again, {}, {sending.id, sending.asking}, arrival, {}};
  if (seen != nullptr) {
    event.ending.kind = seen->kind;
    event.ending.intent = seen->intent;
  }
  tell_sink(std::move(event));
}

// Those that it has everywhere. Indices name it by its id.
void SendingLedger::take_ids(Iterator place, const Asking& asking) {
  unindex(place);
  by_id_.erase(place->id);
  place->id = asking.sending;
  place->asking = asking.number;
  by_id_.emplace(place->id, place);
  index(place);
}

bool SendingLedger::follow(const SendingEvent& event, std::shared_ptr<const Presence> asker, Moment now) {
  MutexLock lock(&mutex_);
  const auto& asking = event.asking;
  const auto settle = [&](SettledBy by) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    settle_doubts(event.arrival.resource, event.arrival.at.order, by, event.arrival.request, From::Elsewhere);
  };
  if (event.what == What::Resolved) {
    settle(SettledBy::Read);
    return true;
  }
  if (event.what == What::Added) {
    settle(SettledBy::OtherWrite);
    const Iterator place = add_locked(event.arrival);
    take_ids(place, asking);
    place->asker = std::move(asker);
    return note_logged_locked(*place, event, now.order);
  }
  if (event.what == What::Former) {
    Arrival arrival = event.arrival;
    arrival.at.order = now.order;  // its own process had another order
    const Iterator place = add_former_locked(arrival, event.ending);
    take_ids(place, asking);
    place->added = now.order;
    return true;
  }
  const auto found = by_id_.find(asking.sending);
  if (found == by_id_.end()) return false;
  const Iterator place = found->second;
  if (!note_logged_locked(*place, event, now.order)) return false;
  const bool is_asker = place->asking == asking.number;
  switch (event.what) {
    case What::Again: run_again(place, event.arrival); [[fallthrough]];
    case What::Asked:
      place->asker = std::move(asker);
      place->asking = asking.number;
      place->undelivered = false;
      break;
    case What::Sent: place->sent = true; break;
    case What::HadBase: place->had_base = true; break;
    case What::MaybeApplied: place->maybe_applied = true; break;
    case What::Ended:
      place->is_end_logged = true;
      end_locked(place, asking.number, event.ending, now);
      break;
    case What::Written: close(asking, false); break;
    case What::Delivered: close(asking, true); break;
    case What::AskerGone:
    case What::Undelivered: place->undelivered |= is_asker; break;
    case What::Added:
    case What::Former:
    case What::Resolved: break;
  }
  return true;
}

// The same everywhere. What is told of first is carried out; and nothing that has ended otherwise than who begins it once more
// knew. (Earlier versions told nothing of that, which looks like a
// refusal without a record.)
bool SendingLedger::note_logged_locked(Sending& sending, const SendingEvent& event, uint64_t order) {
  const uint64_t asking = event.asking.number;
  if (event.what == What::Ended) {
    const bool is_end = asking == 0 || sending.runner == asking;
    if (is_end) sending.runner = 0;
    return is_end;
  }
  if (event.what == What::Added) sending.added = order;
  if (event.what != What::Added && event.what != What::Again) return true;
  if (sending.begun == asking) sending.begun = 0;
  const bool is_told = event.ending.kind != Kind::Refused || event.ending.intent != 0;
  const bool is_other_end = sending.ending && sending.is_end_logged &&
                            (sending.ending->kind != event.ending.kind || sending.ending->intent != event.ending.intent);
  if (sending.runner != 0 || (event.what == What::Again && is_told && is_other_end)) return false;
  sending.runner = asking;
  sending.logged = order;
  return true;
}

void SendingLedger::note_logged(const SendingEvent& event, uint64_t order) {
  MutexLock lock(&mutex_);
  Sending* sending = find_locked(event.asking.sending);
  if (sending == nullptr || !note_logged_locked(*sending, event, order)) return;
  if (event.what != What::Ended || sending->ended_by != event.asking.number) return;
  sending->is_end_logged = true;
  sending->ended.order = order;
}

uint64_t SendingLedger::logged_at(uint64_t sending) const {
  MutexLock lock(&mutex_);
  const Sending* s = find_locked(sending);
  return s == nullptr ? 0 : s->added;
}

bool SendingLedger::is_elsewhere(const Arrival& arrival, const Asking& own, const Questions& ask) {
  MutexLock lock(&mutex_);
  const Sending* sending = find_locked(own.sending);
  if (sending == nullptr || sending->runner != own.number) return true;
  const Match match = find_earlier(arrival, ask, sending).match;
  return match == Match::Shared || match == Match::InDoubt;
}

}  // namespace armgate
