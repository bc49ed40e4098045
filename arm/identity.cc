#include "arm/identity.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"
#include "json/document.h"

namespace armgate::arm {
namespace {

constexpr size_t kTokenBytesMax = 64 * 1024;
constexpr size_t kBasicBytesMax = 4 * 1024;
constexpr size_t kClaimsDepthMax = 32;

enum class Alphabet { Standard, UrlSafe };  // RFC 4648 §4 and §5

int value_of(char c, Alphabet alphabet) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == (alphabet == Alphabet::Standard ? '+' : '-')) return 62;
  if (c == (alphabet == Alphabet::Standard ? '/' : '_')) return 63;
  return -1;
}

// Padding may be left out, as JWTs do (RFC 7515 §2).
std::optional<std::string> decode_base64(std::string_view text, Alphabet alphabet) {
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int value = value_of(c, alphabet);
    if (value < 0) return std::nullopt;
    bits = (bits << 6 | static_cast<uint32_t>(value)) & 0xffff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>(bits >> held & 0xff));
  }
  return bytes;
}

// The rest of a credential of the given scheme (RFC 9110 §11.4), or nothing.
std::optional<std::string_view> credential_of(std::string_view text, std::string_view scheme) {
  text = trim(text);
  if (!starts_with_ignoring_case(text, scheme)) return std::nullopt;
  text.remove_prefix(scheme.size());
  if (!text.starts_with(' ')) return std::nullopt;
  text = trim(text);
  if (text.empty()) return std::nullopt;
  return text;
}

// The payload of a signed token in compact form: header.payload.signature (RFC 7515 §7.1). Encrypted ones have five
// parts.
std::optional<std::string_view> payload_of(std::string_view token) {
  const size_t first = token.find('.');
  if (first == std::string_view::npos || first == 0) return std::nullopt;
  const size_t second = token.find('.', first + 1);
  if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos) return std::nullopt;
  return token.substr(first + 1, second - first - 1);
}

// The claims that name somebody, the stablest first.
constexpr std::array<std::string_view, 4> kPrincipalClaims{"oid", "appid", "azp", "sub"};

std::optional<TokenClaims> read_claims(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::object top;
  if (json.empty() || parser.allocate(json.size(), kClaimsDepthMax) || parser.parse(json.data(), json.size()).get(top)) {
    return std::nullopt;
  }
  TokenClaims claims;
  std::array<std::string_view, kPrincipalClaims.size()> principals;
  for (const auto [name, value] : top) {
    const auto known = std::find(kPrincipalClaims.begin(), kPrincipalClaims.end(), name);
    std::string_view text;
    if (value.get(text)) continue;
    if (name == "tid") claims.tenant = std::string(text);
    if (known != kPrincipalClaims.end()) principals[static_cast<size_t>(known - kPrincipalClaims.begin())] = text;
  }
  const auto principal = std::find_if(principals.begin(), principals.end(), [](auto text) { return !text.empty(); });
  if (principal == principals.end()) return std::nullopt;
  claims.principal = std::string(*principal);
  return claims;
}

// A user name becomes a key that people read in logs.
bool is_readable(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size()) && std::none_of(text.begin(), text.end(), [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte < 0x20 || byte == 0x7f;
         });
}

// The user name in a Basic credential; empty if it has none, nothing if the credential cannot be decoded.
std::optional<std::string> decoded_user(std::string_view encoded) {
  auto pair = decode_base64(encoded, Alphabet::Standard);
  if (pair) pair->resize(std::min(pair->find(':'), pair->size()));  // RFC 7617 §2: the user has no colon
  return pair;
}

}  // namespace

std::optional<TokenClaims> claims_of(std::string_view authorization) {
  if (authorization.size() > kTokenBytesMax) return std::nullopt;
  const auto token = credential_of(authorization, "Bearer");
  const auto payload = token ? payload_of(*token) : std::nullopt;
  const auto json = payload ? decode_base64(*payload, Alphabet::UrlSafe) : std::nullopt;
  return json ? read_claims(*json) : std::nullopt;
}

BasicUser basic_user(std::string_view credentials) {
  const auto encoded = credential_of(credentials, "Basic");
  if (!encoded) return {};
  auto user = credentials.size() <= kBasicBytesMax ? decoded_user(*encoded) : std::nullopt;
  if (!user || !is_readable(*user)) return {.is_unusable = true};
  return {.name = *std::move(user)};
}

}  // namespace armgate::arm
