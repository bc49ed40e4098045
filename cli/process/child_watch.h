// child_watch.h – a process of ours beside a program that we run: it tells which signals reach both, and ends the program with
// us, however we end.
//
// Why a process of its own
//   - A signal that somebody sends to the whole group, or to each process in turn, reaches us as one to us alone does. Passed
//     on it would reach the program twice, and a second one makes many give up their work. What stands beside the program is
//     sent what the program is sent.
//   - Nobody may go on with a drain behind the back of whoever began it. PR_SET_PDEATHSIG does not do: it is a thread's, and
//     lost where a program execs another from a thread of its own, as some kubectl do.
// It has the name and the words of the program, so that `pkill` finds it just when it finds the program.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/time.h"

namespace armgate {

// The signals that a program which we run is to get if somebody sends them to us.
inline constexpr int kPassedOn[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2};

class ChildWatch {
 public:
  // Before the program begins, which may be sent a signal as its first thing. `words` are the program's. If the watcher cannot
  // begin, nobody watches.
  explicit ChildWatch(const std::vector<std::string>& words);
  ~ChildWatch();  // the program has ended
  ChildWatch(const ChildWatch&) = delete;
  ChildWatch& operator=(const ChildWatch&) = delete;

  // From here on the program ends with us.
  void end_with_us(pid_t child) const;

  // Whether a signal that has just reached us was sent to the program, too. Waits a moment for it.
  bool saw(int signal_number);

 private:
  int ours_ = -1;  // closed by our end
  pid_t watcher_ = -1;
  std::map<int, TimePoint> seen_;  // when the watcher was last sent a signal
};

}  // namespace armgate
