// tidy_tree.h – the files that tests/tidy_test.cc looks at.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/source_tree.h"
#include "tests/tidy_rules.h"

namespace armgate::tidy {

namespace fs = std::filesystem;

struct File {
  string path;  // from the root of the tree
  string text;
  string code;  // for C++
  bool is_cpp() const { return path.ends_with(".cc") || path.ends_with(".h"); }
};

inline std::vector<File> read_tree() {
  const fs::path root = source_path("");
  std::vector<File> files;
  for (const char* folder :
       {"base", "json", "arm", "rules", "certs", "proxy", "cli", "sim", "bench", "tests", "scripts", ".ci"}) {
    if (!fs::exists(root / folder)) continue;
    for (auto entry = fs::recursive_directory_iterator(root / folder); entry != fs::recursive_directory_iterator(); ++entry) {
      if (entry->path().filename() == "node_modules") entry.disable_recursion_pending();
      const string path = fs::relative(entry->path(), root).string();
      const string kind = entry->path().extension().string();
      static const std::set<string> kCode = {".cc", ".h", ".mjs", ".sh", ".py", ".txt", ""};
      if (!entry->is_regular_file() || !kCode.contains(kind)) continue;
      std::ostringstream text;
      text << std::ifstream(entry->path()).rdbuf();
      File file{path, text.str(), {}};
      if (file.is_cpp()) file.code = code_of(file.text);
      files.push_back(std::move(file));
    }
  }
  return files;
}

// What people read and is in no folder of code: documents, and data that says where it comes from.
inline std::map<string, string> read_documents() {
  const fs::path root = source_path("");
  std::map<string, string> texts;
  const auto add = [&](const fs::directory_entry& entry) {
    const string kind = entry.path().extension().string();
    if (!entry.is_regular_file() || (kind != ".md" && kind != ".json")) return;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    texts.emplace(fs::relative(entry.path(), root).string(), text.str());
  };
  for (const auto& entry : fs::directory_iterator(root)) add(entry);
  for (const char* folder : {"docs", "conf", "bench"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) add(entry);
  }
  return texts;
}

}  // namespace armgate::tidy
