#include "rules/file/nearest_name.h"

#include <algorithm>

#include "base/text.h"

namespace armgate::rules {

size_t edit_distance(std::string_view a, std::string_view b) {
  // Optimal string alignment: the last three rows of the table of distances between prefixes.
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string nearest_name(std::string_view written, const std::vector<std::string>& valid) {
  // Names in configurations are short: a longer one is nobody's typing mistake, and so many mistakes would be allowed in it.
  constexpr size_t kLengthMax = 80;
  if (written.size() > kLengthMax) return {};
  return nearest_name(written, valid, std::max<size_t>(2, written.size() / 3));
}

std::string nearest_name(std::string_view written, const std::vector<std::string>& valid, size_t mistakes_max) {
  constexpr size_t kLengthMax = 1'000;  // the table would be large
  std::string nearest;
  if (written.size() > kLengthMax) return nearest;
  size_t least = mistakes_max + 1;
  for (const std::string& name : valid) {
    const size_t longer = std::max(name.size(), written.size()), shorter = std::min(name.size(), written.size());
    if (longer - shorter >= least) continue;
    const size_t distance = edit_distance(written, name);
    if (distance >= least || distance >= name.size()) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

std::string suggestion(std::string_view written, const std::vector<std::string>& valid) {
  const std::string nearest = nearest_name(written, valid);
  if (!nearest.empty()) return "did you mean \"" + nearest + "\"?";
  std::string list = "valid here: ";
  for (size_t i = 0; i < valid.size(); ++i) {
    if (i > 0) list += i + 1 == valid.size() ? " and " : ", ";
    list += "\"" + valid[i] + "\"";
  }
  return list;
}

}  // namespace armgate::rules
