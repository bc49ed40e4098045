// cache_line.h – how far apart things must be that different threads change all the time.
#pragma once

#include <cstddef>

namespace armgate {

// What processors of today take at once; std::hardware_destructive_interference_size may differ between compilers and their
// options.
inline constexpr size_t kCacheLineBytes = 64;

}  // namespace armgate
