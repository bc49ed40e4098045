// watch.h – follows accepted writes until their operations end (docs/design.md, "Operations").
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "arm/long_running.h"
#include "proxy/request/exchange.h"
#include "proxy/request/parts.h"
#include "proxy/state/lock/operation_leases.h"

namespace armgate {

// The write counts as finished for everybody. A successful delete kills what was below, and one whose end is not known what was
// shown before: it may have happened, and ETags may begin again.
void note_finished(const Parts& parts, const LeasedWrite& write, arm::Progress last);

// Ends an operation lease: its write is finished, and the lease goes to the next. False, and nothing happens, if it has ended
// before.
bool conclude(const Parts& parts, const std::shared_ptr<OperationLease>& op_lease, arm::Progress last,
              EndSeen seen = EndSeen::Yes);

// The same, but the lease goes on with what took the write's place: nothing if the operation lease has ended before, and
// somebody else has it.
std::optional<WriteLease> hand_over(const Parts& parts, const std::shared_ptr<OperationLease>& op_lease);

// The operation has ended: so has the operation lease, unless its watcher has more to do: the write goes again, or something
// has to reach a final state first.
void operation_ended(const Parts& parts, const std::shared_ptr<OperationLease>& op_lease, arm::Progress last);

// Opens the operation lease: from now on a client's poll can end it.
std::shared_ptr<OperationLease> open_lease(Parts& parts, LeasedWrite write, WriteLease lease, std::string authorization);

// Starts the watcher of an operation lease, which polls for itself: while somebody waits, and rarely otherwise; and releases
// the operation lease with an alert when it is too old.
void start_watching(Parts& parts, std::shared_ptr<OperationLease> op_lease);

}  // namespace armgate
