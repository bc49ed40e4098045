// manual.h – reads a manual in docs/ and holds it against what the parser knows.
//
// A manual has one entry for each key, below "### `key`": first a line "> " with facts that the program itself states,
// then what a person should know, marked by words such as "**Danger:**", and an example in a ```json block.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/source_tree.h"

namespace armgate {

struct ManualExample {
  int line = 0;
  std::string json;
};

struct ManualEntry {
  int line = 0;
  std::string section;  // the "## " above
  std::string key;
  std::string facts;
  std::string text;  // all of it, examples aside
  std::vector<ManualExample> examples;
};

struct Manual {
  std::string file;
  std::string text;
  std::vector<ManualEntry> entries;
  std::vector<ManualExample> documents;  // examples outside of entries

  const ManualEntry* find(const std::string& section, const std::string& key) const {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const ManualEntry& entry) { return entry.section == section && entry.key == key; });
    return found == entries.end() ? nullptr : &*found;
  }
  std::string place(int line) const { return file + ":" + std::to_string(line); }
};

// `file` from the root of the tree.
inline Manual read_manual(const std::string& file) {
  Manual manual;
  manual.file = file;
  std::ifstream in(source_path(file));
  EXPECT_TRUE(in) << file << " cannot be read";
  std::string section;
  ManualEntry* entry = nullptr;
  ManualExample* example = nullptr;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    manual.text += line + "\n";
    if (example != nullptr) {
      if (line == "```")
        example = nullptr;
      else
        example->json += line + "\n";
    } else if (line == "```json") {
      auto& examples = entry != nullptr ? entry->examples : manual.documents;
      example = &examples.emplace_back(ManualExample{number + 1, {}});
    } else if (line.starts_with("## ")) {
      section = line.substr(3);
      entry = nullptr;
    } else if (line.starts_with("### `")) {
      entry = &manual.entries.emplace_back();
      entry->line = number;
      entry->section = section;
      entry->key = line.substr(5, line.find('`', 5) - 5);
    } else if (line.starts_with("### ")) {
      entry = nullptr;
    } else if (entry != nullptr) {
      if (line.starts_with("> ")) entry->facts = line.substr(2);
      entry->text += line + "\n";
    }
  }
  return manual;
}

// What the parser knows.
struct KnownKey {
  std::string section;  // of the manual
  std::string key;
  std::string facts;
  std::string sentence;
};

// What must be in the manual if it is not: a text to begin with.
inline std::string missing_entry(const KnownKey& known, const std::vector<std::string>& marks) {
  std::string text =
      "below \"## " + known.section + "\":\n\n### `" + known.key + "`\n\n> " + known.facts + "\n\n" + known.sentence + "\n";
  for (const auto& mark : marks) text += "\n" + mark + " ...\n";
  return text;
}

// Every known key has one entry, which states its facts and has all marks; no entry is about anything else.
inline void expect_same_keys(const Manual& manual, const std::vector<KnownKey>& known, const std::vector<std::string>& marks) {
  std::set<std::pair<std::string, std::string>> keys, described;
  for (const KnownKey& key : known) {
    keys.emplace(key.section, key.key);
    const ManualEntry* entry = manual.find(key.section, key.key);
    if (entry == nullptr) {
      ADD_FAILURE() << manual.file << " does not describe `" << key.key << "`. Write, " << missing_entry(key, marks);
      continue;
    }
    EXPECT_EQ(entry->facts, key.facts) << manual.place(entry->line) << ": the line below `" << key.key << "` must be\n> "
                                       << key.facts;
    for (const auto& mark : marks) {
      EXPECT_NE(entry->text.find(mark), std::string::npos)
          << manual.place(entry->line) << ": `" << key.key << "` has no " << mark;
    }
  }
  for (const ManualEntry& entry : manual.entries) {
    EXPECT_TRUE(keys.contains({entry.section, entry.key}))
        << manual.place(entry.line) << ": the parser knows no `" << entry.key << "` here; correct or remove the entry";
    EXPECT_TRUE(described.emplace(entry.section, entry.key).second)
        << manual.place(entry.line) << ": `" << entry.key << "` twice";
  }
}

// What "See also" names in backticks is a key of the manual or the command. (Links: tests/tidy_references.h.)
inline void expect_references_lead_somewhere(const Manual& manual) {
  static const std::regex kName("`([^`]+)`");
  for (const ManualEntry& entry : manual.entries) {
    const size_t start = entry.text.find("**See also:**");
    if (start == std::string::npos) continue;
    const std::string line = entry.text.substr(start, entry.text.find("\n\n", start) - start);
    for (auto at = std::sregex_iterator(line.begin(), line.end(), kName); at != std::sregex_iterator(); ++at) {
      const std::string name = (*at)[1];
      const bool known =
          std::any_of(manual.entries.begin(), manual.entries.end(), [&](const auto& one) { return one.key == name; });
      EXPECT_TRUE(known || name.starts_with("armgate ")) << manual.place(entry.line) << ": no entry for `" << name << "`";
    }
  }
}

}  // namespace armgate
