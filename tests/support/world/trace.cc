#include "tests/support/world/trace.h"

#include <algorithm>

namespace armgate::world {

std::string short_path(std::string_view text) {
  constexpr std::string_view kPrefix = "/subscriptions/11111111-1111-1111-1111-111111111111/";
  std::string result(text.substr(0, text.find('?')));
  for (size_t at = result.find(kPrefix); at != result.npos; at = result.find(kPrefix)) {
    const size_t provider = result.find('/', at + kPrefix.size());
    result.replace(at, std::min(provider, result.size()) - at + 1, ".../");
  }
  return result;
}

}  // namespace armgate::world
