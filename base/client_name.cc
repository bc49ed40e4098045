#include "base/client_name.h"

#include <algorithm>

namespace armgate {

bool is_client_name(std::string_view name) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._~-").find(c) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= kClientNameBytesMax && std::all_of(name.begin(), name.end(), good);
}

}  // namespace armgate
