#!/bin/sh
# Nothing of the deliberate defects (base/mutant.h) is in the program that users run: no_mutants.sh PROGRAM SIMULATION. The
# simulation, which has them, shows that this would find them.
set -eu
is_mutant=_ZN7armgate9is_mutantENS_6MutantE
nm "$2" | grep -q " [Tt] $is_mutant$" || { echo "$2 has no $is_mutant: this tests nothing"; exit 1; }
if nm "$1" | grep "armgate[0-9]*is_mutant"; then
  echo "$1 holds deliberate defects"
  exit 1
fi
