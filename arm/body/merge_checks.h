// merge_checks.h – what makes a merge wrong although no two changes meet: secrets that nobody shows, and values that must be
// unique.
//
// Why: these hold of single bodies, not of differences. For arm/body/merge.cc alone.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "arm/body/body_facts.h"
#include "json/document.h"

namespace armgate::arm {

// It has a value where values are never shown.
bool has_secret(const simdjson::dom::element& element, const BodyPlace& place);

// It belongs to what was read, and a write of it would lose a secret, or set one to what hides it.
bool hides_secret(const simdjson::dom::element& element, const BodyPlace& place);

// What the write asks for, and what is there.
using TwinSides = std::array<const simdjson::dom::element*, 2>;

// Pointers of elements of a merged body that have in common what must be unique in their array. Twins that one side has by
// itself are not the merge's: ARM accepted them, or judges them as it would without the merge.
std::vector<std::string> twins(const simdjson::dom::element& root, const TwinSides& sides, const BodyFacts& facts);

}  // namespace armgate::arm
