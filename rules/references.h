// references.h – the locks that a body asks for: the resources that it names where a rule looks (docs/design.md,
// "Locks").
//
// Why: an interface is put into a subnet while somebody else changes the subnet, and ARM refuses one of them. A shared lock
// makes whoever changes the subnet wait for those who refer to it, and the other way round; those who only refer do not wait
// for each other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/plan.h"
#include "rules/rule.h"

namespace armgate::rules {

// One lock, and whether it is kept until the request or until its long-running operation ends.
struct ReferenceKey {
  LockKey key;
  LeaseUntil until = LeaseUntil::Request;
  friend bool operator==(const ReferenceKey&, const ReferenceKey&) = default;
};

// What `body` refers to by the rule, canonical, with the ancestors that the rule wants too. What is no resource id is passed
// over.
std::vector<ReferenceKey> referenced_keys(const Rule& rule, std::string_view body);

// Sorted by id, each once: the stronger mode and the longer time count. `own` keys are the write's anyway and are left out.
std::vector<ReferenceKey> without_duplicates(std::vector<ReferenceKey> keys, const std::vector<LockKey>& own);

// As lines of text for the journal, and back; what is no such line is passed over.
std::string to_lines(const std::vector<ReferenceKey>& keys);
std::vector<ReferenceKey> references_in(std::string_view lines);

}  // namespace armgate::rules
