// paths.h – the corpus of paths (tests/rules/paths.txt): what is asked for, and what the shipped rules must make of it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "arm/http.h"
#include "base/source_tree.h"
#include "base/text.h"

namespace armgate {

struct AskedPath {
  std::string line;  // for messages
  arm::Method method = arm::Method::Other;
  std::string method_token;
  std::string target;
  enum class Becomes { Write, Read, Passed, Refused } becomes = Becomes::Passed;
  std::string rule;
  std::string guard;
  std::vector<std::string> further_locks;  // canonical
};

inline std::string in_group(std::string text, const std::string& group) {
  const size_t place = text.find("{g}");
  return place == text.npos ? text : text.replace(place, 3, group);
}

inline AskedPath path_of_line(const std::string& line) {
  AskedPath path;
  path.line = line;
  std::istringstream words(line);
  std::string place, bar, first;
  words >> path.method_token >> place >> bar >> first;
  EXPECT_EQ(bar, "|") << line;
  path.method = arm::method_of(path.method_token);
  path.target = in_group(place, "/subscriptions/S/resourceGroups/G/providers") + "?api-version=2025-05-01";
  using Becomes = AskedPath::Becomes;
  path.becomes = first == "passes"    ? Becomes::Passed
                 : first == "refused" ? Becomes::Refused
                 : first == "reads"   ? Becomes::Read
                                      : Becomes::Write;
  if (path.becomes == Becomes::Read) words >> path.rule;
  if (path.becomes != Becomes::Write) return path;
  path.rule = first;
  words >> path.guard;
  for (std::string lock; words >> lock;) {
    path.further_locks.push_back(in_group(std::move(lock), "/subscriptions/s/resourcegroups/g/providers"));
  }
  return path;
}

inline const std::vector<AskedPath>& asked_paths() {
  static const std::vector<AskedPath> all = [] {
    std::ifstream file(source_path("tests/rules/paths.txt"));
    std::vector<AskedPath> paths;
    for (std::string line; std::getline(file, line);) {
      if (!line.empty() && !line.starts_with("#")) paths.push_back(path_of_line(line));
    }
    return paths;
  }();
  return all;
}

}  // namespace armgate
