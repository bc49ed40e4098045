// The one walk over all bodies. At each place stands one Cell for each column.
#include <algorithm>
#include <array>
#include <deque>
#include <span>

#include "arm/body/array_keys.h"
#include "arm/body/canonical_value.h"
#include "arm/body/difference_table.h"
#include "base/text.h"

namespace armgate::arm {
namespace {

namespace dom = simdjson::dom;

enum class Has : uint8_t {
  Value,
  Unknown,
  LeftOut,
  Absent,
  Masked,  // so is the whole that it would stand in, which says it already
};

struct Cell {
  Has has = Has::Masked;
  dom::element value;
};
using Cells = std::span<Cell>;  // one for each column

// The way from the resource to here. It becomes a step of the table only for a row.
struct Way {
  static constexpr uint32_t kNotKept = ~uint32_t{0};
  const Way* above = nullptr;
  std::string_view name = {};     // of a member
  const ArrayKey* key = nullptr;  // of an element
  const dom::element* element = nullptr;
  const std::vector<uint32_t>* at = nullptr;  // and its place in each column's array
  size_t depth = 0;
  mutable uint32_t step = kNotKept;
};

enum class Stands { AsMember, InMap, AsElement };

bool has_nothing(Has has) { return has == Has::LeftOut || has == Has::Absent; }

class Walk {
 public:
  explicit Walk(DifferenceTable& table) : table_(table), columns_(table.columns.size()) {}

  void resource(const BodyPlace& top) {
    Way way;
    way.step = 0;
    const Cells cells = level(0).cells;
    for (size_t c = 0; c < columns_; ++c) {
      cells[c] = {};
      if (table_.columns[c].walked()) cells[c] = {Has::Value, table_.columns[c].document->root()};
    }
    value(way, top, cells, Stands::AsMember);
  }

 private:
  void value(const Way& way, const BodyPlace& place, Cells cells, Stands stands) {
    size_t objects = 0, arrays = 0, present = 0, absent = 0;
    for (size_t c = 0; c < columns_; ++c) {
      Cell& cell = cells[c];
      set_presence(cell, place, stands);
      absent += has_nothing(cell.has) ? 1 : 0;
      if (cell.has != Has::Value) continue;
      ++present;
      objects += is_object(cell.value) ? 1 : 0;
      arrays += is_array(cell.value) ? 1 : 0;
    }
    if (present == 0 || !table_.complete) return;
    const bool structured = objects == present || arrays == present;
    const bool is_whole = stands != Stands::AsMember && structured && absent > 0;
    const size_t row = is_whole ? whole(way, cells) : kNoRow;
    if (objects == present) {
      object(way, place, cells);
    } else if (arrays == present) {
      array(way, place, cells);
    } else {
      plain_leaf(way, place, cells, stands == Stands::InMap ? RowKind::Member : RowKind::Scalar);
    }
    if (row != kNoRow) table_.rows[row].end = table_.rows.size();
  }

  // What counts as absent, and what says nothing when it is absent. Elements of an array that is shown after all do.
  static void set_presence(Cell& cell, const BodyPlace& place, Stands stands) {
    if (cell.has == Has::Value && counts_as_absent(cell.value, place)) cell.has = Has::Absent;
    const bool is_lacking = stands == Stands::AsElement && cell.has == Has::Absent;
    if (has_nothing(cell.has) && place.write_only() && !is_lacking) cell.has = Has::Unknown;
    if (cell.has == Has::LeftOut && place.kept()) cell.has = Has::Unknown;
  }

  // A row for all that stands below; bodies without it take no part there.
  size_t whole(const Way& way, Cells cells) {
    const size_t row = leaf(
        way, RowKind::Whole, cells, [](size_t, size_t) { return true; }, false);
    for (size_t c = 0; c < columns_; ++c) {
      if (has_nothing(cells[c].has)) cells[c].has = Has::Masked;
    }
    return row;
  }

  // ---- objects ----
  // Memory of one depth, used again and again: only one member at a time is looked at there.
  struct Level {
    std::vector<Cell> cells;
    std::vector<dom::object::iterator> begin, at, end;
    std::vector<size_t> columns;   // of these iterators
    std::vector<uint32_t> places;  // of an element in each column's array
  };
  Level& level(size_t depth) {
    while (levels_.size() <= depth) levels_.emplace_back().cells.resize(columns_);
    return levels_[depth];
  }

