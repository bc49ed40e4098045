// check.h – assertions that stay on in release builds.
//
// Why: a broken invariant in front of production writes must stop the process, not corrupt somebody's resource. Use
// GATE_CHECK for what can only be wrong if this program is wrong; bad input and failing networks are Result values.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace armgate::internal {

[[noreturn]] inline void check_failed(const char* file, int line, const char* condition, const char* why) {
  std::fprintf(stderr, "armgate: broken invariant at %s:%d: %s (%s)\n", file, line, condition, why);
  std::abort();
}

}  // namespace armgate::internal

#define GATE_CHECK(condition, why)                                            \
  do {                                                                        \
    if (!(condition)) [[unlikely]] {                                          \
      ::armgate::internal::check_failed(__FILE__, __LINE__, #condition, why); \
    }                                                                         \
  } while (false)
