// ending.h – the end of the process comes in any case.
//
// Why: after the last answer only log lines are left to be written. A pipe whose reader has stopped reading would keep the
// process until it is killed, which looks like a stop that failed.
#pragma once

namespace armgate {

// From now on the process lives for a few seconds at most, and then ends with `exit_code`.
void end_soon(int exit_code);

}  // namespace armgate
