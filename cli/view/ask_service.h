// ask_service.h – asks the service that runs with a configuration what it is doing, or to release what it holds.
//
// Limits    a few seconds, then nobody answers there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "proxy/config/config.h"

namespace armgate {

enum class WhichWrites : uint8_t;  // proxy/seams/which_writes.h

// Its status page (admin.h), JSON. BadInput if the configuration has no admin listener; Unreachable if nobody answers there.
Result<std::string> fetch_status(const Config& config);

// What it knows of the last writes (record_view.h), JSON; of `resource` (a canonical id) and what is below it, if it is not
// empty. Errors as of fetch_status().
Result<std::string> fetch_history(const Config& config, size_t most, std::string_view resource, WhichWrites which);

// Releases what holds the resource, JSON that says what that was. BadInput also if nothing holds it or it cannot be released.
// `resource` is its id, `who` a client name (base/client_name.h) for the service's log.
Result<std::string> unlock_resource(const Config& config, std::string_view resource, std::string_view who);

// A run lease (proxy/observability/admin/admin_leases.h): `wanted` is what POST /leases takes, `lease` the lease's id; the
// answer is the lease, JSON. Closed: there is no such lease any more. BadInput: it is refused.
Result<std::string> take_run_lease(const Config& config, std::string_view wanted, std::string_view who);
Result<std::string> renew_run_lease(const Config& config, std::string_view lease, std::string_view who);
Result<std::string> release_lease(const Config& config, std::string_view lease, std::string_view who);

}  // namespace armgate
