// probe.h – asks ARM one question the way a tool does: through armgate as its proxy, with armgate's certificate.
//
// Limits    `patience` in all, then TimedOut.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace armgate {

struct ProbeQuestion {
  std::string proxy_host;  // where armgate listens
  uint16_t proxy_port = 0;
  std::string credentials;     // "name:password" of the proxy's URL; empty: none
  std::filesystem::path root;  // the only certificate that is trusted
  std::string host;            // of ARM
  Duration patience = std::chrono::seconds(30);
};

struct ProbeAnswer {
  int status = 0;
  std::string date;     // the field, as it came
  std::string code;     // of the error in the body, if there is one
  std::string message;  // the same
};

// Sends a GET that needs no token. Untrusted: whoever answers there has another authority's certificate.
Result<ProbeAnswer> ask_through(const ProbeQuestion& question);

}  // namespace armgate
