// child_command.h – runs another program as if nobody stood between it and the terminal.
//
// The program stays in our process group, so the terminal and its signals (Ctrl-C, Ctrl-Z) are its own, as is what others send
// to the group or to each process in it. What somebody sends to us alone (kill) is passed on. While it runs such signals do
// nothing to us.
// Threads   construct it before any other thread exists: the signals are blocked for all of them.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "proxy/config/tool_environment.h"

namespace armgate {

inline constexpr size_t kTailBytes = 8192;  // of output that people read, not programs

struct CommandEnd {
  int exit_code = 0;
  int killed_by = 0;  // the signal; 0: it ended by itself
};

struct Finished {
  int exit_code = 0;
  std::string printed;    // on standard output and standard error; its end if that is_cut
  bool is_cut = false;    // it printed more than was asked for
  int interruptions = 0;  // how often we were asked to end meanwhile (Ctrl-C, kill)
  bool is_late = false;   // it was ended, as its time was over
};

class ChildWatch;

class CommandRunner {
 public:
  // From here on the signals wait, the end of a child is told to us whatever our parent ignored, and neither a reader that has
  // gone nor a limit of a file's size ends us. A program begins with what we began with.
  CommandRunner();
  ~CommandRunner();
  CommandRunner(const CommandRunner&) = delete;
  CommandRunner& operator=(const CommandRunner&) = delete;

  // Signals end us as usual again; those that wait are dropped.
  void let_signals_in();

  // Runs it to its end. Its exit code; 128 plus the signal that killed it; 127 if there is no such program, 126 if it
  // cannot be run, which is told on standard error.
  CommandEnd run(const std::vector<std::string>& words, const Environment& environment);

  // The same for a program that has nothing to do with the terminal: it reads nothing, and what it prints is given back,
  // the last `printed_max` bytes of it. It ends when its time is over, and with us, however we end.
  Finished run_quietly(const std::vector<std::string>& words, const Environment& environment, size_t printed_max,
                       std::optional<Duration> most = std::nullopt);

  // Becomes it. Returns only if that failed, with the exit code.
  static int become(const std::vector<std::string>& words, const Environment& environment);

 private:
  struct Disposition {
    int number = 0;
    struct sigaction before {};
  };

  CommandEnd supervise(pid_t child, ChildWatch& watch, std::optional<TimePoint> ends = std::nullopt);
  pid_t start(char* const* arguments, char* const* variables, std::optional<int> printed) const;
  void give_back() const;
  int asked_to_end() const;
  void note_signal(int signal_number);

  sigset_t watched_{};
  sigset_t before_{};
  std::array<Disposition, 3> dispositions_{{{SIGCHLD}, {SIGPIPE}, {SIGXFSZ}}};
  int interruptions_ = 0;
  bool was_late_ = false;
};

}  // namespace armgate