  // What stands below these where nothing is found: in maps and arrays with keys lacking is lacking.
  Cells lacking_below(const Way& way, Cells cells, bool has_keys) {
    const Cells below = level(way.depth + 1).cells;
    for (size_t c = 0; c < columns_; ++c) {
      const Has has = cells[c].has;
      const Has unmentioned = table_.columns[c].kind == BodyKind::Partial ? Has::Unknown : Has::LeftOut;
      below[c].has = has != Has::Value ? has : has_keys ? Has::Absent : unmentioned;
    }
    return below;
  }

  void object(const Way& way, const BodyPlace& place, Cells cells) {
    if (!place.is_map()) empty_objects(way, place, cells);
    const bool resource = !place.is_free_form() && (place.is_top() || has_properties(cells));
    const Members members{way, place, cells, resource};
    if (!in_step(members)) in_order(members);
  }

  struct Members {
    const Way& way;
    const BodyPlace& place;
    Cells cells;
    bool resource;  // its id, name and type are said by its place
  };

  static bool is_identity(std::string_view name) {
    return equal_ignoring_case(name, "id") || equal_ignoring_case(name, "name") || equal_ignoring_case(name, "type");
  }

  bool has_properties(Cells cells) const {
    return std::any_of(cells.begin(), cells.end(), [](const Cell& cell) {
      dom::object object;
      dom::element properties;
      return cell.has == Has::Value && !cell.value.get(object) && !object.at_key("properties").get(properties);
    });
  }

  // Where all have the same names in the same order nothing needs to be sorted: bodies of one provider mostly do. Ids may be
  // spelled in several ways.
  bool in_step(const Members& members) {
    Level& here = level(members.way.depth);
    here.begin.clear();
    here.end.clear();
    here.columns.clear();
    for (size_t c = 0; c < columns_; ++c) {
      if (members.cells[c].has != Has::Value) continue;
      const dom::object object = members.cells[c].value;
      here.begin.push_back(object.begin());
      here.end.push_back(object.end());
      here.columns.push_back(c);
    }
    const size_t count = here.columns.size();
    const auto at_end = [&](size_t i) { return !(here.at[i] != here.end[i]); };
    const auto forward = [&] {
      for (auto& at : here.at) ++at;
    };
    for (here.at = here.begin; !at_end(0); forward()) {
      if (is_id(here.at[0].key())) return false;
      for (size_t i = 1; i < count; ++i) {
        if (at_end(i) || here.at[i].key() != here.at[0].key()) return false;
      }
    }
    for (size_t i = 1; i < count; ++i) {
      if (!at_end(i)) return false;
    }
    for (here.at = here.begin; !at_end(0); forward()) {
      const Cells below = lacking_below(members.way, members.cells, members.place.is_map());
      for (size_t i = 0; i < count; ++i) below[here.columns[i]] = {Has::Value, here.at[i].value()};
      member(members, here.at[0].key(), below);
    }
    return true;
  }

  void in_order(const Members& members) {
    struct Named {
      std::string_view name;
      size_t column;
      dom::element value;
    };
    std::vector<Named> all;
    for (size_t c = 0; c < columns_; ++c) {
      if (members.cells[c].has != Has::Value) continue;
      for (const JsonMember one : dom::object(members.cells[c].value)) all.push_back({one.key, c, one.value});
    }
    std::sort(all.begin(), all.end(), [](const Named& a, const Named& b) {
      const int order = compare_names(a.name, b.name);
      return order != 0 ? order < 0 : a.column < b.column;
    });
    for (auto at = all.begin(); at != all.end();) {
      const auto name = at->name;
      const Cells below = lacking_below(members.way, members.cells, members.place.is_map());
      for (; at != all.end() && is_same_name(at->name, name); ++at) {
        if (below[at->column].has == Has::Value) table_.complete = false;  // one id, spelled in two ways
        below[at->column] = {Has::Value, at->value};
      }
      member(members, name, below);
    }
  }

  void member(const Members& members, std::string_view name, Cells cells) {
    const auto is_name = [&](std::string_view part) { return equal_ignoring_case(part, name); };
    const ArrayKey* key = members.way.key;
    const BodyPlace place = members.place.member(name);
    const Way way{.above = &members.way, .name = name, .depth = members.way.depth + 1};
    if (key != nullptr && std::any_of(key->begin(), key->end(), is_name)) return spelling(way, place, cells);
    if (place.read_only()) return;
    if (members.resource && is_identity(name)) return identity(way, place, members.cells, cells);
    value(way, place, cells, members.place.is_map() ? Stands::InMap : Stands::AsMember);
  }

