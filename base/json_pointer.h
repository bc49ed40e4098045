// json_pointer.h – how a member's name stands in a JSON pointer (RFC 6901 §3).
#pragma once

#include <string>
#include <string_view>

namespace armgate {

inline std::string pointer_token(std::string_view name) {
  std::string token;
  for (const char c : name) {
    if (c == '~')
      token += "~0";
    else if (c == '/')
      token += "~1";
    else
      token += c;
  }
  return token;
}

}  // namespace armgate
