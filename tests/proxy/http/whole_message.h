// whole_message.h – reads a message that is in memory, in the way a connection does: find the end of the head, parse
// it, decode the body.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "proxy/http/body_decoder.h"
#include "proxy/http/head_parser.h"

namespace armgate::http::testing {

template <class Head>
struct Whole {
  Head parsed;
  std::string body;
  size_t consumed = 0;  // of the bytes
};

inline constexpr std::string_view kHost = "management.azure.com";

// Feeds `bytes` in pieces of `step` bytes.
inline Result<Whole<Framing>> decode(std::string_view bytes, Framing framing, const Limits& limits = {},
                                     size_t step = ~size_t{0}, ErrorSource source = ErrorSource::Client,
                                     std::optional<uint64_t> content_bytes_max = std::nullopt) {
  Whole<Framing> whole{framing, {}, 0};
  BodyDecoder decoder(framing, source, limits, content_bytes_max);
  while (!decoder.done() && whole.consumed < bytes.size()) {
    std::string_view input = bytes.substr(whole.consumed, step);
    while (!input.empty() && !decoder.done()) {
      Result<BodyDecoder::Step> taken = decoder.feed(input);
      if (!taken) return std::move(taken).error();
      whole.body += taken->piece;
      whole.consumed += taken->consumed;
      input.remove_prefix(taken->consumed);
    }
  }
  if (Result<void> end = decoder.end_of_input(); !end) return end.error();
  return whole;
}

inline Result<std::string_view> head_of(std::string_view bytes, ErrorSource source) {
  const std::optional<size_t> end = find_head_end(bytes, 0);
  if (!end) return Error{ErrorKind::Closed, source, Sent::No, "the head does not end"};
  return bytes.substr(0, *end);
}

// A request inside the tunnel to kHost:443, checks and all.
inline Result<Whole<ParsedRequestHead>> read_request(std::string_view bytes, const Limits& limits = {}) {
  Result<std::string_view> head = head_of(bytes, ErrorSource::Client);
  if (!head) return std::move(head).error();
  Result<ParsedRequestHead> parsed = parse_request_head(*head, limits);
  if (!parsed) return std::move(parsed).error();
  if (Result<void> checked = check_authority(*parsed, kHost, 443, LedBy::Tunnel); !checked) return checked.error();
  Result<Whole<Framing>> body = decode(bytes.substr(head->size()), parsed->framing, limits);
  if (!body) return std::move(body).error();
  return Whole<ParsedRequestHead>{std::move(*parsed), std::move(body->body), head->size() + body->consumed};
}

inline Result<Whole<ParsedResponseHead>> read_response(std::string_view bytes, arm::Method method = arm::Method::Get) {
  const Limits limits;
  Result<std::string_view> head = head_of(bytes, ErrorSource::Upstream);
  if (!head) return std::move(head).error();
  Result<ParsedResponseHead> parsed = parse_response_head(*head, limits, method);
  if (!parsed) return std::move(parsed).error();
  Result<Whole<Framing>> body = decode(bytes.substr(head->size()), parsed->framing, limits, ~size_t{0}, ErrorSource::Upstream);
  if (!body) return std::move(body).error();
  return Whole<ParsedResponseHead>{std::move(*parsed), std::move(body->body), head->size() + body->consumed};
}

// A PUT with these field lines (each with its line end) and this body.
inline std::string put(std::string_view field_lines, std::string_view body = {}) {
  std::string text = "PUT /subscriptions/1?api-version=2 HTTP/1.1\r\nHost: management.azure.com\r\n";
  text.append(field_lines).append("\r\n").append(body);
  return text;
}

}  // namespace armgate::http::testing
