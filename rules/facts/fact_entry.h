// fact_entry.h – one element of "facts" in a rule file: what is known about the bodies of types, whatever rule decides about
// them.
//
// Why: rules say what is to be done, facts what is so. Two rules for one type, or none, must not make a difference to what is
// known of it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arm/body/body_facts.h"
#include "rules/file/fault_list.h"
#include "rules/file/json_reader.h"
#include "rules/rule.h"

namespace armgate::rules {

struct FactEntry {
  SourceLine place;
  Match match;  // types, none of them "*", and api-versions; no actions
  arm::DeclaredFacts body;
  FactStrength strength = FactStrength::Declared;
};

// Those of all files, in the order of the files; shared by all who look into them. May be null: there are none.
using FactEntries = std::shared_ptr<const std::vector<FactEntry>>;
inline FactEntries share(std::vector<FactEntry> entries) {
  return std::make_shared<const std::vector<FactEntry>>(std::move(entries));
}

// Everything that an entry can say, bound to `entry`.
SettingTable settings_of(FactEntry& entry);

// "the facts at conf/rules/facts-network.json:53"
std::string words_for(const FactEntry& entry);

// Complains of entries that match nothing or contradict themselves, and of two that contradict each other for some type at some
// api-version. `entries` are those of one file, whose `positions` these are.
void check_facts(const std::vector<FactEntry>& entries, const JsonPositions& positions, FaultList& faults);

// What an operator should look at, of the entries of all files in their order: two of different files that contradict each
// other.
FaultList warnings_about(const std::vector<FactEntry>& entries);

}  // namespace armgate::rules
