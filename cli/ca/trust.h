// trust.h – `armgate ca trust` and `armgate ca untrust`: an authority's root in the system's trust store, and out of it.
//
// Threads   one; the command line's.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "cli/ca/trust_origin.h"
#include "cli/ca/trust_store.h"

namespace armgate {

// Each gives what to tell the user, also if there was nothing to do. BadInput: nothing was changed; Internal: the tool of the
// system failed.

// The root in the authority's directory becomes trusted, if check_origin() finds nothing against it.
Result<std::string> trust_authority(const SystemTrust& system, const TrustRequest& request, WallTime now);

// The same one is trusted no more.
Result<std::string> untrust_authority(const SystemTrust& system, const std::filesystem::path& directory);

// No authority's root is trusted any more: also those that were replaced.
Result<std::string> untrust_all(const SystemTrust& system);

}  // namespace armgate
