// field_block.h – the field lines of a head, read in one pass: what goes on, and what concerns only this connection.
//
// Requests and responses share it; head_parser.cc decides what its findings mean for either.
// Threads   any; the views are into the bytes that were parsed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "arm/http.h"
#include "base/result.h"
#include "proxy/http/limits.h"

namespace armgate::http {

struct FieldBlock {
  arm::Headers fields;  // end-to-end fields, in order
  std::optional<std::string_view> host;
  std::optional<std::string_view> content_length;
  std::optional<std::string_view> transfer_encoding;
  std::optional<std::string_view> proxy_authorization;
  std::optional<std::string_view> expect;
  bool says_close = false;       // Connection: close
  bool says_keep_alive = false;  // Connection: keep-alive
};

// Which Content-Length stays among the fields, at its place (head_parser.h, invariant 2).
enum class KeepLength { Never, IfZero, Always };

// `lines` are the field lines and the empty line that ends them. Refuses what RFC 9112 §5 does not allow, what would
// break a limit, fields that a request may have only once (of a response: Transfer-Encoding, and differing
// Content-Lengths), and a Connection field that names a field which armgate or ARM decides by.
Result<FieldBlock> parse_fields(std::string_view lines, const Limits& limits, ErrorSource source, KeepLength keep_length);

// An error on the account of who sent the message. `context`: what is wrong and, behind a semicolon, what to do, which is of
// use to a client alone: of ARM's answer is told what is wrong, and that an option which it breaks can be raised.
Error refusal(ErrorSource source, ErrorKind kind, std::string context);

}  // namespace armgate::http
