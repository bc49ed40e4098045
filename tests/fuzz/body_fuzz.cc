// A body decodes to the same content wherever the network cuts it.
#include <optional>
#include <string>

#include "base/check.h"
#include "proxy/http/body_decoder.h"
#include "tests/fuzz/fuzz.h"

namespace armgate::fuzz {
namespace {

constexpr size_t kContentMax = 1u << 16;

// The content, or nothing if the body is refused or not complete.
std::optional<std::string> decode(std::string_view input, size_t piece) {
  http::BodyDecoder decoder({http::Framing::Kind::Chunked, 0}, ErrorSource::Client, http::Limits{}, kContentMax);
  std::string content;
  while (!input.empty()) {
    std::string_view part = input.substr(0, piece);
    while (!part.empty()) {
      const auto step = decoder.feed(part);
      if (!step) return std::nullopt;
      content.append(step->piece);
      GATE_CHECK(step->consumed > 0 || step->done, "the decoder advances");
      part.remove_prefix(step->consumed);
      input.remove_prefix(step->consumed);
      if (step->done) return content;
    }
  }
  return std::nullopt;
}

}  // namespace

void fuzz_one(std::string_view input) {
  const auto whole = decode(input, input.size());
  GATE_CHECK(decode(input, 1) == whole, "byte by byte it is the same content");
  GATE_CHECK(decode(input, 7) == whole, "in pieces it is the same content");
}

}  // namespace armgate::fuzz
