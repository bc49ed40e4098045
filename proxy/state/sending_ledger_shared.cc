// The ledger of a client whose requests come to several processes: what changed it in one of them changes it here.
#include <utility>

#include "proxy/state/sending_event.h"
#include "proxy/state/sending_ledger.h"

namespace armgate {

using What = SendingEvent::What;

void SendingLedger::tell_sink(SendingEvent event) {
  event.client = client_;
  options_.sink->tell(std::move(event));
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

void SendingLedger::follow(const SendingEvent& event, std::shared_ptr<const Presence> asker, Moment now) {
  MutexLock lock(&mutex_);
  const auto& asking = event.asking;
  if (event.what == What::Resolved) return settle_doubts(event.arrival.resource, event.arrival.at.order, SettledBy::Read, {});
  if (event.what == What::Added) {
    settle_doubts(event.arrival.resource, event.arrival.at.order, SettledBy::OtherWrite, event.arrival.request);
    const Iterator place = add_locked(event.arrival);
    take_ids(place, asking);
    place->asker = std::move(asker);
    note_logged_locked(*place, event, now.order);
    return;
  }
  if (event.what == What::Former) {
    Arrival arrival = event.arrival;
    arrival.at.order = now.order;  // its own process had another order
    const Iterator place = add_former_locked(arrival, event.ending);
    take_ids(place, asking);
    place->added = now.order;
    return;
  }
  const auto found = by_id_.find(asking.sending);
  if (found == by_id_.end()) return;
  const Iterator place = found->second;
  note_logged_locked(*place, event, now.order);
  const bool is_asker = place->asking == asking.number;
  switch (event.what) {
    case What::Again: run_again(place, event.arrival); [[fallthrough]];
    case What::Asked:
      place->asker = std::move(asker);
      place->asking = asking.number;
      place->undelivered = false;
      return;
    case What::Sent: place->sent = true; return;
    case What::HadBase: place->had_base = true; return;
    case What::MaybeApplied: place->maybe_applied = true; return;
    case What::Ended: return end_locked(place, event.ending, now);
    case What::Written: return close(asking, false);
    case What::Delivered: return close(asking, true);
    case What::AskerGone:
    case What::Undelivered: place->undelivered |= is_asker; return;
    case What::Added:
    case What::Former:
    case What::Resolved: return;
  }
}

void SendingLedger::note_logged_locked(Sending& sending, const SendingEvent& event, uint64_t order) {
  if (event.what == What::Ended) sending.runner = 0;
  if (event.what == What::Added) sending.added = order;
  const bool begins = event.what == What::Added || event.what == What::Again;
  if (!begins || sending.runner != 0) return;  // who is told of first carries it out
  sending.runner = event.asking.number;
  sending.logged = order;
}

void SendingLedger::note_logged(const SendingEvent& event, uint64_t order) {
  MutexLock lock(&mutex_);
  if (Sending* sending = find_locked(event.asking.sending)) note_logged_locked(*sending, event, order);
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
