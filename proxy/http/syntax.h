// syntax.h – the characters and small grammars of HTTP/1.1 that the parser, the decoder and compose share.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/sixteen_bytes.h"
#include "base/text.h"

namespace armgate::http {

namespace internal {

enum CharacterClass : uint8_t { kToken = 1, kValue = 2, kTarget = 4, kHost = 8 };

// One table look-up per byte. Token: tchar of RFC 9110 §5.6.2. Value: HTAB, SP, VCHAR and obs-text of §5.5. Target:
// visible ASCII but '#' (a fragment is never sent, RFC 9112 §3.2); what else RFC 3986 forbids is sent by real clients
// and passed. Host: what labels of names consist of, and the '_' that some have.
constexpr std::array<uint8_t, 256> make_character_classes() {
  std::array<uint8_t, 256> classes{};
  for (int c = 0; c < 256; ++c) {
    if (c == '\t' || (c >= 0x20 && c != 0x7f)) classes[c] |= kValue;
    if (c > 0x20 && c < 0x7f && c != '#') classes[c] |= kTarget;
    if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) classes[c] |= kToken | kHost;
  }
  classes['-'] |= kHost;
  classes['_'] |= kHost;
  for (const char c : std::string_view("!#$%&'*+-.^_`|~")) classes[static_cast<uint8_t>(c)] |= kToken;
  return classes;
}

inline constexpr std::array<uint8_t, 256> kCharacterClasses = make_character_classes();

constexpr bool is_of(char c, CharacterClass wanted) { return (kCharacterClasses[static_cast<uint8_t>(c)] & wanted) != 0; }

}  // namespace internal

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_token_char(char c) { return internal::is_of(c, internal::kToken); }
constexpr bool is_value_char(char c) { return internal::is_of(c, internal::kValue); }
constexpr bool is_target_char(char c) { return internal::is_of(c, internal::kTarget); }
constexpr bool is_host_char(char c) { return internal::is_of(c, internal::kHost); }

inline bool is_token(std::string_view text) {
  for (const char c : text) {
    if (!is_token_char(c)) return false;
  }
  return !text.empty();
}

// Eight bytes at a time: targets are long.
inline bool is_target(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101ULL;
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, sizeof word);
    // A high bit if a byte is below 0x21, equal to 0x7f or '#', or beyond ASCII; never one without any such byte.
    const uint64_t deletes = word ^ (kOnes * 0x7f);
    const uint64_t marks = word ^ (kOnes * '#');
    const uint64_t suspects = word | (word - kOnes * 0x21) | ((deletes - kOnes) & ~deletes) | ((marks - kOnes) & ~marks);
    if ((suspects & (kOnes * 0x80)) != 0) return false;
  }
  for (; i < text.size(); ++i) {
    if (!is_target_char(text[i])) return false;
  }
  return !text.empty();
}

// Where the first byte from `from` on stands that no field value may have, or npos. 16 bytes at a time: most of a head is
// values, and tokens are long.
inline size_t find_no_value_char(std::string_view text, size_t from) {
  using sixteen_bytes::Block;
  for (; from + sizeof(Block) <= text.size(); from += sizeof(Block)) {
    const Block block = sixteen_bytes::load(text.data() + from);
    const auto words = sixteen_bytes::words_of((block < 0x20) | (block == 0x7f));
    if ((words[0] | words[1]) == 0) continue;
    const int bits = words[0] != 0 ? std::countr_zero(words[0]) : 64 + std::countr_zero(words[1]);
    from += static_cast<size_t>(bits / 8);
    if (text[from] != '\t') return from;
    from = from + 1 - sizeof(Block);  // a tab is allowed: go on behind it
  }
  for (; from < text.size(); ++from) {
    if (!is_value_char(text[from])) return from;
  }
  return std::string_view::npos;
}

inline bool is_field_value(std::string_view text) { return find_no_value_char(text, 0) == std::string_view::npos; }

// A number of only decimal digits, or nothing (also beyond 64 bits).
std::optional<uint64_t> parse_decimal(std::string_view text);

struct Authority {
  std::string_view host;         // as written, without a dot at the end; an IPv6 address keeps its brackets
  std::optional<uint16_t> port;  // 1 to 65535
};

// host[:port] as a Host field or a CONNECT target holds it: a name of labels of letters, digits, '-' and '_', an IPv4 address,
// or an IPv6 address in brackets. One dot at the end of a name or an IPv4 address is taken off: it stands for the root (RFC
// 3986 §3.2.2), and whoever compares hosts must find the same one. Nothing for all else: user information, commas, escapes, an
// empty label, an empty port or one out of range.
std::optional<Authority> parse_authority(std::string_view text);

// Calls `each` with every non-empty element of a comma-separated list (RFC 9110 §5.6.1) until it returns false.
template <class Each>
bool for_each_element(std::string_view list, Each&& each) {
  for (;;) {
    const size_t comma = list.find(',');
    const std::string_view element = trim(list.substr(0, comma));
    if (!element.empty() && !each(element)) return false;
    if (comma == std::string_view::npos) return true;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace armgate::http
