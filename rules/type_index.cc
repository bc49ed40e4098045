#include "rules/type_index.h"

#include <algorithm>

namespace armgate::rules {
namespace {

// Calls `look` with each beginning of the type that ends in a slash: "a/b/c" has "a/" and "a/b/".
template <class Look>
void for_each_prefix(std::string_view type, Look look) {
  for (size_t slash = type.find('/'); slash != type.npos; slash = type.find('/', slash + 1)) look(type.substr(0, slash + 1));
}

}  // namespace

void TypeIndex::add(const std::string& pattern, size_t place) {
  const auto put = [place](std::vector<size_t>& places) {
    if (places.empty() || places.back() != place) places.push_back(place);
  };
  put(by_pattern_[pattern]);
  for_each_prefix(pattern, [&](std::string_view prefix) { put(below_[std::string(prefix)]); });
}

const std::vector<size_t>* TypeIndex::with(const Places& places, std::string_view key) const {
  const auto found = places.find(std::string(key));
  return found == places.end() ? nullptr : &found->second;
}

std::optional<size_t> TypeIndex::first_taker(std::string_view type, const std::function<bool(size_t)>& fits) const {
  std::optional<size_t> first;
  const auto look = [&](std::string_view pattern) {
    const auto* places = with(by_pattern_, pattern);
    if (places == nullptr) return;
    const auto end = first ? std::lower_bound(places->begin(), places->end(), *first) : places->end();
    const auto found = std::find_if(places->begin(), end, fits);
    if (found != end) first = *found;
  };
  look(type);
  for_each_prefix(type, [&](std::string_view prefix) { look(std::string(prefix) + "*"); });
  return first;
}

std::vector<size_t> TypeIndex::sharing(std::string_view type) const {
  std::vector<size_t> all;
  const auto take = [&all](const std::vector<size_t>* places) {
    if (places != nullptr) all.insert(all.end(), places->begin(), places->end());
  };
  take(with(by_pattern_, type));
  for_each_prefix(type, [&](std::string_view prefix) { take(with(by_pattern_, std::string(prefix) + "*")); });
  if (type.ends_with("/*")) take(with(below_, type.substr(0, type.size() - 1)));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace armgate::rules
