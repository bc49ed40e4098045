#include "cli/heal/link/interruptions.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string_view>

namespace armgate::heal {
namespace {

std::atomic<int> interruptions{0};

void note_interruption(int) {
  const int error = errno;
  note_interruptions(1);
  errno = error;
}

}  // namespace

// Said at once, whatever is waited for: this may run in a signal's handler.
void note_interruptions(int count) {
  constexpr std::string_view kAtTheEdge =
      "armgate: it ends at the end of the step that is under way; a second Ctrl-C ends it at once, when a request that is under way "
      "has its answer\n";
  constexpr std::string_view kNow = "armgate: it ends now, when a request that is under way has its answer\n";
  if (count == 0) return;
  const std::string_view text = interruptions.fetch_add(count) + count == 1 ? kAtTheEdge : kNow;
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // nobody reads it: it ends all the same
}

Interruptions::Interruptions() {
  struct sigaction wanted {};
  wanted.sa_handler = note_interruption;
  ::sigaction(SIGINT, &wanted, &before_int_);
  ::sigaction(SIGTERM, &wanted, &before_term_);
  wanted.sa_handler = SIG_IGN;  // what reads the output may die; the step that is under way comes to its end
  ::sigaction(SIGPIPE, &wanted, &before_pipe_);
}

Interruptions::~Interruptions() {
  ::sigaction(SIGINT, &before_int_, nullptr);
  ::sigaction(SIGTERM, &before_term_, nullptr);
  ::sigaction(SIGPIPE, &before_pipe_, nullptr);
}

Interrupted Interruptions::now() {
  const int count = interruptions.load();
  return count == 0 ? Interrupted::No : count == 1 ? Interrupted::AtTheStepsEnd : Interrupted::Now;
}

void rest(Duration duration) {
  const int64_t milliseconds = std::max<int64_t>(0, whole_milliseconds(duration));
  ::poll(nullptr, 0, static_cast<int>(std::min<int64_t>(milliseconds, 3'600'000)));
}

}  // namespace armgate::heal
