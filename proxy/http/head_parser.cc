#include "proxy/http/head_parser.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "proxy/http/field_block.h"
#include "proxy/http/syntax.h"

namespace armgate::http {
namespace {

constexpr uint16_t kHttpsPort = 443;

// The start line without its CRLF, and the field lines behind it.
struct HeadParts {
  std::string_view start_line;
  std::string_view field_lines;
};

Result<HeadParts> split_head(std::string_view head, const Limits& limits, ErrorSource source) {
  if (head.size() > limits.head_bytes_max) return head_too_large(limits, source);
  const size_t line_feed = head.find('\n');
  if (line_feed == std::string_view::npos || line_feed == 0 || head[line_feed - 1] != '\r') {
    return refusal(source, ErrorKind::BadInput, "the first line does not end with CRLF; end lines with CRLF");
  }
  if (line_feed == 1) return refusal(source, ErrorKind::BadInput, "an empty line comes before the first line; remove it");
  return HeadParts{head.substr(0, line_feed - 1), head.substr(line_feed + 1)};
}

// 0 or 1, or nothing for any other version or text.
std::optional<int> parse_minor_version(std::string_view version) {
  if (version == "HTTP/1.1") return 1;
  if (version == "HTTP/1.0") return 0;
  return std::nullopt;
}

bool keeps_alive(const FieldBlock& block, int minor_version) {
  return !block.says_close && (minor_version == 1 || block.says_keep_alive);
}

struct RequestLine {
  std::string_view method;
  std::string_view target;
  int minor_version = 1;
};

Result<RequestLine> parse_request_line(std::string_view line, const Limits& limits) {
  const size_t method_end = line.find(' ');
  const size_t target_end = method_end == std::string_view::npos ? method_end : line.find(' ', method_end + 1);
  if (target_end == std::string_view::npos) {
    return client_error(ErrorKind::BadInput, "the request line is not `METHOD target HTTP/1.1` with single spaces");
  }
  RequestLine parts{line.substr(0, method_end), line.substr(method_end + 1, target_end - method_end - 1)};
  if (!is_token(parts.method)) {
    return client_error(ErrorKind::BadInput, "the method in the request line is no token; send a method such as GET");
  }
  if (parts.target.size() > limits.target_bytes_max) {
    return client_error(ErrorKind::TooLarge, fmt::format("the request target is longer than {} bytes "
                                                         "(limits.target_bytes); shorten it",
                                                         limits.target_bytes_max));
  }
  if (!is_target(parts.target)) {
    return client_error(ErrorKind::BadInput,
                        "the request target is empty or has a control character, a fragment or a byte "
                        "beyond ASCII; percent-encode it");
  }
  const std::optional<int> minor_version = parse_minor_version(line.substr(target_end + 1));
  if (!minor_version) {
    return client_error(ErrorKind::BadInput,
                        "the request line does not end with HTTP/1.1 or HTTP/1.0 after exactly one space; "
                        "use that version and percent-encode spaces in the target");
  }
  parts.minor_version = *minor_version;
  return parts;
}

Result<Framing> request_framing(const FieldBlock& block, int minor_version, const Limits& limits) {
  if (block.transfer_encoding) {
    if (block.content_length) {
      return client_error(ErrorKind::BadInput, "both content-length and transfer-encoding headers; send one of them");
    }
    if (minor_version == 0) {
      return client_error(ErrorKind::BadInput, "a transfer-encoding header in HTTP/1.0; send content-length or use HTTP/1.1");
    }
    if (!equal_ignoring_case(*block.transfer_encoding, "chunked")) {
      return client_error(ErrorKind::BadInput,
                          "the transfer-encoding header is not `chunked`; send exactly that or "
                          "content-length");
    }
    return Framing{Framing::Kind::Chunked};
  }
  if (!block.content_length) return Framing{};
  const std::optional<uint64_t> bytes = parse_decimal(*block.content_length);
  if (!bytes) {
    return client_error(ErrorKind::BadInput, "the content-length header is no number in decimal digits; send one number");
  }
  if (*bytes > limits.request_body_bytes_max) {
    return client_error(ErrorKind::TooLarge, fmt::format("the content-length header announces more than {} bytes{}; send less",
                                                         limits.request_body_bytes_max,
                                                         limits.request_body_is_option ? " (limits.request_body_bytes)" : ""));
  }
  return Framing{Framing::Kind::Length, *bytes};
}

Result<void> take_host(ParsedRequestHead& request, const FieldBlock& block, const Limits& limits) {
  if (!block.host && request.minor_version == 0 && limits.host_is_optional) return {};
  if (!block.host) {
    return client_error(ErrorKind::BadInput, "no host header; send `Host: name` with the name of the server");
  }
  const std::optional<Authority> authority = parse_authority(*block.host);
  if (!authority) {
    return client_error(ErrorKind::BadInput,
                        "the host header is not one name with an optional port from 1 to 65535; send "
                        "`Host: name` or `Host: name:port`");
  }
  request.head.host = lower_text(authority->host);
  request.port = authority->port;
  request.authority = *block.host;
  return {};
}

// Of a target of CONNECT, for people: without what could be a password, and not all of a long one. That there was something
// before the host is shown, as it is what is wrong.
std::string shown(std::string_view target) {
  constexpr size_t kShownMax = 100;
  const size_t at = target.rfind('@');
  const std::string_view rest = target.substr(at + 1).substr(0, kShownMax);
  return at == target.npos ? std::string(rest) : fmt::format("***@{}", rest);
}

Result<void> take_connect_target(ParsedRequestHead& request, const FieldBlock& block, const Limits& limits) {
  const std::optional<Authority> authority = parse_authority(request.head.target);
  if (!authority || !authority->port) {
    return client_error(ErrorKind::BadInput,
                        fmt::format("the target of CONNECT, `{}`, is not host:port with a port from 1 to 65535; send for "
                                    "example `CONNECT management.azure.com:443 HTTP/1.1`",
                                    shown(request.head.target)));
  }
  // Checked although unused: what is not valid is refused. Python's http.client sends HTTP/1.0 without Host here.
  if (block.host || request.minor_version == 1) {
    if (Result<void> host = take_host(request, block, limits); !host) return host;
  }
  if (request.framing.kind == Framing::Kind::Chunked || request.framing.bytes > 0) {
    return client_error(ErrorKind::BadInput, "a CONNECT request with content; send none");
  }
  request.head.host = lower_text(authority->host);
  request.port = authority->port;
  request.authority = request.head.target;
  if (block.proxy_authorization) request.proxy_authorization = *block.proxy_authorization;
  return {};
}

// Path and query; or a whole https URL, whose host then counts in place of Host's (RFC 9112 §3.2.2).
Result<void> take_target(ParsedRequestHead& request, std::string_view target) {
  constexpr std::string_view kScheme = "https://";
  if (target.front() == '/') return {};
  if (!starts_with_ignoring_case(target, kScheme)) {
    if (target.find("://") == std::string_view::npos) {
      return client_error(ErrorKind::BadInput, "the request target does not begin with a slash; send path and query");
    }
    return client_error(ErrorKind::BadInput,
                        "the request target is a URL that does not begin with https; send https requests through a CONNECT "
                        "tunnel (plain http is not forwarded)");
  }
  target.remove_prefix(kScheme.size());
  const size_t host_end = std::min(target.find_first_of("/?"), target.size());
  const std::optional<Authority> authority = parse_authority(target.substr(0, host_end));
  if (!authority) {
    return client_error(ErrorKind::BadInput,
                        "the URL in the request line does not name one host with an optional port from 1 to 65535; send path "
                        "and query");
  }
  request.head.host = lower_text(authority->host);
  request.port = authority->port;
  request.authority = target.substr(0, host_end);
  const bool has_path = host_end < target.size() && target[host_end] == '/';
  request.head.target = has_path ? std::string() : "/";
  request.head.target += target.substr(host_end);
  return {};
}

struct StatusLine {
  int status = 0;
  int minor_version = 1;
  std::string_view reason;
};

Result<StatusLine> parse_status_line(std::string_view line) {
  constexpr size_t kReasonBegins = std::string_view("HTTP/1.1 200 ").size();
  const std::optional<int> minor_version = parse_minor_version(line.substr(0, line.find(' ')));
  if (!minor_version) {
    return refusal(ErrorSource::Upstream, ErrorKind::BadInput,
                   "the upstream's answer does not begin with HTTP/1.1 or HTTP/1.0");
  }
  const std::optional<uint64_t> status =
      line.size() < kReasonBegins ? std::nullopt : parse_decimal(line.substr(kReasonBegins - 4, 3));
  if (!status || line[kReasonBegins - 1] != ' ' || *status < 100 || *status > 599) {
    return refusal(ErrorSource::Upstream, ErrorKind::BadInput,
                   "the upstream's status line has no status from 100 to 599 followed by a space");
  }
  const std::string_view reason = line.substr(kReasonBegins);
  if (!is_field_value(reason)) {
    return refusal(ErrorSource::Upstream, ErrorKind::BadInput, "the upstream's status line has a control character");
  }
  return StatusLine{static_cast<int>(*status), *minor_version, reason};
}

Result<Framing> response_framing(const FieldBlock& block, const StatusLine& line) {
  if (block.transfer_encoding) {
    if (block.content_length || line.minor_version == 0 || !equal_ignoring_case(*block.transfer_encoding, "chunked")) {
      return refusal(ErrorSource::Upstream, ErrorKind::BadInput,
                     "the upstream's transfer-encoding header is not `chunked`, or comes with content-length or in HTTP/1.0");
    }
    return Framing{Framing::Kind::Chunked};
  }
  if (!block.content_length) return Framing{Framing::Kind::UntilClose};
  const std::optional<uint64_t> bytes = parse_decimal(*block.content_length);
  if (!bytes) {
    return refusal(ErrorSource::Upstream, ErrorKind::BadInput, "the upstream's content-length header is no number");
  }
  return Framing{Framing::Kind::Length, *bytes};
}

}  // namespace

BodyLength body_length(const Framing& framing) {
  switch (framing.kind) {
    case Framing::Kind::None: return {BodyLength::Kind::None, 0};
    case Framing::Kind::Length: return {BodyLength::Kind::Known, framing.bytes};
    case Framing::Kind::Chunked:
    case Framing::Kind::UntilClose: break;
  }
  return {BodyLength::Kind::Unknown, 0};
}

std::optional<size_t> find_head_end(std::string_view bytes, size_t from) {
  while (from < bytes.size()) {
    const void* found = std::memchr(bytes.data() + from, '\n', bytes.size() - from);
    if (found == nullptr) return std::nullopt;
    const size_t line_feed = static_cast<size_t>(static_cast<const char*>(found) - bytes.data());
    if (line_feed == 0 || bytes[line_feed - 1] != '\r') return line_feed + 1;
    if (line_feed == 1 || bytes[line_feed - 2] == '\n') return line_feed + 1;
    from = line_feed + 1;
  }
  return std::nullopt;
}

size_t empty_lines_before(std::string_view bytes) {
  size_t count = 0;
  while (bytes.substr(count).starts_with("\r\n")) count += 2;
  return count;
}

Error head_too_large(const Limits& limits, ErrorSource source) {
  return refusal(source, ErrorKind::TooLarge,
                 fmt::format("the message head is longer than {} bytes (limits.head_bytes); send fewer or shorter headers",
                             limits.head_bytes_max));
}

Result<ParsedRequestHead> parse_request_head(std::string_view head, const Limits& limits) {
  Result<HeadParts> parts = split_head(head, limits, ErrorSource::Client);
  if (!parts) return std::move(parts).error();
  Result<RequestLine> line = parse_request_line(parts->start_line, limits);
  if (!line) return std::move(line).error();
  Result<FieldBlock> block = parse_fields(parts->field_lines, limits, ErrorSource::Client, KeepLength::IfZero);
  if (!block) return std::move(block).error();
  Result<Framing> framing = request_framing(*block, line->minor_version, limits);
  if (!framing) return std::move(framing).error();

  ParsedRequestHead request;
  request.framing = *framing;
  request.minor_version = line->minor_version;
  request.keep_alive = keeps_alive(*block, line->minor_version);
  request.head.method = arm::method_of(line->method);
  request.head.method_token = line->method;
  request.head.target = line->target;
  const bool connects = request.head.method == arm::Method::Connect;
  if (Result<void> host = connects ? take_connect_target(request, *block, limits) : take_host(request, *block, limits); !host) {
    return std::move(host).error();
  }
  if (!connects) {
    if (Result<void> taken = take_target(request, line->target); !taken) return std::move(taken).error();
  }
  if (block->expect) {
    if (!equal_ignoring_case(*block->expect, "100-continue")) {
      return client_error(ErrorKind::BadInput, "the expect header is not `100-continue`; send that or none");
    }
    // RFC 9110 §10.1.1: ignored in HTTP/1.0, and pointless without content.
    request.expects_continue = line->minor_version == 1 && (framing->kind == Framing::Kind::Chunked || framing->bytes > 0);
  }
  request.head.fields = std::move(block->fields);
  return request;
}

Result<ParsedResponseHead> parse_response_head(std::string_view head, const Limits& limits, arm::Method request_method) {
  Result<HeadParts> parts = split_head(head, limits, ErrorSource::Upstream);
  if (!parts) return std::move(parts).error();
  Result<StatusLine> line = parse_status_line(parts->start_line);
  if (!line) return std::move(line).error();
  if (line->status == 101) {
    return refusal(ErrorSource::Upstream, ErrorKind::BadInput, "the upstream switches protocols (101) without being asked to");
  }
  const bool announces = request_method == arm::Method::Head || line->status == 304;
  const bool without_content = announces || line->status < 200 || line->status == 204;
  Result<FieldBlock> block =
      parse_fields(parts->field_lines, limits, ErrorSource::Upstream, announces ? KeepLength::Always : KeepLength::Never);
  if (!block) return std::move(block).error();
  Result<Framing> framing = response_framing(*block, *line);
  if (!framing) return std::move(framing).error();

  ParsedResponseHead response;
  response.minor_version = line->minor_version;
  response.keep_alive = keeps_alive(*block, line->minor_version);
  if (without_content) {
    // An upstream that announces content where none may be could send it after all: nothing may follow on that
    // connection.
    const bool may_send = framing->kind == Framing::Kind::Chunked || framing->bytes > 0;
    if (!announces && may_send) response.keep_alive = false;
  } else {
    response.framing = *framing;
    if (framing->kind == Framing::Kind::UntilClose) response.keep_alive = false;
  }
  response.head.status = line->status;
  response.head.reason = line->reason;
  response.head.fields = std::move(block->fields);
  return response;
}

Result<void> check_authority(const ParsedRequestHead& request, std::string_view host, uint16_t port, LedBy led_by) {
  const bool in_tunnel = led_by == LedBy::Tunnel;
  if (request.head.method == arm::Method::Connect) {
    return client_error(ErrorKind::BadInput,
                        in_tunnel ? "CONNECT inside a tunnel; open another connection to the proxy for it"
                                  : "CONNECT on a connection to listen.tls; send it to the proxy port (listen.proxy)");
  }
  const uint16_t asked = request.port.value_or(kHttpsPort);
  if (request.head.host == host && (asked == port || (!in_tunnel && asked == kHttpsPort))) return {};
  if (in_tunnel) {
    return client_error(ErrorKind::BadInput,
                        fmt::format("the request's host is not the host {}:{} that the tunnel was opened to; "
                                    "open a tunnel to each host",
                                    host, port));
  }
  return client_error(
      ErrorKind::BadInput,
      fmt::format("the request's host is not {} (without a port, or with 443 or {}), for which TLS was opened; open a "
                  "connection for each host",
                  host, port));
}

}  // namespace armgate::http
