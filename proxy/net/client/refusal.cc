#include "proxy/net/client/refusal.h"

#include <algorithm>

#include "arm/arm_error.h"
#include "proxy/http/compose.h"
#include "proxy/http/head_parser.h"

namespace armgate::net {
namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 403: return "Forbidden";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 431: return "Request Header Fields Too Large";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    case 508: return "Loop Detected";  // RFC 5842 §7.2
    default: return "Bad Request";
  }
}

std::string_view first_line(std::string_view head) { return head.substr(0, head.find_first_of("\r\n")); }

// "GET / HTTP/2.0" is well-formed and of another version (RFC 9110 §15.6.6); so is HTTP/1.2.
bool is_other_version(std::string_view head) {
  const std::string_view line = first_line(head);
  const size_t mark = line.rfind(" HTTP/");
  if (mark == std::string_view::npos) return false;
  const std::string_view version = line.substr(mark + 6);
  return version.size() == 3 && version[0] >= '0' && version[0] <= '9' && version[1] == '.' && version[2] >= '0' &&
         version[2] <= '9' && version != "1.1" && version != "1.0";
}

// False if the head itself is within its limits: then it announces too much content.
bool is_large(std::string_view head, const http::Limits& limits) {
  const std::string_view whole = head.substr(0, http::find_head_end(head, 0).value_or(head.size()));
  const auto lines = static_cast<size_t>(std::count(whole.begin(), whole.end(), '\n'));
  return whole.size() > limits.head_bytes_max || lines > limits.fields_max + 2;  // the request line and the empty line
}

}  // namespace

Refusal refuse_head(const Error& error, std::string_view head, const http::Limits& limits) {
  switch (error.kind) {
    case ErrorKind::TimedOut: return {408, "ArmgateRequestTimeout", "the request's head did not arrive in time"};
    case ErrorKind::TooLarge:
      if (first_line(head).size() > limits.target_bytes_max) return {414, "ArmgateTargetTooLong", error.context};
      if (!is_large(head, limits)) return {413, "ArmgateContentTooLarge", error.context};
      return {431, "ArmgateHeadTooLarge", error.context};
    default:
      if (is_other_version(head)) return {505, "ArmgateVersionNotSupported", "armgate speaks HTTP/1.1 and HTTP/1.0"};
      return {400, "ArmgateBadRequest", error.context};
  }
}

Refusal refuse_body(const Error& error) {
  switch (error.kind) {
    case ErrorKind::TimedOut: return {408, "ArmgateRequestTimeout", "the request's content did not arrive in time"};
    case ErrorKind::Busy: return {503, kTooManyBodies, error.context};
    case ErrorKind::TooLarge: return {413, "ArmgateContentTooLarge", error.context};
    default: return {400, "ArmgateBadRequest", error.context};
  }
}

arm::Response to_response(const Refusal& refusal) {
  arm::Response response;
  response.head.status = refusal.status;
  response.head.reason = reason_of(refusal.status);
  response.head.fields.add("Content-Type", "application/json; charset=utf-8");
  if (refusal.status == 503) response.head.fields.add("Retry-After", "1");
  if (refusal.status == 405) response.head.fields.add("Allow", "CONNECT");
  response.body = arm::error_body(refusal.code, refusal.message);
  return response;
}

std::string to_bytes(const Refusal& refusal) {
  const arm::Response response = to_response(refusal);
  std::string bytes;
  const auto composed =
      http::compose_response(bytes, response.head, {BodyLength::Kind::Known, response.body.size()}, http::Connection::Close, 1);
  return composed ? bytes + response.body : std::string{};
}

}  // namespace armgate::net
