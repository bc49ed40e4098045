// head_parser.h – reads the head of an HTTP/1.1 message, and is the gate that lets only one reading of it through.
//
// Why: a proxy that relays a message which two parsers can read differently lets a client hide a second request,
// another precondition or another identity from armgate's guard. Whatever passes here has exactly one framing, one host
// and one identity; everything else is refused by name, and what only concerns the connection is taken out, never
// copied.
//
// Invariants of a parsed head
//   1. fields holds no Host, Connection, Keep-Alive, Proxy-Connection, Proxy-Authorization, Proxy-Authenticate, TE,
//      Trailer, Transfer-Encoding, Upgrade or Expect field, and nothing that Connection names. What is left keeps its
//      bytes and its order (promise P7, docs/design.md).
//   2. Content-Length is gone too, except where it says what the content cannot: the zero of a request without
//      content, and the length that a HEAD or 304 answer only announces. compose.h never copies it as framing.
//   3. No name or value holds a control character but the tab.
//
// Errors    BadInput or TooLarge; of a request with source Client, of a response with source Upstream and Sent::Maybe.
//           The context names the field and the remedy and never repeats a value that could be a secret.
// Threads   any; nothing is shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "arm/http.h"
#include "base/result.h"
#include "proxy/http/limits.h"
#include "proxy/seams/upstream.h"

namespace armgate::http {

// How the end of the content is found (RFC 9112 §6.3).
struct Framing {
  enum class Kind { None, Length, Chunked, UntilClose } kind = Kind::None;
  uint64_t bytes = 0;  // for Length; a request with `Content-Length: 0` has Length 0, one without any has None

  friend bool operator==(const Framing&, const Framing&) = default;
};

// What the seams need to know about it.
BodyLength body_length(const Framing& framing);

struct ParsedRequestHead {
  arm::RequestHead head;            // head.host: lower case, without port, without a dot at the end
  Framing framing;                  // None, Length or Chunked
  int minor_version = 1;            // HTTP/1.0 or HTTP/1.1
  bool keep_alive = true;           // the client allows another request on this connection
  bool expects_continue = false;    // waits for `100 Continue` before it sends the content
  std::string authority;            // host[:port] as received, from Host or a URL as target; for CONNECT the target
  std::optional<uint16_t> port;     // of the authority; always there for CONNECT
  std::string proxy_authorization;  // of a CONNECT request only; a secret: never log it
};

struct ParsedResponseHead {
  arm::ResponseHead head;
  Framing framing;  // for HEAD, 1xx, 204 and 304: None
  int minor_version = 1;
  bool keep_alive = true;  // the upstream allows another request on this connection, once the content was read

  bool is_interim() const { return head.status < 200; }  // 1xx: another head follows
};

// One past the empty line that ends the head, or nothing if more bytes are due. A line that no head may hold (a bare
// line feed, an empty first line) ends it at once, so that the parser can refuse it without waiting for the rest.
// `from`: how many bytes the last call has seen (0 at first); found again where a line was cut in between.
// Callers refuse with head_too_large() once more than head_bytes_max bytes hold no end.
std::optional<size_t> find_head_end(std::string_view bytes, size_t from);

// How many bytes of empty lines come before a request line: they are no part of the request, and some clients end content with
// one (RFC 9112 §2.2). Callers drop them first.
size_t empty_lines_before(std::string_view bytes);

// The refusal of a head that does not end within the limit.
Error head_too_large(const Limits& limits, ErrorSource source);

// `head` ends with the empty line. A CONNECT request has an authority-form target (host:port); every other one an origin-form
// target, which begins with a slash, or a whole https URL, whose host counts in place of Host's and whose path and query become
// the target (RFC 9112 §3.2.2). An HTTP/1.0 CONNECT may lack Host (Python's http.client before 3.12), and Host of a CONNECT
// need not be the target (RFC 9112 §3.2.2: a proxy goes by the target).
Result<ParsedRequestHead> parse_request_head(std::string_view head, const Limits& limits);

// `request_method` decides whether content follows (RFC 9112 §6.3). 101 is refused, other 1xx are interim.
Result<ParsedResponseHead> parse_response_head(std::string_view head, const Limits& limits, arm::Method request_method);

// For a request on a connection that leads to one host: Host must be that. Its port may be left out if it is 443. `host`: lower
// case, without port. Refuses a CONNECT there as well.
enum class LedBy {
  Tunnel,    // CONNECT to host and port
  Listener,  // TLS at once (listen.tls), on `port`: 443, for which the host is asked there, stands for it too
};
Result<void> check_authority(const ParsedRequestHead& request, std::string_view host, uint16_t port, LedBy led_by);

}  // namespace armgate::http
