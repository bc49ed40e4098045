// cert_test_support.h – a moment, and the openssl program as a second opinion.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "base/time.h"
#include "certs/certificate.h"
#include "tests/support/temporary_directory.h"

namespace armgate::certs {

// Near the time of the test run is not needed: everything is verified at this moment (2026-01-01).
inline constexpr WallTime kNow = WallTime(std::chrono::seconds(1767225600));

// The exit code of a shell command; its output is thrown away.
inline int exit_code(const std::string& command) { return WEXITSTATUS(std::system((command + " >/dev/null 2>&1").c_str())); }

}  // namespace armgate::certs
