#include "cli/process/core_dumps.h"

#include <sys/prctl.h>
#include <sys/resource.h>

namespace armgate {

// prctl(2): files in /proc of such a process belong to root. Its own threads go on reaching theirs (proc_fd_permission and
// ptrace_may_access in Linux ask for the thread group first).
void hide_memory() { ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

void show_memory() { ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); }

void limit_core_dumps() {
  const rlimit none{0, 0};
  rlimit now{};
  if (::getrlimit(RLIMIT_CORE, &now) == 0 && now.rlim_max > 0) ::setrlimit(RLIMIT_CORE, &none);
}

}  // namespace armgate
