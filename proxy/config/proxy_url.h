// proxy_url.h – where a proxy is, as its URL says it in the configuration and in HTTPS_PROXY.
//
// A file of its own, because what reads the configuration needs this and nothing else of the parent proxy.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace armgate {

// upstream.proxy: none, whatever the environment names.
inline constexpr std::string_view kDirect = "direct";

struct ProxyLocation {
  std::string host;  // lower case, without brackets
  uint16_t port = 80;
  std::string user;
  std::string password;

  std::string address() const;  // "host:port"
  std::string place() const;    // the same with "localhost" as an address
};

// Reads "http://USER:PASSWORD@HOST:PORT"; the scheme, user, password and port may be left out. The context of an error is the
// end of a sentence that begins with the text, which it does not repeat.
Result<ProxyLocation> parse_proxy_url(std::string_view url);

}  // namespace armgate
