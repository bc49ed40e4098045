// merge_compose.h – puts a merged body together from the bytes of what is there and of what a write asks for.
//
// Why: which places of a write are taken is decided by comparing; writing them down is another subject. For arm/body/merge.cc
// alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arm/body/difference_table.h"

namespace armgate::arm {

// What is to be done with the steps of a table (DifferenceTable::steps), each by its number.
struct MergeEdits {
  struct Edit {
    bool takes = false;                        // the write's value goes there; if it has none, what is there goes
    size_t order = DifferenceTable::kNoArray;  // the write's order of these elements: DifferenceTable::orders
    std::vector<uint32_t> below;               // steps with edits
  };
  std::vector<Edit> of_step;

  explicit MergeEdits(size_t steps) : of_step(steps) {}
  // Adds a row that the write changes.
  void take(const DifferenceTable& table, size_t row);
};

// A body that takes part: its column in the table, and the text that this was read from.
struct MergeSide {
  size_t column = 0;
  std::string_view json;
};

// Nothing: a name would stand beside one that differs from it in case alone.
std::optional<std::string> compose(const DifferenceTable& table, const BodyFacts& facts, const MergeEdits& edits,
                                   const MergeSide& wanted, const MergeSide& there);

}  // namespace armgate::arm
