// send_whole.h – one sending to ARM and its whole answer, for whoever needs all of it before anything else.
#pragma once

#include <optional>

#include "arm/http.h"
#include "base/hash.h"
#include "base/result.h"
#include "proxy/request/parts.h"
#include "proxy/seams/upstream.h"

namespace armgate {

// One attempt of upstream.send(); what ARM says of the principal's budgets is noted. An answer that breaks off, is longer than
// write_answer_bytes_max or does not end by their deadline is an error with Sent::Answered; its head goes to `broken_off`, if
// that is asked for. `request` must stay. Suspends.
Task<Result<arm::Response>> send_whole(const Parts& parts, Hash128 principal, const arm::Request& request, SendLimits limits,
                                       std::optional<arm::ResponseHead>* broken_off = nullptr);

}  // namespace armgate
