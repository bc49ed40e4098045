// core_dumps.h – whether an image of this process's memory may come to a disk, or to a debugger.
//
// Why: tokens, bodies and the authority's key are in it (promise P8), and systems keep what a crash leaves for weeks.
#pragma once

namespace armgate {

// The first thing in the program. No crash leaves an image, whatever the system does with those (a pattern that is a pipe asks
// no limit), and no other process of the same user can look in. Nothing of it goes to the programs that this one starts.
void hide_memory();

// The contrary, for whoever debugs (core_dumps).
void show_memory();

// The limit, too, for good, and for children: of a service, which starts none that are anybody's own.
void limit_core_dumps();

}  // namespace armgate
