// admin_leases.h – run leases (proxy/state/lock/run_leases.h), as the admin listener gives them:
//
//   POST   /leases       {"client": NAME, "purpose": TEXT, "resources": [ID, ...]}: 201, and the lease
//   POST   /leases/ID    renews it: 200, and the lease
//   DELETE /leases/ID    gives it back: 200
//
// A lease is {"lease": ID, "state": "held" or "waiting", "behind": TEXT, "behind_ms": N, "ttl_ms": N}. 409: a resource is in
// another lease, or armgate is not in mode protect (any more); 404: there is no such lease (any more).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "arm/http.h"
#include "base/hash.h"
#include "proxy/seams/clock.h"
#include "proxy/state/lock/run_leases.h"
#include "rules/rule.h"

namespace armgate {

inline constexpr std::string_view kLeasesPath = "/leases";
inline constexpr size_t kLeaseBytesMax = 16 * 1024;  // of the body that asks for one

struct RunLeaseSources {
  Clock& clock;
  RunLeases& leases;
  std::function<rules::Mode()> mode;
  std::function<Hash128(std::string_view name)> client_of;  // the key of the client of this name
  // An operator should be able to read who had what: "lease-taken", "lease-released".
  std::function<void(std::string_view event, const RunLeases::Lease&, std::string_view who)> log;
};

// Requires: the request is to kLeasesPath or below it, and refuse_as_operator() had nothing against it.
arm::Response answer_leases(const RunLeaseSources& sources, const arm::Request& request);

}  // namespace armgate
