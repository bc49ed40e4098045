// ask_through.h – asks ARM one question the way a tool does: through armgate as its proxy, with armgate's certificate.
//
// Limits    those of send_through.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/link/send_through.h"

namespace armgate {

struct ProxiedQuestion {
  Through through;
  std::string host;  // of ARM
};

struct ProxiedAnswer {
  int status = 0;
  std::string date;     // the field, as it came
  std::string code;     // of the error in the body, if there is one
  std::string message;  // the same
};

// Sends a GET that needs no token. Untrusted: whoever answers there has another authority's certificate.
Result<ProxiedAnswer> ask_through(const ProxiedQuestion& question);

}  // namespace armgate