  // Of a key, which is equal, or it were another element.
  void spelling(const Way& way, const BodyPlace& place, Cells cells) {
    const auto same = [&](size_t a, size_t b) { return same_plain_value(cells[a].value, cells[b].value, place); };
    if (const size_t row = leaf(way, RowKind::Scalar, cells, same, false); row != kNoRow) table_.rows[row].is_spelling = true;
  }

  void identity(const Way& way, const BodyPlace& place, Cells has_resource, Cells cells) {
    for (size_t c = 0; c < columns_; ++c) {
      set_presence(cells[c], place, Stands::AsMember);
      // Where its resource stands it is as it should be; where that is gone, so is this.
      if (has_nothing(cells[c].has) && has_resource[c].has == Has::Value) cells[c].has = Has::Unknown;
    }
    const auto same = [&](size_t a, size_t b) {
      std::string_view text_a, text_b;
      if (cells[a].value.get(text_a) || cells[b].value.get(text_b))
        return canonical_value(cells[a].value, place) == canonical_value(cells[b].value, place);
      return equal_ignoring_case(text_a, text_b);
    };
    if (const size_t row = leaf(way, RowKind::Scalar, cells, same, false); row != kNoRow) table_.rows[row].is_identity = true;
  }

  // An object without members says that it is there, to those that lack it.
  void empty_objects(const Way& way, const BodyPlace& place, Cells cells) {
    const auto has_members = [&](const Cell& cell) {
      const dom::object object = cell.value;
      return std::any_of(object.begin(), object.end(),
                         [&](const JsonMember& m) { return !m.value.is_null() && !place.member(m.key).read_only(); });
    };
    const auto begin = cells.begin(), end = cells.end();
    if (std::none_of(begin, end, [](const Cell& cell) { return has_nothing(cell.has); })) return;
    if (std::all_of(begin, end, [&](const Cell& cell) { return cell.has != Has::Value || has_members(cell); })) return;
    leaf(
        way, RowKind::Scalar, cells, [](size_t, size_t) { return true; }, false);
  }

  // ---- arrays ----

  void array(const Way& way, const BodyPlace& place, Cells cells) {
    const ArrayFact* fact = place.array();
    const bool may_have_keys = fact == nullptr || fact->kind == ArrayKind::Keyed || fact->kind == ArrayKind::Ordered;
    std::vector<ColumnArray> arrays;
    for (size_t c = 0; c < columns_ && may_have_keys; ++c) {
      if (cells[c].has == Has::Value) arrays.push_back({static_cast<uint32_t>(c), dom::array(cells[c].value)});
    }
    const auto keyed = may_have_keys ? keyed_elements(arrays, way.name, place) : std::nullopt;
    if (!keyed) return plain_leaf(way, place, cells, RowKind::Scalar);
    if (keyed->is_ordered) order(way, *keyed, cells);
    const auto& elements = keyed->elements;
    for (auto at = elements.begin(); at != elements.end();) {
      const auto& first = *at;
      const Cells below = lacking_below(way, cells, true);
      auto& places = level(way.depth + 1).places;
      places.assign(columns_, DifferenceTable::kNowhere);
      for (; at != elements.end() && at->key == first.key; ++at) {
        below[at->column] = {Has::Value, at->value};
        places[at->column] = at->index;
      }
      const Way element{.above = &way, .key = &keyed->key, .element = &first.value, .at = &places, .depth = way.depth + 1};
      value(element, place.element(), below, Stands::AsElement);
    }
  }

  // Which element comes after which is a value of its own.
  void order(const Way& way, const KeyedElements& keyed, Cells cells) {
    std::vector<std::vector<uint32_t>> numbers(columns_);  // of each column's elements, the same for the same key
    uint32_t number = 0;
    const KeyedElement* before = nullptr;
    for (const KeyedElement& one : keyed.elements) {
      if (before != nullptr && before->key != one.key) ++number;
      before = &one;
      auto& mine = numbers[one.column];
      if (mine.size() <= one.index) mine.resize(one.index + 1);
      mine[one.index] = number;
    }
    const size_t row = leaf(
        way, RowKind::Array, cells, [&](size_t a, size_t b) { return numbers[a] == numbers[b]; }, false);
    if (row == kNoRow) return;
    table_.rows[row].order = table_.orders.size();
    std::move(numbers.begin(), numbers.end(), std::back_inserter(table_.orders));
  }

