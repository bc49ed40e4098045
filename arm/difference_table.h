// difference_table.h – what Difference keeps: the places where bodies of one resource differ, found in one walk over all of them.
//
// Why: the walk and the questions are two subjects; this is what one hands to the other. For arm/difference*.cc alone.
// Invariant: the rows below a Whole row are those from the next one to its end. Where a body lacks what that row stands for, its
// values below say nothing: whoever asks about such a body takes the Whole row for one place and does not go down.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "arm/difference.h"
#include "arm/json_value.h"

namespace armgate::arm {

struct DifferenceTable {
  static constexpr size_t kRowsMax = 100'000;
  static constexpr size_t kNoArray = std::numeric_limits<size_t>::max();

  // One for each different text and kind of body.
  struct Column {
    BodyKind kind = BodyKind::Whole;
    std::shared_ptr<const JsonDocument> document;  // null: the resource is absent

    bool readable() const { return document == nullptr || document->usable(); }
    bool walked() const { return document != nullptr && document->usable(); }
  };
  // A member or an element on the way to a row; the first is the resource itself.
  struct Step {
    uint32_t above = 0;
    std::string token;
  };
  struct Row {
    RowKind kind = RowKind::Scalar;
    bool is_identity = false;  // id, name, type of a resource: left out, it is as it should be
    uint32_t step = 0;
    size_t end = 0;
    size_t array = kNoArray;  // of an array of values: where these are kept
  };

  std::vector<uint32_t> column_of;  // of each body
  std::vector<Column> columns;
  std::vector<Step> steps{Step{}};
  std::vector<Row> rows;
  std::vector<uint32_t> values;  // for each row one of each column
  std::vector<BodyPlace> array_places;
  std::vector<simdjson::dom::element> array_values;  // for each of these places one of each column
  std::vector<OwnWrite> own;                         // by column
  bool complete = true;                              // false: there are more than kRowsMax rows

  uint32_t value(size_t row, size_t column) const { return values[row * columns.size() + column]; }
};

// Adds the rows to a table whose columns are read.
void find_rows(DifferenceTable& table, const BodyFacts& facts);

// Whether two plain values are the same: numbers by value, ids without case, texts as the facts say.
bool same_plain_value(const simdjson::dom::element& a, const simdjson::dom::element& b, const BodyPlace& place);

}  // namespace armgate::arm
