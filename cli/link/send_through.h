// send_through.h – one request to ARM the way a tool sends it: through armgate as its proxy, trusting armgate's certificate
// only.
//
// Limits    `timeout` in all, then TimedOut; 16 MiB of answer.
// Errors    tell by Error::sent whether ARM may have seen the request.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "arm/http.h"
#include "base/result.h"
#include "base/time.h"

namespace armgate {

struct Through {
  std::string proxy_host;  // where armgate listens
  uint16_t proxy_port = 0;
  std::string credentials;     // "name:password" of the proxy's URL; empty: none
  std::filesystem::path root;  // the only certificate that is trusted
  std::string mark;            // what the CONNECT says of who asks
  Duration timeout = std::chrono::seconds(30);
  std::string named_by = "HTTPS_PROXY";  // where whoever asks has its address from, for errors
};

// On a connection of its own. Untrusted: whoever answers there has another authority's certificate.
Result<arm::Response> send_through(const Through& through, const arm::Request& request);

}  // namespace armgate