  // ---- leaves ----

  void plain_leaf(const Way& way, const BodyPlace& place, Cells cells, RowKind kind) {
    std::vector<std::string> texts;
    const auto structured = [](const Cell& cell) {
      return cell.has == Has::Value && (is_object(cell.value) || is_array(cell.value));
    };
    if (std::any_of(cells.begin(), cells.end(), structured)) {
      if (kind == RowKind::Scalar) kind = RowKind::Array;
      texts.resize(columns_);
      for (size_t c = 0; c < columns_; ++c) {
        if (cells[c].has == Has::Value) texts[c] = canonical_value(cells[c].value, place);
      }
    }
    const auto same = [&](size_t a, size_t b) {
      return texts.empty() ? same_plain_value(cells[a].value, cells[b].value, place) : texts[a] == texts[b];
    };
    const size_t row = leaf(way, kind, cells, same, place.write_only());
    if (row == kNoRow || kind != RowKind::Array) return;
    table_.rows[row].array = table_.array_places.size();
    table_.array_places.push_back(place);
    for (size_t c = 0; c < columns_; ++c) table_.array_values.push_back(cells[c].value);
  }

  // Adds a row if not all are the same; a secret has one also where some have it and of others nobody knows.
  template <class Same>
  size_t leaf(const Way& way, RowKind kind, Cells cells, Same same, bool is_secret) {
    std::array<uint32_t, Difference::kBodiesMax> codes, first;  // of each value the column that had it first
    uint32_t values = 0;
    bool absent = false, unknown = false;
    for (size_t c = 0; c < columns_; ++c) {
      codes[c] = code_of(cells[c].has);
      absent |= has_nothing(cells[c].has);
      unknown |= cells[c].has == Has::Unknown;
      if (cells[c].has != Has::Value) continue;
      uint32_t known = 0;
      while (known < values && !same(c, first[known])) ++known;
      if (known == values) first[values++] = static_cast<uint32_t>(c);
      codes[c] = row_value::kFirst + known;
    }
    if (values + (absent ? 1 : 0) < 2 && !(is_secret && unknown && values > 0)) return kNoRow;
    const size_t row = add_row(kind, way);
    if (row != kNoRow) std::copy_n(codes.begin(), columns_, table_.values.end() - static_cast<std::ptrdiff_t>(columns_));
    return row;
  }

  static uint32_t code_of(Has has) {
    if (has == Has::Value) return row_value::kFirst;
    if (has == Has::Unknown) return row_value::kUnknown;
    return has == Has::LeftOut ? row_value::kLeftOut : row_value::kAbsent;
  }

  static constexpr size_t kNoRow = ~size_t{0};

  // With no value for any column yet.
  size_t add_row(RowKind kind, const Way& way) {
    if (table_.rows.size() == DifferenceTable::kRowsMax) table_.complete = false;
    if (!table_.complete) return kNoRow;
    const size_t row = table_.rows.size();
    table_.rows.push_back({.kind = kind, .step = step_of(way), .end = row + 1});
    table_.values.resize(table_.values.size() + columns_, row_value::kAbsent);
    return row;
  }

  uint32_t step_of(const Way& way) {
    if (way.step != Way::kNotKept) return way.step;
    const uint32_t above = step_of(*way.above);
    auto token = way.key != nullptr ? key_text(*way.key, *way.element) : std::string(way.name);
    way.step = static_cast<uint32_t>(table_.steps.size());
    DifferenceTable::Step& step = table_.steps.emplace_back();
    step.above = above;
    step.token = std::move(token);
    const auto& cells = level(way.depth).cells;
    for (size_t c = 0; c < columns_; ++c) step.has[c] = cells[c].has == Has::Value;
    if (way.at != nullptr) {
      step.element = table_.element_at.size();
      table_.element_at.insert(table_.element_at.end(), way.at->begin(), way.at->end());
    }
    return way.step;
  }

  DifferenceTable& table_;
  const size_t columns_;
  std::deque<Level> levels_;  // by depth
};

}  // namespace

void find_rows(DifferenceTable& table, const BodyFacts& facts) { Walk(table).resource(facts.top()); }

}  // namespace armgate::arm
