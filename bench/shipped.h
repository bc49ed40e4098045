// shipped.h – the rule files that come with armgate, for the benchmarks that need real ones.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include "base/source_tree.h"
#include "rules/file/rule_file.h"

namespace armgate::bench {

inline rules::RuleBook shipped(const std::string& name) {
  const std::string path = source_path("conf/rules/") + name;
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  rules::FaultList faults;
  return rules::read_rule_book(path, text, faults);
}

}  // namespace armgate::bench
