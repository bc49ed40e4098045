// trust_origin.h – whether a root may become one of the system's: from then on all programs of the machine believe what it
// signs.
//
// Why: what a root says of itself anybody can write, and `armgate ca trust` runs as root.
//
// Threads   one; the command line's.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/ca/trust_store.h"

namespace armgate {

// What whoever asks says of it.
struct TrustRequest {
  std::filesystem::path directory;  // of the authority
  std::string fingerprint;          // SHA-256, colons or not, of the root that is meant; empty: not said
  std::vector<std::string> hosts;   // that armgate looks into (intercept)
};

// BadInput, with what is wrong and the remedy, unless the root has signed an intermediate beside it that may sign for its hosts
// alone, is itself limited to `hosts`, and, where root asks (SystemTrust::believed), nobody else can have put it there. A user
// who names the fingerprint vouches for all but the intermediate, and for that as well where there is none. `pem` is what was
// read as the root, and will be trusted: an account that may write to the directory could show another root to each look.
Result<void> check_origin(const SystemTrust& system, const TrustRequest& request, std::string_view pem, WallTime now);

}  // namespace armgate
