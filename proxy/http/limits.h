// limits.h – how large the parts of an HTTP message may be (promise P10, docs/design.md). Hitting one is an Error of kind
// TooLarge.
#pragma once

#include <cstddef>
#include <cstdint>

namespace armgate::http {

struct Limits {
  size_t head_bytes_max = 64 * 1024;                  // request or status line, fields and the empty line
  size_t fields_max = 200;                            // field lines
  size_t target_bytes_max = 16 * 1024;                // the request target; signed operation URLs reach 4 KiB
  uint64_t request_body_bytes_max = 8 * 1024 * 1024;  // ARM itself takes 4 MiB
  bool request_body_is_option = true;                 // limits.request_body_bytes; a message names it
  size_t chunk_extension_bytes_max = 4 * 1024;        // of all chunks of one message together
  size_t trailer_bytes_max = 16 * 1024;               // of one message, although trailers are dropped
  bool host_is_optional = false;                      // of HTTP/1.0 (RFC 9112 §3.2): the host is empty then
};

}  // namespace armgate::http
