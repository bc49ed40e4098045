// ending.h – the end of the process comes in any case.
//
// Why: after the last answer only log lines are left to be written. A pipe whose reader has stopped reading would keep the
// process until it is killed, which looks like a stop that failed.
#pragma once

namespace armgate {

struct Ending {
  int exit_code = 0;
  // That ended the program in whose place this one stands; 0: none. A shell that runs a script goes by it: an exit code of 130
  // does not stop a loop at Ctrl-C.
  int by_signal = 0;
};

// At once, with nothing unwound or flushed, and without an image of the memory.
[[noreturn]] void end_now(Ending ending);

// From now on the process lives for a few seconds at most, and then ends so.
void end_soon(Ending ending);

}  // namespace armgate
