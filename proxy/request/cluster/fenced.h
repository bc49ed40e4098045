// fenced.h – writes that go to ARM although nothing can be recorded, for their clients' own preconditions keep them from
// undoing anything (cluster.when_away, docs/cluster.md). Nothing of this is called in a process that is alone.
#pragma once

#include "proxy/async/task.h"
#include "proxy/request/identify.h"
#include "proxy/request/receipt.h"
#include "proxy/seams/client_link.h"
#include "rules/plan.h"

namespace armgate {

// Whether ARM itself will refuse the write if its client has missed anything: it names the state that it was built from, of a
// type whose rule says that ARM heeds that; and nothing else was asked for.
bool is_fenced(const rules::Plan& plan, const Exchange& exchange);

// Whether the write is to go without a record: it is fenced, this process is apart, and nothing is known of an earlier sending
// of it. Waits for the log, or until this process is apart.
Task<bool> goes_unrecorded(Parts& parts, const Exchange& exchange, const KeyedPlan& plan, const Client& client);

// As a read is relayed, without queue and record. When the engine is back the others learn that it may have changed something.
Task<Receipt> send_unrecorded(Parts& parts, Exchange& exchange, ClientLink& link, const KeyedPlan& plan, const Client& client);

}  // namespace armgate
