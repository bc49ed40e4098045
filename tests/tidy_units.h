// tidy_units.h – the tree as a graph of units, for tests/tidy_test.cc. A unit is a header and the source of its name, taken as one.
//
// Why: headers alone seldom form cycles, but units do: whoever must read one of a knot must read them all.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace armgate::tidy {

using std::string;
using std::string_view;

// What each file includes, by its path from the root of the tree.
using IncludeGraph = std::map<string, std::vector<string>>;

inline string unit_of(string_view path) { return string(path.substr(0, path.rfind('.'))); }

inline std::map<string, std::set<string>> units_of(const IncludeGraph& files) {
  std::map<string, std::set<string>> units;
  for (const auto& [path, included] : files) {
    auto& unit = units[unit_of(path)];
    for (const string& header : included) {
      if (files.contains(header) && unit_of(header) != unit_of(path)) unit.insert(unit_of(header));
    }
  }
  return units;
}

// The sets of units of which each needs each other, by Tarjan's algorithm; units that are in no cycle are left out.
inline std::vector<std::vector<string>> knots_of(const std::map<string, std::set<string>>& units) {
  std::map<string, size_t> number, lowest;
  std::vector<string> stack;
  std::set<string> on_stack;
  std::vector<std::vector<string>> knots;
  const std::function<void(const string&)> visit = [&](const string& unit) {
    const size_t own = number.size();
    number[unit] = lowest[unit] = own;
    stack.push_back(unit);
    on_stack.insert(unit);
    for (const string& needed : units.at(unit)) {
      if (!number.contains(needed)) visit(needed);
      if (on_stack.contains(needed)) lowest[unit] = std::min(lowest[unit], lowest[needed]);
    }
    if (lowest[unit] != own) return;
    std::vector<string> knot;
    do {
      knot.push_back(stack.back());
      on_stack.erase(stack.back());
      stack.pop_back();
    } while (knot.back() != unit);
    std::sort(knot.begin(), knot.end());
    if (knot.size() > 1) knots.push_back(std::move(knot));
  };
  for (const auto& [unit, needed] : units) {
    if (!number.contains(unit)) visit(unit);
  }
  return knots;
}

// How many headers of the tree a file reaches, and by how long a chain at most.
struct Reach {
  size_t headers = 0, depth = 0;
};

inline Reach reach_of(const string& path, const IncludeGraph& files) {
  std::map<string, size_t> depths;  // of a file: the longest chain that begins there
  const std::function<size_t(const string&)> depth_of = [&](const string& file) -> size_t {
    if (const auto known = depths.find(file); known != depths.end()) return known->second;
    depths[file] = 0;
    size_t depth = 0;
    for (const string& header : files.at(file)) {
      if (files.contains(header)) depth = std::max(depth, 1 + depth_of(header));
    }
    return depths[file] = depth;
  };
  const size_t depth = depth_of(path);
  return {depths.size() - 1, depth};
}

}  // namespace armgate::tidy
