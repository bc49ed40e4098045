// descriptors.h – the process's file descriptors, put in order before anything is opened.
//
// Threads   before any other is started.
#pragma once

#include <cstddef>

namespace armgate {

// Opens /dev/null in place of a standard input, output or error that is closed; a command that is started finds it closed
// still. Otherwise the next connection would get the number, and be sent our log.
void hold_standard_descriptors();

// Raises the limit of open files to what the system allows, and returns it. Only for the service: a command that is started
// would inherit it, and programs that use select() break on large numbers.
size_t raise_descriptor_limit();

}  // namespace armgate
