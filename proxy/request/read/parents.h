// parents.h – what the parents of a resource tell of it, if it stands in their bodies: a subnet in its network, the tags of
// anything in that.
//
// Why: ARM lets such a resource be read, made, changed and removed through its parent, and nothing of that stands in its own
// history. Threads: any. No table is called under a mutex.
#pragma once

#include <cstdint>
#include <functional>

#include "proxy/policy/history.h"
#include "proxy/request/identify.h"
#include "proxy/request/parts.h"

namespace armgate {

// A read that ARM was asked for at that order shows that there is no such resource. Where a whole write of a parent has left it
// out since it was written, that one's writer has removed it; its history says so then. Else the read may lag.
void note_removed_with_parent(const Parts& parts, const KeyedPlan& plan, uint64_t asked);

// Whether a whole write of a parent, which may have made or changed it, was accepted or has ended after that order: `mine` says
// which do not count.
bool is_put_with_parent(const Parts& parts, const arm::ResourceId& resource, uint64_t since,
                        const std::function<bool(const policy::Entry&)>& mine);

// Brings what reads of its parents have shown this client of it into its history, before bases are looked for. Not what the
// client was shown before it replaced the parent itself: it knows what it asked for then.
void take_from_parents(const Parts& parts, const Client& client, const KeyedPlan& plan);

}  // namespace armgate
