// self_made_ca.h – a throw-away authority and a server certificate for the simulated ARM.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"

namespace armgate::sim {

struct ServerIdentity {
  std::string ca_pem;     // what clients must trust
  std::string chain_pem;  // the server's certificate
  std::string key_pem;
};

// A certificate for `name`, localhost and 127.0.0.1, valid from an hour before `now` for thirty days. The authority's key is
// forgotten at once.
Result<ServerIdentity> make_server_identity(WallTime now, const std::string& name = "management.azure.com");

}  // namespace armgate::sim
