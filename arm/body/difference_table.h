// difference_table.h – what Difference keeps: the places where bodies of one resource differ, found in one walk over all of
// them.
//
// Why: the walk and the questions are two subjects; this is what one hands to the other. For arm/body/difference*.cc and
// arm/body/merge*.cc. Invariant: the rows below a Whole row are those from the next one to its end. Where a body lacks what
// that row stands for, its values below say nothing: whoever asks about such a body takes the Whole row for one place and does
// not go down.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arm/body/difference.h"
#include "json/document.h"

namespace armgate::arm {

struct DifferenceTable {
  static constexpr size_t kRowsMax = 100'000;
  static constexpr size_t kNoArray = std::numeric_limits<size_t>::max();
  static constexpr uint32_t kNowhere = std::numeric_limits<uint32_t>::max();

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
    size_t element = kNoArray;                // of an element: where its places are kept
    std::bitset<Difference::kBodiesMax> has;  // by column: whether something stands here; not of the first

    bool is_element() const { return element != kNoArray; }
  };
  struct Row {
    RowKind kind = RowKind::Scalar;
    bool is_identity = false;  // id, name, type of a resource: left out, it is as it should be
    bool is_spelling = false;  // of an element's key: differs from no other
    uint32_t step = 0;
    size_t end = 0;
    size_t array = kNoArray;  // of an array of values: where these are kept
    size_t order = kNoArray;  // of the order of an Ordered one: where it is kept
  };

  std::vector<uint32_t> column_of;  // of each body
  std::vector<Column> columns;
  std::vector<Step> steps{Step{}};
  std::vector<Row> rows;
  std::vector<uint32_t> values;  // for each row one of each column
  std::vector<BodyPlace> array_places;
  std::vector<simdjson::dom::element> array_values;  // for each of these places one of each column
  std::vector<uint32_t> element_at;                  // for each element on the way to a row its place in each column's array
  std::vector<std::vector<uint32_t>> orders;         // for each order one of each column: its elements, by number
  std::vector<OwnWrite> own;                         // by column
  bool complete = true;                              // false: there are more than kRowsMax rows

  uint32_t value(size_t row, size_t column) const { return values[row * columns.size() + column]; }
};

// ---- what stands in a row ----

inline bool is_known(uint32_t value) { return value != row_value::kUnknown; }
inline bool is_present(uint32_t value) { return value >= row_value::kFirst; }
inline bool is_absent(uint32_t value) { return value == row_value::kLeftOut || value == row_value::kAbsent; }

// Members of maps and elements of arrays: whoever writes them replaces the map or the array.
inline bool is_named(const DifferenceTable::Row& row) { return row.kind == RowKind::Member || row.kind == RowKind::Whole; }

// Calls `look` with each row that counts for these columns until it says false: what one of them lacks as a whole is one place.
template <size_t N, class Look>
bool all_rows(const DifferenceTable& table, const std::array<size_t, N>& columns, size_t begin, size_t end, Look look) {
  for (size_t row = begin; row < end;) {
    if (table.rows[row].kind != RowKind::Whole) {
      if (!look(row)) return false;
      ++row;
      continue;
    }
    const auto any = [&](auto is) {
      return std::any_of(columns.begin(), columns.end(), [&](size_t c) { return is(table.value(row, c)); });
    };
    const bool goes_down = any(is_present) && !any(is_absent);
    if (!goes_down && any(is_present) && !look(row)) return false;
    row = goes_down ? row + 1 : table.rows[row].end;
  }
  return true;
}

// What is unknown differs from nothing.
bool differs_at(const DifferenceTable& table, size_t row, size_t a, size_t b);

// A write changes nothing by leaving out what the service fills in.
bool write_changes(const DifferenceTable& table, size_t row, size_t base, size_t wanted);

// What a write and others did to one place.
struct Changes {
  bool by_write = false;
  bool by_others = false;
  bool in_conflict = false;
  bool agree = false;  // both added or removed the same
  bool unseen = false;
  bool lost_if_sent = false;  // by others, and the write says otherwise
};
Changes changes_at(const DifferenceTable& table, size_t row, size_t base, size_t wanted, size_t there);

// Adds the rows to a table whose columns are read.
void find_rows(DifferenceTable& table, const BodyFacts& facts);

}  // namespace armgate::arm
