// close_write.h – what a write leaves behind when it is answered: what its answer shows, or that it was refused; and the answer
// for those who ask for the same, until it is known whether it has arrived.
#pragma once

#include <memory>

#include "proxy/request/read/remember.h"
#include "proxy/request/receipt.h"
#include "proxy/request/write/write.h"

namespace armgate {

// Called before the answer is written.
Showing remember_answer(const Write& write, const Outcome& outcome);

// From now on a request for the same gets `answer`; null if it is not to be had.
void share_answer(const Write& write, const Outcome& outcome, std::shared_ptr<const arm::Response> answer);

// The answer was written, or could not be (write.exchange says so). The receipt tells whether it has arrived.
Receipt close_exchange(const Write& write, Outcome::Kind kind, const Showing& showing);

}  // namespace armgate
