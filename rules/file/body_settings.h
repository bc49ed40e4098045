// body_settings.h – what a rule file says about the bodies of its types: the keys below "body".
//
// Why: which members only the service writes and how the elements of an array are told apart decides whether a write is in
// conflict. A fact that holds nowhere would do so silently, so everything is checked that can be without a body.
#pragma once

#include <string>
#include <vector>

#include "arm/body/body_facts.h"
#include "rules/file/fault_list.h"
#include "rules/file/json_reader.h"

namespace armgate::rules {

// The keys, to be put below a rule's others.
SettingTable body_settings(arm::DeclaredFacts& facts);

// A JSON pointer in which "*" is every element or member, as rule files write it.
std::optional<std::string> check_pointer(std::string& pointer);

// Complains of keys where there can be none, of those that are missing, and of what contradicts itself. `pointer` is that of
// the object that has "body", in the file.
void check_body(const arm::DeclaredFacts& body, const std::string& file, const std::string& pointer,
                const JsonPositions& positions, FaultList& faults);

// What one body says and another must not, both being of one type and api-version.
struct Contradiction {
  std::string pointer;  // below "body", in `later`: "/arrays/0"
  std::string message;  // ends where the place of `earlier` is to be named
};
std::vector<Contradiction> contradictions(const arm::DeclaredFacts& earlier, const arm::DeclaredFacts& later);

}  // namespace armgate::rules
