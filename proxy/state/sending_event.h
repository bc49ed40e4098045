// sending_event.h – what changes a sending ledger, for those who keep the same ledger elsewhere (proxy/cluster).
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "proxy/state/sending_ledger.h"

namespace armgate {

struct SendingEvent {
  enum class What : uint8_t {
    Added,
    Again,
    Asked,
    AskerGone,
    Sent,
    HadBase,
    MaybeApplied,
    Ended,
    Written,
    Delivered,
    Undelivered,
    Resolved,
    Former  // of an earlier process (add_former)
  };
  What what = What::Added;
  Hash128 client{};
  SendingLedger::Asking asking{};
  SendingLedger::Arrival arrival{};  // Added, Again, Asked, Former; Resolved: of it the resource and when it was asked for
  SendingLedger::Ending ending{};    // Ended, Former; Again: kind and intent of the end that its process knew
};

}  // namespace armgate
