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

// The user name of a Basic credential (Proxy-Authorization on CONNECT). Nothing if it is not Basic or has no user.
std::optional<std::string> basic_user(std::string_view credentials);

// Whether there is a user name of which basic_user() can make nothing: not readable, no base64, or too long.
bool has_unusable_user(std::string_view credentials);

}  // namespace armgate::arm
