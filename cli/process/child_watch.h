// child_watch.h – a program that we run ends with us, however we end.
//
// Why: nobody may go on with a drain behind the back of whoever began it. PR_SET_PDEATHSIG does not do: it is a thread's, and
// lost where a program execs another from a thread of its own, as some kubectl do. So a process of its own waits for our end.
#pragma once

#include <sys/types.h>

namespace armgate {

class ChildWatch {
 public:
  // Should it fail to begin, nobody watches.
  explicit ChildWatch(pid_t child);
  ~ChildWatch();  // the child has ended
  ChildWatch(const ChildWatch&) = delete;
  ChildWatch& operator=(const ChildWatch&) = delete;

 private:
  int ours_ = -1;  // closed by our end
  pid_t watcher_ = -1;
};

}  // namespace armgate
