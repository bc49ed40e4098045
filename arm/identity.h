// identity.h – who a bearer token says it is. A key, not a proof: armgate never verifies tokens, ARM does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace armgate::arm {

// The stable claims of a JWT access token; they survive a refresh.
struct TokenClaims {
  std::string tenant;     // tid
  std::string principal;  // oid, else appid, else azp, else sub
};

// Reads "Bearer <jwt>" without verifying. Nothing if it is not a JWT with at least one principal claim; then the whole
// value is the identity.
std::optional<TokenClaims> claims_of(std::string_view authorization);

// The user of a Basic credential (Proxy-Authorization on CONNECT).
struct BasicUser {
  std::string name{};        // empty: it is not Basic, has no user, or one of which nothing can be made:
  bool is_unusable = false;  // one that is not readable, no base64, or too long
};
BasicUser basic_user(std::string_view credentials);

}  // namespace armgate::arm
