// join.h – a request that asks for what was asked already: it gets the answer of the earlier sending instead of a sending of
// its own (DESIGN §7).
#pragma once

#include <memory>
#include <optional>

#include "proxy/seams/client_link.h"
#include "proxy/stages/write.h"

namespace armgate {

// What identifies `write` among those that ask for the same.
UnansweredWrites::Arrival arrival_of(const Write& write, std::shared_ptr<const Presence> asker);

// Waits for the end of an earlier sending of the same request, if there is one whose answer this client may have. The outcome
// is its answer, or Busy or Left if that was too long to wait; nothing: this request is to be carried out itself.
// Afterwards `write` answers for the earlier one.
Task<std::optional<Outcome>> join_earlier(Write& write, const UnansweredWrites::Arrival& arrival);

}  // namespace armgate
