// spawn.h – starts a Task that nobody awaits.
#pragma once

#include "proxy/async/task.h"

namespace armgate {

// Runs `task` on `executor`. A Task started here must not let an exception out: one that does is a broken program and
// stops the process, because the state it was in the middle of changing cannot be trusted.
void spawn(const Executor& executor, Task<void> task);

// Goes on after what is ready to run by now on this task's executor: for loops that may never have to wait.
Task<void> let_others_run();

}  // namespace armgate
