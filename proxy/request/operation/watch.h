// watch.h – follows accepted writes until their operations end (docs/design.md, "Operations").
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "arm/long_running.h"
#include "proxy/request/exchange.h"
#include "proxy/request/parts.h"
#include "proxy/state/lock/hold_table.h"

namespace armgate {

// The write counts as finished for everybody. A successful delete kills what was below, and one whose end is not known what was
// shown before: it may have happened, and ETags may begin again.
void note_finished(const Parts& parts, const HeldWrite& write, arm::Progress last);

// Ends a hold: its write is finished, and the lease goes to the next. False, and nothing happens, if it has ended before.
bool conclude(const Parts& parts, const std::shared_ptr<Hold>& hold, arm::Progress last, EndSeen seen = EndSeen::Yes);

// The same, but the lease goes on with what took the write's place: nothing if the hold has ended before, and somebody else has it.
std::optional<WriteLease> hand_over(const Parts& parts, const std::shared_ptr<Hold>& hold);

// The operation has ended: so has the hold, unless its watcher has more to do: the write goes again, or something has to come to rest first.
void operation_ended(const Parts& parts, const std::shared_ptr<Hold>& hold, arm::Progress last);

// Opens the hold: from now on a client's poll can end it.
std::shared_ptr<Hold> open_hold(Parts& parts, HeldWrite write, WriteLease lease, std::string authorization);

// Starts the watcher of a hold, which polls for itself: while somebody waits, and rarely otherwise; and releases the hold loudly
// when it is too old.
void start_watching(Parts& parts, std::shared_ptr<Hold> hold);

// A client's own poll, which went to ARM at `asked`, passes by: learn from it (costs ARM nothing).
void learn_from_poll(const Parts& parts, const std::vector<HoldTable::Match>& matches, TimePoint asked,
                     const arm::ResponseHead& head, std::string_view body);

}  // namespace armgate
