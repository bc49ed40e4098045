// shipped_rules.h – the rules that come with armgate, as tests read them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/source_tree.h"
#include "rules/file/rule_file.h"

namespace armgate {

// All rule files of a directory of the source tree, by name, as the program reads them.
inline rules::RuleBook rules_in(const std::string& directory, rules::FaultList& faults) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_path(directory))) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  rules::RuleBook book;
  for (const auto& file : files) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    book.add(rules::read_rule_book(file.filename().string(), text.str(), faults));
  }
  check_names(book.rules, faults);
  return book;
}

inline rules::RuleBook shipped_rules(rules::FaultList& faults) { return rules_in("conf/rules", faults); }

}  // namespace armgate
