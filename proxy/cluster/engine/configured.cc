#include "proxy/cluster/engine/configured.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace armgate::cluster {
namespace {

constexpr size_t kNamedMax = 5;

std::map<std::string_view, std::string_view> parts_of(std::string_view text) {
  std::map<std::string_view, std::string_view> parts;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t space = line.find(' ');
    if (space != line.npos) parts.emplace(line.substr(0, space), line.substr(space + 1));
  }
  return parts;
}

}  // namespace

std::string to_text(const Configured& configured) {
  std::string text;
  for (const auto& [name, value] : configured) text += fmt::format("{} {}\n", name, value);
  return text;
}

std::string difference(std::string_view own, std::string_view other) {
  const auto here = parts_of(own);
  std::string text;
  size_t count = 0;
  for (const auto& [name, value] : parts_of(other)) {
    const auto ours = here.find(name);
    if (ours == here.end() || ours->second == value) continue;
    if (++count > kNamedMax) continue;
    if (!text.empty()) text += ", ";
    text += name;
    if (!value.starts_with('#')) text += fmt::format(" ({} and not {})", value, ours->second);
  }
  if (count > kNamedMax) text += fmt::format(" and {} more", count - kNamedMax);
  return text;
}

}  // namespace armgate::cluster
