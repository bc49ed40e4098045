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

void SendingLedger::follow(const SendingEvent& event, std::shared_ptr<const Presence> asker, Moment now) {
  MutexLock lock(&mutex_);
  const auto& asking = event.asking;
  if (event.what == What::Resolved) return settle(event.arrival.resource, event.arrival.at.order, SettledBy::Read, {});
  if (event.what == What::Added) {
    settle(event.arrival.resource, event.arrival.at.order, SettledBy::OtherWrite, event.arrival.request);
    const Place place = add_locked(event.arrival);
    by_id_.erase(place->id);
    place->id = asking.sending;
    place->asking = asking.number;
    place->asker = std::move(asker);
    by_id_.emplace(place->id, place);
    return;
  }
  const auto found = by_id_.find(asking.sending);
  if (found == by_id_.end()) return;
  const Place place = found->second;
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
    case What::Resolved: return;
  }
}

bool SendingLedger::knows_another(const Arrival& arrival, uint64_t than) {
  MutexLock lock(&mutex_);
  const Match match = find_earlier(arrival, {}, than).match;
  return match == Match::Shared || match == Match::InDoubt;
}

}  // namespace armgate
