// url.h – the absolute URLs in ARM's answers (operation URLs, Location, nextLink). Nothing is ever re-encoded: they are
// signed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace armgate::arm {

struct Url {
  std::string host;  // lower case, without port
  uint16_t port = 443;
  std::string target;  // path and query, byte for byte; "/" if the URL has none
};

// An absolute https URL ("https://host[:port]/path?query"), or nothing. A fragment is refused; so is userinfo.
std::optional<Url> parse_url(std::string_view text);

}  // namespace armgate::arm
