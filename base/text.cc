#include "base/text.h"

#include <cstdint>

namespace armgate {
namespace {

struct Span {
  uint32_t first, last;
};
// Controls; what Unicode calls Bidi_Control, by which text shows in another order than it has; and what takes no room, so that
// two names look the same.
constexpr Span kHidden[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e},
                            {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xe0000, 0xe007f}};

bool is_hidden(uint32_t character) {
  return std::any_of(std::begin(kHidden), std::end(kHidden),
                     [character](const Span& span) { return span.first <= character && character <= span.last; });
}

bool goes_on(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

struct Character {
  uint32_t number;
  size_t bytes;
};

// The first one; a byte that begins none stands for itself, and is then none of the hidden.
Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  constexpr uint32_t kNone = 0xffffffff;
  if (lead < 0xc0 || text.size() < bytes) return {kNone, 1};
  uint32_t number = lead & (0x7fU >> bytes);
  for (size_t at = 1; at < bytes; ++at) {
    if (!goes_on(text[at])) return {kNone, 1};
    number = number << 6 | (static_cast<unsigned char>(text[at]) & 0x3fU);
  }
  return {number, bytes};
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_of(text);
    if (is_hidden(next.number))
      result += '?';
    else
      result += text.substr(0, next.bytes);
    text.remove_prefix(next.bytes);
  }
  return result;
}

std::string printable_cell(std::string_view text, size_t bytes_max) {
  std::string result = printable(text);
  if (result.size() <= bytes_max) return result;
  size_t end = bytes_max;
  while (end > 0 && goes_on(result[end])) --end;
  return result.substr(0, end) + "\u2026";
}

}  // namespace armgate
