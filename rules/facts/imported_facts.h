// imported_facts.h – the file that `armgate types import` writes: facts about all types that public schemas describe, one type
// a line.
//
// Why a form of its own: facts of thousands of types have to be read in milliseconds, and nobody writes them by hand. `rules`
// names the file like any rule file; what it says is weaker than every rule file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/facts/fact_entry.h"
#include "rules/file/fault_list.h"

namespace armgate::rules {

struct ImportedType {
  std::string name;  // as Azure writes it
  std::string first_version;
  std::string last_version;
  arm::DeclaredFacts body;  // read_only, write_only and maps only

  friend bool operator==(const ImportedType& a, const ImportedType& b) {
    return a.name == b.name && a.first_version == b.first_version && a.last_version == b.last_version &&
           a.body.read_only == b.body.read_only && a.body.write_only == b.body.write_only && a.body.maps == b.body.maps;
  }
};

// Whether the text is such a file rather than a rule file.
bool is_imported(std::string_view text);

// In the order of the file. Adds every fault, with the line of its type.
std::vector<ImportedType> read_imported(const std::string& file, std::string_view text, FaultList& faults);

// The same, as facts to be used; their places are lines of the file.
std::vector<FactEntry> read_imported_facts(const std::string& file, std::string_view text, FaultList& faults);

// The file's text. `types` in the order of their names.
std::string to_imported_text(const std::vector<ImportedType>& types);

// What a new import changes, by the types' names.
struct ImportDifference {
  std::vector<std::string> added;
  std::vector<std::string> gone;
  std::vector<std::string> changed;  // other facts or api-versions
};
ImportDifference difference_between(const std::vector<ImportedType>& before, const std::vector<ImportedType>& now);

}  // namespace armgate::rules
