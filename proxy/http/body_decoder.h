// body_decoder.h – takes the transfer coding off the content of one message, piece by piece, without copying it.
//
// Why: chunk sizes, extensions and trailers are where parsers disagree (CVE-2023-46846, CVE-2025-22871, CVE-2025-55315),
// so this one takes only the grammar of RFC 9112 §7.1 with CRLF line ends and without optional white space. Trailers are
// read and dropped: they never become header fields.
//
// Limits    content bytes (optional), chunk extensions and trailers per message.
// Threads   one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "proxy/http/head_parser.h"
#include "proxy/http/limits.h"

namespace armgate::http {

class BodyDecoder {
 public:
  struct Step {
    size_t consumed = 0;     // bytes of the input that are done with
    std::string_view piece;  // decoded content within the input; may be empty
    bool done = false;       // the message ended; what follows `consumed` belongs to the next one
  };

  // `source` is who sends the message: Client for a request, Upstream for a response.
  BodyDecoder(Framing framing, ErrorSource source, const Limits& limits,
              std::optional<uint64_t> content_bytes_max = std::nullopt);

  // Decodes up to one piece. Call again with the rest until all is consumed or done. After an error or done: not again,
  // except that a message without content is done at the first call, with any input.
  Result<Step> feed(std::string_view input);

  // The peer closed the connection: success if that is where the message ends, else an error of kind Closed.
  Result<void> end_of_input();

  bool done() const { return state_ == State::Done; }

 private:
  enum class State {
    Content,  // Length and UntilClose
    SizeStart,
    Size,
    SizeLf,
    ExtensionStart,
    ExtensionName,
    ExtensionValueStart,
    ExtensionValue,
    ExtensionQuoted,
    ExtensionEscape,
    ExtensionQuoteEnd,
    ChunkContent,
    ChunkCr,
    ChunkLf,
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerLf,
    LastLf,
    Done,
    Failed,
  };

  // Hands out what the input holds of the content at this place.
  void take_content(std::string_view input, Step& step);
  // Advances over one byte that is no content. Returns why it may not stand there, or nullptr.
  const char* take_byte(char c);
  const char* take_size_byte(char c);
  const char* take_extension_byte(char c);
  const char* take_trailer_byte(char c);
  // The limit that the message is beyond, if it is.
  std::optional<std::string> limit_reached() const;
  Error fail(ErrorKind kind, std::string_view why);

  const Framing framing_;
  const ErrorSource source_;
  const Limits limits_;
  const std::optional<uint64_t> content_bytes_max_;
  State state_;
  uint64_t left_ = 0;  // of the content (Length) or of the current chunk
  uint64_t content_bytes_ = 0;
  size_t size_digits_ = 0;
  size_t extension_bytes_ = 0;
  size_t trailer_bytes_ = 0;
};

}  // namespace armgate::http
