#include "proxy/http/body_decoder.h"

#include <algorithm>

#include <fmt/format.h>

#include "proxy/http/syntax.h"

namespace armgate::http {
namespace {

constexpr size_t kSizeDigitsMax = 16;  // 64 bits; leading zeros count

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  const char letter = lower(c);
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

}  // namespace

BodyDecoder::BodyDecoder(Framing framing, ErrorSource source, const Limits& limits, std::optional<uint64_t> content_bytes_max)
    : framing_(framing), source_(source), limits_(limits), content_bytes_max_(content_bytes_max), state_(State::Done) {
  switch (framing.kind) {
    case Framing::Kind::None: break;
    case Framing::Kind::Length:
      left_ = framing.bytes;
      if (left_ > 0) state_ = State::Content;
      break;
    case Framing::Kind::Chunked: state_ = State::SizeStart; break;
    case Framing::Kind::UntilClose: state_ = State::Content; break;
  }
}

Result<BodyDecoder::Step> BodyDecoder::feed(std::string_view input) {
  GATE_CHECK(state_ != State::Failed, "a message that broke is not read on");
  Step step;
  while (state_ != State::Done && step.consumed < input.size()) {
    if (const auto limit = limit_reached()) return fail(ErrorKind::TooLarge, *limit);
    if (state_ == State::Content || state_ == State::ChunkContent) {
      if (!step.piece.empty()) break;
      take_content(input.substr(step.consumed), step);
    } else {
      if (const char* why = take_byte(input[step.consumed])) return fail(ErrorKind::BadInput, why);
      ++step.consumed;
    }
  }
  if (const auto limit = limit_reached()) return fail(ErrorKind::TooLarge, *limit);
  step.done = done();
  return step;
}

Result<void> BodyDecoder::end_of_input() {
  if (state_ == State::Content && framing_.kind == Framing::Kind::UntilClose) state_ = State::Done;
  if (state_ == State::Done) return {};
  return fail(ErrorKind::Closed, "the connection was closed before the end of it");
}

void BodyDecoder::take_content(std::string_view input, Step& step) {
  const bool until_close = framing_.kind == Framing::Kind::UntilClose;
  const size_t taken = until_close ? input.size() : std::min<uint64_t>(input.size(), left_);
  step.piece = input.substr(0, taken);
  step.consumed += taken;
  content_bytes_ += taken;
  if (until_close) return;
  left_ -= taken;
  if (left_ == 0) state_ = state_ == State::Content ? State::Done : State::ChunkCr;
}

const char* BodyDecoder::take_byte(char c) {
  switch (state_) {
    case State::SizeStart:
    case State::Size:
    case State::SizeLf: return take_size_byte(c);
    case State::ExtensionStart:
    case State::ExtensionName:
    case State::ExtensionValueStart:
    case State::ExtensionValue:
    case State::ExtensionQuoted:
    case State::ExtensionEscape:
    case State::ExtensionQuoteEnd: ++extension_bytes_; return take_extension_byte(c);
    case State::ChunkCr:
      if (c != '\r') return "a chunk is longer than its size or does not end with CRLF";
      state_ = State::ChunkLf;
      return nullptr;
    case State::ChunkLf:
      if (c != '\n') return "a chunk does not end with CRLF";
      state_ = State::SizeStart;
      return nullptr;
    case State::TrailerStart:
    case State::TrailerName:
    case State::TrailerValue:
    case State::TrailerLf:
    case State::LastLf: ++trailer_bytes_; return take_trailer_byte(c);
    case State::Content:
    case State::ChunkContent:
    case State::Done:
    case State::Failed: break;
  }
  GATE_CHECK(false, "these states take no single bytes");
}

const char* BodyDecoder::take_size_byte(char c) {
  if (state_ == State::SizeLf) {
    if (c != '\n') return "a chunk size line does not end with CRLF";
    state_ = left_ == 0 ? State::TrailerStart : State::ChunkContent;
    return nullptr;
  }
  if (const int digit = hex_value(c); digit >= 0) {
    if (state_ == State::SizeStart) left_ = size_digits_ = 0;
    if (++size_digits_ > kSizeDigitsMax) return "a chunk size has more than 16 digits";
    left_ = (left_ << 4) | static_cast<uint64_t>(digit);
    state_ = State::Size;
    return nullptr;
  }
  if (state_ == State::SizeStart) return "a chunk does not begin with its size in hexadecimal digits";
  if (c == ';')
    state_ = State::ExtensionStart;
  else if (c == '\r')
    state_ = State::SizeLf;
  else
    return "a chunk size holds something else than hexadecimal digits";
  return nullptr;
}

// chunk-ext = *( ";" token [ "=" ( token / quoted-string ) ] ), without the optional white space that RFC 9112 §7.1.1
// tolerates.
const char* BodyDecoder::take_extension_byte(char c) {
  constexpr const char* kBad = "a chunk extension is not `;name=value`";
  const bool ends_item =
      state_ == State::ExtensionName || state_ == State::ExtensionValue || state_ == State::ExtensionQuoteEnd;
  if (ends_item && (c == ';' || c == '\r')) {
    state_ = c == ';' ? State::ExtensionStart : State::SizeLf;
    return nullptr;
  }
  switch (state_) {
    case State::ExtensionStart:
    case State::ExtensionName:
      if (state_ == State::ExtensionName && c == '=') {
        state_ = State::ExtensionValueStart;
        return nullptr;
      }
      state_ = State::ExtensionName;
      return is_token_char(c) ? nullptr : kBad;
    case State::ExtensionValueStart:
      state_ = c == '"' ? State::ExtensionQuoted : State::ExtensionValue;
      return c == '"' || is_token_char(c) ? nullptr : kBad;
    case State::ExtensionValue: return is_token_char(c) ? nullptr : kBad;
    case State::ExtensionQuoted:
      if (c == '"') state_ = State::ExtensionQuoteEnd;
      if (c == '\\') state_ = State::ExtensionEscape;
      return is_value_char(c) ? nullptr : kBad;
    case State::ExtensionEscape: state_ = State::ExtensionQuoted; return is_value_char(c) ? nullptr : kBad;
    default: return kBad;
  }
}

const char* BodyDecoder::take_trailer_byte(char c) {
  constexpr const char* kBad = "a trailer is not `Name: value` with CRLF";
  switch (state_) {
    case State::TrailerStart:
      state_ = c == '\r' ? State::LastLf : State::TrailerName;
      return c == '\r' || is_token_char(c) ? nullptr : kBad;
    case State::TrailerName:
      if (c == ':') state_ = State::TrailerValue;
      return c == ':' || is_token_char(c) ? nullptr : kBad;
    case State::TrailerValue:
      if (c == '\r') state_ = State::TrailerLf;
      return c == '\r' || is_value_char(c) ? nullptr : kBad;
    case State::TrailerLf: state_ = State::TrailerStart; break;
    default: state_ = State::Done; break;  // LastLf
  }
  return c == '\n' ? nullptr : kBad;
}

std::optional<std::string> BodyDecoder::limit_reached() const {
  if (extension_bytes_ > limits_.chunk_extension_bytes_max) {
    return "its chunk extensions are too long; send none";
  }
  if (trailer_bytes_ > limits_.trailer_bytes_max) {
    return "its trailers are too long; send none";
  }
  if (!content_bytes_max_) return std::nullopt;
  // A chunk or a length beyond the limit is refused by its announcement, before any of it is taken.
  const uint64_t announced = state_ == State::Content || state_ == State::ChunkContent ? left_ : 0;
  if (content_bytes_ > *content_bytes_max_ || announced > *content_bytes_max_ - content_bytes_) {
    return fmt::format("its content is longer than {} bytes{}; send less", *content_bytes_max_,
                       limits_.request_body_is_option ? " (limits.request_body_bytes)" : "");
  }
  return std::nullopt;
}

Error BodyDecoder::fail(ErrorKind kind, std::string_view why) {
  state_ = State::Failed;
  if (source_ == ErrorSource::Client) return client_error(kind, fmt::format("the request body cannot be read: {}", why));
  // What to do, behind a semicolon, is for clients.
  return upstream_error(kind, Sent::Answered,
                        fmt::format("the upstream's answer body is broken: {}", why.substr(0, why.find("; "))));
}

}  // namespace armgate::http
