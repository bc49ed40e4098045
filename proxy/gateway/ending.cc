#include "proxy/gateway/ending.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

namespace armgate {
namespace {

constexpr unsigned kLastLinesSeconds = 3;

Ending in_any_case;  // written before the alarm that reads it is set

}  // namespace

// Also in a signal's handler: nothing but system calls.
void end_now(Ending ending) {
  if (ending.by_signal != 0) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::prctl(PR_SET_DUMPABLE, 0);  // where cores go to a program, no limit holds
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    ::sigaction(ending.by_signal, &usual, nullptr);
    sigset_t let_in;
    ::sigemptyset(&let_in);
    ::sigaddset(&let_in, ending.by_signal);
    ::pthread_sigmask(SIG_UNBLOCK, &let_in, nullptr);
    ::raise(ending.by_signal);
  }
  std::_Exit(ending.exit_code);
}

void end_soon(Ending ending) {
  in_any_case = ending;
  struct sigaction at_alarm {};
  at_alarm.sa_handler = [](int) { end_now(in_any_case); };
  ::sigaction(SIGALRM, &at_alarm, nullptr);
  ::alarm(kLastLinesSeconds);
}

}  // namespace armgate
