// interruptions.h – Ctrl-C and what else asks a repair to end, and a reader of its output that goes away, which does not.
#pragma once

#include <signal.h>

#include "base/time.h"
#include "cli/heal/world.h"

namespace armgate::heal {

// Ctrl-C asks for an end at the step's edge, a second one for an end at once. While this lives a broken pipe ends nothing.
class Interruptions {
 public:
  Interruptions();
  ~Interruptions();
  static Interrupted now();

 private:
  struct sigaction before_int_ {};
  struct sigaction before_term_ {};
  struct sigaction before_pipe_ {};
};

// That somebody asked a program of ours to end so often means us as well.
void note_interruptions(int count);

// Ends early when a signal comes.
void rest(Duration duration);

}  // namespace armgate::heal
