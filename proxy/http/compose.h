// compose.h – writes the head of a message as the bytes that go on the wire.
//
// Why: Host, Content-Length, Transfer-Encoding and Connection are made anew from what this gateway knows, never copied,
// so that each message that leaves has one reading. All other fields are written byte for byte and in order (promise P7,
// docs/design.md).
//
// Errors    Internal, source Gateway: a name, value, target or reason that the gateway put in (for example an ETag out
//           of a JSON body) would break the lines apart. `out` is unchanged then, and nothing may be sent.
// Threads   any.
#pragma once

#include <string>
#include <string_view>

#include "arm/http.h"
#include "base/result.h"
#include "proxy/seams/upstream.h"

namespace armgate::http {

// Appends request line, Host (head.host), the fields, Content-Length and, unless it is empty, one more Via field with
// the value `via`. `length` is Known or None. None writes `Content-Length: 0` for methods that define content (PUT,
// POST, PATCH; RFC 9110 §8.6) and where the head still holds the zero that the client sent (see head_parser.h).
Result<void> compose_request(std::string& out, const arm::RequestHead& head, BodyLength length, std::string_view via);

// The length to give compose_request() for a request whose body is in memory.
inline BodyLength body_length(const arm::Request& request) {
  return request.body.empty() ? BodyLength{} : BodyLength{BodyLength::Kind::Known, request.body.size()};
}

enum class Connection { Keep, Close };

// How the content must be written after the head, and what becomes of the connection then.
struct ComposedResponse {
  enum class Content { None, Plain, Chunked } content = Content::None;
  Connection connection = Connection::Keep;
};

// Appends the head of an answer to a client that speaks HTTP/1.`client_minor_version`. Content of unknown length is
// chunked for HTTP/1.1 and ends with the connection for HTTP/1.0, whatever `connection` says. With length None a
// Content-Length in the head is kept: it is what a HEAD or 304 answer announces.
Result<ComposedResponse> compose_response(std::string& out, const arm::ResponseHead& head, BodyLength length,
                                          Connection connection, int client_minor_version);

// Appends the last chunk and the empty trailer section.
void append_last_chunk(std::string& out);

// The interim answer to a client that expects it.
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace armgate::http
