// owned_poll.h – answers polls of operation URLs that are armgate's own (docs/decisions/0016).
#pragma once

#include <memory>
#include <optional>

#include "arm/owned_url.h"
#include "proxy/async/task.h"
#include "proxy/request/exchange.h"
#include "proxy/request/parts.h"
#include "proxy/request/receipt.h"
#include "proxy/seams/client_link.h"

namespace armgate {

struct OwnedPoll {
  std::shared_ptr<OwnedOperation> operation;  // null: it is none, or of none that is known, and ARM says 404
  arm::OperationUrl form = arm::OperationUrl::Status;
  bool may_be_told_yet = false;  // none is known, but another replica may have given the URL out

  bool is_armgates() const { return operation || may_be_told_yet; }
};

OwnedPoll owned_poll_of(const Parts& parts, const arm::RequestHead& head);
// The same after all rows that other replicas have written so far were read. Suspends. If they cannot be read and the operation
// is not known, `may_be_told_yet` is set.
Task<OwnedPoll> once_all_is_known(Parts& parts, const Exchange& exchange);

// Answers the poll with what ARM says of the newest sending's operation, asked with the poll's own token. While the write is to
// be sent again the answer is that the operation runs. Where ARM does not tell any more, the answer is what is known of the
// end.
Task<Receipt> serve_owned_poll(Parts& parts, Exchange& exchange, ClientLink& link, const OwnedPoll& poll);

}  // namespace armgate
