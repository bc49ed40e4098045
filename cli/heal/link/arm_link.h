// arm_link.h – the requests of a repair, through the running service to ARM.
//
// Each has a connection and a client request id of its own. A token that ARM does not take is replaced once for each request.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/heal/link/token.h"
#include "cli/heal/world.h"
#include "cli/link/send_through.h"

namespace armgate::heal {

class ArmLink {
 public:
  // `run` begins the ids of its requests.
  ArmLink(Through through, std::string host, Token token, std::string run);

  Result<Reply> send(const Write& write);

 private:
  Result<arm::Response> send_once(const Write& write, const std::string& token);

  const Through through_;
  const std::string host_;
  Token token_;
  const std::string run_;
  uint64_t sent_ = 0;
};

}  // namespace armgate::heal
