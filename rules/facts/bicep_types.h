// bicep_types.h – draws facts from Azure/bicep-types-az: its types.json files describe each type at each api-version, with
// members that are marked read-only, write-only or sensitive.
//
// Of a member whose direction differs between api-versions nothing is said: called read-only where it can be written,
// somebody's change of it would go unseen. Keys of arrays are not in that data.
// Limits   a body deeper than kDepthMax or of more than kMembersMax members is followed so far and no farther.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rules/facts/imported_facts.h"
#include "rules/file/fault_list.h"

namespace armgate::rules {

class BicepTypes {
 public:
  static constexpr size_t kDepthMax = 10;
  static constexpr size_t kMembersMax = 4'000;

  // Takes in one types.json; `file` names it in faults.
  void add(const std::string& file, std::string_view json, FaultList& faults);

  // Whether a resource type was described at that api-version ("Microsoft.Network/virtualNetworks@2024-05-01"), writable or
  // not.
  bool has(std::string_view type_and_version) const;
  size_t count() const { return described_.size(); }

  // Those that can be written, in the order of their names.
  std::vector<ImportedType> types() const;

 private:
  // What one api-version says about a member.
  struct Member {
    bool read_only = true;  // wherever it stands: variants of a body may disagree
    bool write_only = false;
    bool is_map = false;
  };
  using Members = std::map<std::string, Member>;  // by pointer

  // What several api-versions say.
  struct Versions {
    std::string first, last;
    Members newest;
    std::set<std::string> writable;  // pointers that some of them lets clients write
  };
  struct Type {
    std::string name;
    Versions stable, preview;
  };

  static void take_in(const std::string& version, Members members, Versions& versions);

  std::map<std::string, Type> types_;  // by canonical name
  std::set<std::string> described_;    // canonical "type@version"

  friend class BicepDocument;
};

}  // namespace armgate::rules
