// descriptors.h – the process's file descriptors, put in order before anything is opened.
//
// Threads   before any other is started.
#pragma once

#include <cstddef>

namespace armgate {

struct Config;

// Opens /dev/null in place of a standard input, output or error that is closed; a command that is started finds it closed
// still. Otherwise the next connection would get the number, and be sent our log.
void hold_standard_descriptors();

// Raises the limit of open files to what the system allows. Only for the service: a command that is started would inherit it,
// and programs that use select() break on large numbers.
void raise_descriptor_limit();

size_t descriptor_limit();

inline constexpr size_t kAdminConnectionsMax = 64;

// How many connections of clients may be open: as many as are configured, or fewer if the process may not open so many files.
// What is left is for its own, the admin listener's among them.
size_t connections_max(const Config& config, size_t descriptors);
// How many files the process must be allowed to open for all that are configured.
size_t descriptors_needed(const Config& config);

}  // namespace armgate
