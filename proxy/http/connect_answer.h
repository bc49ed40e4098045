// connect_answer.h – reads what a proxy answers to CONNECT.
//
// Why another parser than head_parser.h: that one refuses what has two readings and takes out what is for proxies, since a
// message is passed on. This one passes nothing on: it finds out whether the tunnel stands and, if not, what the proxy says of
// the reason.
// Threads   any; nothing is shared.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace armgate::http {

// Framing does not count: a 2xx has no content (RFC 9110 §9.3.6), after anything else the connection is closed. The texts are
// short and may go to a terminal.
struct ConnectAnswer {
  int status = 0;
  std::string reason;
  std::vector<std::string> schemes;  // of Proxy-Authenticate (RFC 9110 §11.7.1)
  std::string proxy_error;           // X-Squid-Error

  bool is_open() const { return status >= 200 && status < 300; }
};

// Nothing if it is not the head of an HTTP answer, or not all of it.
std::optional<ConnectAnswer> parse_connect_answer(std::string_view head);

}  // namespace armgate::http
