#include "proxy/http/compose.h"

#include <charconv>

#include <fmt/format.h>

#include "proxy/http/syntax.h"

namespace armgate::http {
namespace {

void append_number(std::string& out, uint64_t number) {
  char digits[20];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, end.ptr);
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

void append_field(std::string& out, const arm::Field& field) {
  if (field.line.empty()) return append_field(out, field.name, field.value);
  out.append(field.line);
}

void append_content_length(std::string& out, std::string_view name, uint64_t bytes) {
  out.append(name).append(": ");
  append_number(out, bytes);
  out.append("\r\n");
}

bool is_content_length(std::string_view name) { return equal_ignoring_case(name, "content-length"); }

// Fields that say how this connection is used; they are made anew or not sent at all.
bool is_of_connection(std::string_view name) {
  switch (name.size()) {
    case 4: return equal_ignoring_case(name, "host");
    case 10: return equal_ignoring_case(name, "connection") || equal_ignoring_case(name, "keep-alive");
    case 17: return equal_ignoring_case(name, "transfer-encoding");
    default: return false;
  }
}

Error broken(std::string_view what) {
  return gateway_error(ErrorKind::Internal,
                       fmt::format("{} has a character that would break the message apart; it is not sent", what));
}

Result<void> check_fields(const arm::Headers& fields) {
  for (const arm::Field& field : fields) {
    if (field.is_checked) continue;
    if (!is_token(field.name)) return broken("the name of a header");
    if (!is_field_value(field.value)) return broken(fmt::format("the value of header {}", field.name));
  }
  return {};
}

size_t bytes_of(const arm::Headers& fields) {
  size_t bytes = 0;
  for (const arm::Field& field : fields) bytes += field.name.size() + field.value.size() + 4;
  return bytes;
}

// POST, PUT and PATCH always have content, if only of length 0 (RFC 9110 §8.6).
bool defines_content(arm::Method method) {
  return method == arm::Method::Put || method == arm::Method::Post || method == arm::Method::Patch;
}

}  // namespace

Result<void> compose_request(std::string& out, const arm::RequestHead& head, BodyLength length, std::string_view via) {
  GATE_CHECK(length.kind != BodyLength::Kind::Unknown, "a request's body is whole before it is sent");
  if (!is_token(head.method_token)) return broken("the method");
  if (!is_target(head.target)) return broken("the request target");
  if (!parse_authority(head.host)) return broken("the host");
  if (!is_field_value(via)) return broken("the value of header Via");
  if (Result<void> checked = check_fields(head.fields); !checked) return checked;

  out.reserve(out.size() + head.target.size() + bytes_of(head.fields) + 128);
  out.append(head.method_token).append(" ").append(head.target).append(" HTTP/1.1\r\n");
  append_field(out, "Host", head.host);
  bool has_length = false;
  for (const arm::Field& field : head.fields) {
    if (is_of_connection(field.name)) continue;
    if (!is_content_length(field.name)) {
      append_field(out, field);
    } else if (!has_length) {
      append_content_length(out, field.name, length.bytes);
      has_length = true;
    }
  }
  if (!has_length && (length.kind == BodyLength::Kind::Known || defines_content(head.method))) {
    append_content_length(out, "Content-Length", length.bytes);
  }
  if (!via.empty()) append_field(out, "Via", via);
  out.append("\r\n");
  return {};
}

Result<ComposedResponse> compose_response(std::string& out, const arm::ResponseHead& head, BodyLength length,
                                          Connection connection, int client_minor_version) {
  GATE_CHECK(head.status >= 100 && head.status <= 999, "a status has three digits");
  if (!is_field_value(head.reason)) return broken("the reason of the status line");
  if (Result<void> checked = check_fields(head.fields); !checked) return std::move(checked).error();

  ComposedResponse composed{ComposedResponse::Content::None, connection};
  if (length.kind == BodyLength::Kind::Known) composed.content = ComposedResponse::Content::Plain;
  if (length.kind == BodyLength::Kind::Unknown) {
    const bool chunks = client_minor_version >= 1;
    composed.content = chunks ? ComposedResponse::Content::Chunked : ComposedResponse::Content::Plain;
    if (!chunks) composed.connection = Connection::Close;
  }

  out.reserve(out.size() + head.reason.size() + bytes_of(head.fields) + 128);
  out.append("HTTP/1.1 ");
  append_number(out, static_cast<uint64_t>(head.status));
  out.append(" ").append(head.reason).append("\r\n");
  for (const arm::Field& field : head.fields) {
    if (is_of_connection(field.name)) continue;
    if (is_content_length(field.name) && length.kind != BodyLength::Kind::None) continue;
    append_field(out, field);
  }
  if (length.kind == BodyLength::Kind::Known) append_content_length(out, "Content-Length", length.bytes);
  if (composed.content == ComposedResponse::Content::Chunked) append_field(out, "Transfer-Encoding", "chunked");
  if (composed.connection == Connection::Close) {
    append_field(out, "Connection", "close");
  } else if (client_minor_version == 0) {
    append_field(out, "Connection", "keep-alive");
  }
  out.append("\r\n");
  return composed;
}

void append_last_chunk(std::string& out) { out.append("0\r\n\r\n"); }

}  // namespace armgate::http
