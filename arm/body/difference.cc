#include "arm/body/difference.h"

#include <algorithm>
#include <array>

#include "arm/body/canonical_value.h"
#include "arm/body/difference_table.h"
#include "base/json_pointer.h"
#include "base/mutant.h"

namespace armgate::arm {
namespace {

namespace dom = simdjson::dom;

bool differs(uint32_t a, uint32_t b) { return is_known(a) && is_known(b) && a != b && !(is_absent(a) && is_absent(b)); }

// The service added it to a write that left it out. With `there`: and that is what stands there.
bool is_filled_in(const DifferenceTable& table, size_t row, std::optional<size_t> there = {}) {
  if (is_named(table.rows[row])) return false;
  return std::any_of(table.own.begin(), table.own.end(), [&](const OwnWrite& own) {
    const uint32_t sent = table.value(row, own.sent), answer = table.value(row, own.answer);
    const bool left_out = sent == row_value::kLeftOut || sent == row_value::kUnknown;
    return left_out && is_present(answer) && (!there || table.value(row, *there) == answer);
  });
}

std::string pointer_to(const DifferenceTable& table, uint32_t step) {
  if (step == 0) return {};
  const auto& here = table.steps[step];
  return pointer_to(table, here.above) + "/" + pointer_token(here.token);
}

// The base says nothing: what stands there was not shown. It may stay where the write leaves it out, and may not be
// overwritten.
Changes changes_without_base(const DifferenceTable& table, size_t row, size_t wanted, size_t there) {
  Changes changes;
  if (!is_present(table.value(row, there))) {
    changes.by_write = is_present(table.value(row, wanted)) && is_absent(table.value(row, there));
    return changes;
  }
  changes.unseen = table.value(row, wanted) == row_value::kLeftOut;
  const bool overwritten = !changes.unseen && differs_at(table, row, wanted, there);
  changes.by_write = changes.by_others = changes.in_conflict = overwritten;
  return changes;
}

}  // namespace

bool differs_at(const DifferenceTable& table, size_t row, size_t a, size_t b) {
  if (table.rows[row].is_spelling) return false;
  if (differs(table.value(row, a), table.value(row, b))) return true;
  if (table.rows[row].kind != RowKind::Whole || !is_present(table.value(row, a)) || !is_present(table.value(row, b)))
    return false;
  const std::array<size_t, 2> both{a, b};
  return !all_rows(table, both, row + 1, table.rows[row].end, [&](size_t below) { return !differs_at(table, below, a, b); });
}

bool write_changes(const DifferenceTable& table, size_t row, size_t base, size_t wanted) {
  if (!differs_at(table, row, base, wanted)) return false;
  return table.value(row, wanted) != row_value::kLeftOut || !is_filled_in(table, row);
}

Changes changes_at(const DifferenceTable& table, size_t row, size_t base, size_t wanted, size_t there) {
  const uint32_t before = table.value(row, base);
  if (!is_known(before)) return changes_without_base(table, row, wanted, there);
  const bool filled_in = is_absent(before) && is_filled_in(table, row, there);
  const bool differ = differs_at(table, row, wanted, there);
  Changes changes;
  changes.by_write = write_changes(table, row, base, wanted);
  // What the write does not mention stays whatever others made of it.
  changes.by_others = !filled_in && is_known(table.value(row, wanted)) && differs_at(table, row, base, there);
  // Equal new values are no agreement: two that each count 3 -> 4 have not agreed. Adding or removing the same is.
  const bool is_whole = is_named(table.rows[row]) && (is_absent(before) || is_absent(table.value(row, wanted)));
  const bool is_same_whole = !differ && (is_whole || is_mutant(Mutant::MergeAgreesOnValues));
  changes.agree = changes.by_write && changes.by_others && is_same_whole;
  changes.in_conflict = changes.by_write && changes.by_others && !is_same_whole;
  changes.lost_if_sent = changes.by_others && differ;
  return changes;
}

namespace {

// True if `state` has all of `wanted`: of objects what is mentioned, of maps and arrays everything.
bool covers(const dom::element& state, const dom::element& wanted, const BodyPlace& place) {
  if (is_object(state) && is_object(wanted)) {
    const auto there = writable_members(state, place), asked = writable_members(wanted, place);  // both in one order
    if (place.is_map() && there.size() != asked.size()) return false;
    auto at = there.begin();
    return std::all_of(asked.begin(), asked.end(), [&](const JsonMember& member) {
      while (at != there.end() && compare_names(at->key, member.key) < 0) ++at;
      const BodyPlace below = place.member(member.key);
      const bool lacks = at == there.end() || !is_same_name(at->key, member.key);
      return lacks ? counts_as_absent(member.value, below) : covers(at->value, member.value, below);
    });
  }
  if (is_array(state) && is_array(wanted)) {
    const dom::array there = state, asked = wanted;
    const auto covers_one = [&](const dom::element& a, const dom::element& b) { return covers(a, b, place.element()); };
    return std::equal(there.begin(), there.end(), asked.begin(), asked.end(), covers_one);
  }
  return same_plain_value(state, wanted, place);
}

// The newest state is the service's answer to a write of this client's, which sent the same value here and did not get it: the
// service decides on this member, so that to send it once more says nothing of what the write was built from.
bool was_not_taken(const DifferenceTable& table, size_t row, size_t wanted, size_t newest) {
  return std::ranges::any_of(table.own, [&](const OwnWrite& own) {
    const bool are_known = is_known(table.value(row, own.sent)) && is_known(table.value(row, own.answer));
    return own.answer == newest && are_known && differs_at(table, row, own.sent, newest) &&
           !differs_at(table, row, own.sent, wanted);
  });
}

// The write has what an old state had where the newest one has something else.
bool has_old_value(const DifferenceTable& table, size_t row, size_t wanted, size_t old, size_t newest) {
  const uint32_t asked = table.value(row, wanted), before = table.value(row, old);
  if (!is_known(asked) || !is_known(before)) return false;
  if (!differs_at(table, row, old, newest) || differs_at(table, row, wanted, old)) return false;
  if (is_present(asked) && was_not_taken(table, row, wanted, newest)) return false;
  return !is_absent(asked) || !is_filled_in(table, row);
}

// What the write shares with an old state where the newest one has something else.
struct StaleSigns {
  bool has_old_value = false;   // a value of that state
  bool lacks_as_old = false;    // something that neither has
  bool knows_of_newer = false;  // what its client has added since, or not what its client has removed since

  // What a write lacks may be its own removal. A write that has taken over what its client did later was not built on the old
  // state.
  bool looks_stale() const { return has_old_value || (lacks_as_old && !knows_of_newer); }
};

// `sent`: what its client has sent since the old state.
StaleSigns stale_signs(const DifferenceTable& table, size_t wanted, size_t old, size_t newest, std::span<const size_t> sent) {
  StaleSigns found;
  all_rows(table, std::array<size_t, 3>{wanted, old, newest}, 0, table.rows.size(), [&](size_t row) {
    const uint32_t asked = table.value(row, wanted), before = table.value(row, old), now = table.value(row, newest);
    const bool is_old = has_old_value(table, row, wanted, old, newest);
    found.has_old_value |= is_old && is_present(asked);
    found.lacks_as_old |= is_old && is_absent(asked);
    // Not by its value: that two set the same one may be two that count.
    const bool came_or_went =
        is_named(table.rows[row]) && ((is_absent(before) && is_present(now)) || (is_present(before) && is_absent(now)));
    const auto is_newest = [&](size_t body) {
      const uint32_t value = table.value(row, body);
      return is_known(value) && value != row_value::kLeftOut && !differs_at(table, row, body, newest);
    };
    found.knows_of_newer |= came_or_went && is_newest(wanted) && std::ranges::any_of(sent, is_newest);
    return !found.has_old_value;
  });
  return found;
}

// The resource does not exist.
bool is_missing(const DifferenceTable& table, size_t column) { return table.columns[column].kind == BodyKind::Absent; }

// The columns of bodies that are all of an existing resource and can be read; nothing: one is not.
template <size_t N>
std::optional<std::array<size_t, N>> columns_of_states(const Difference& difference, std::array<size_t, N> bodies) {
  const DifferenceTable& table = difference.table();
  for (size_t& body : bodies) {
    if (!difference.readable(body) || is_missing(table, table.column_of[body])) return std::nullopt;
    body = table.column_of[body];
  }
  return bodies;
}

bool is_satisfied_at(const DifferenceTable& table, size_t row, size_t wanted, size_t state) {
  const uint32_t asked = table.value(row, wanted), there = table.value(row, state);
  if (asked == row_value::kLeftOut || asked == row_value::kUnknown) return true;
  if (!is_known(there)) return table.rows[row].is_identity;
  if (!differs_at(table, row, wanted, state)) return true;
  const size_t array = table.rows[row].array;
  if (array == DifferenceTable::kNoArray || !is_present(asked) || !is_present(there)) return false;
  const auto* values = &table.array_values[array * table.columns.size()];
  return covers(values[state], values[wanted], table.array_places[array]);
}

}  // namespace

Difference::Difference(std::span<const ComparedBody> bodies, const BodyFacts& facts, std::span<const OwnWrite> own) {
  auto table = std::make_unique<DifferenceTable>();
  for (size_t i = 0; i < bodies.size() && bodies.size() <= kBodiesMax; ++i) {
    const auto same_bytes = [&](const ComparedBody& other) {
      return other.kind != BodyKind::Absent && other.json == bodies[i].json;
    };
    const auto earlier = bodies.first(i);
    const auto twin = std::find_if(earlier.begin(), earlier.end(), same_bytes);
    DifferenceTable::Column column{bodies[i].kind, nullptr};
    if (column.kind != BodyKind::Absent) {
      column.document = twin == earlier.end()
                            ? std::make_shared<const JsonDocument>(bodies[i].json, kNodesMax)
                            : table->columns[table->column_of[static_cast<size_t>(twin - earlier.begin())]].document;
    }
    const auto known = std::find_if(table->columns.begin(), table->columns.end(), [&](const DifferenceTable::Column& other) {
      return other.kind == column.kind && other.document == column.document;
    });
    table->column_of.push_back(static_cast<uint32_t>(known - table->columns.begin()));
    if (known == table->columns.end()) table->columns.push_back(std::move(column));
  }
  if (table->column_of.empty()) table->complete = false;
  const auto has_body = [&](size_t i) { return i < table->column_of.size() && table->columns[table->column_of[i]].walked(); };
  for (const OwnWrite& write : own) {
    if (has_body(write.sent) && has_body(write.answer)) {
      table->own.push_back({table->column_of[write.sent], table->column_of[write.answer]});
    }
  }
  if (table->complete) find_rows(*table, facts);
  table_ = std::move(table);
}

Difference::~Difference() = default;
Difference::Difference(Difference&&) noexcept = default;
Difference& Difference::operator=(Difference&&) noexcept = default;

bool Difference::readable(size_t body) const {
  return table_->complete && body < table_->column_of.size() && table_->columns[table_->column_of[body]].readable();
}

bool Difference::same(size_t a, size_t b) const {
  if (!readable(a) || !readable(b)) return false;
  const std::array<size_t, 2> both{table_->column_of[a], table_->column_of[b]};
  if (both[0] == both[1]) return true;
  if (is_missing(*table_, both[0]) || is_missing(*table_, both[1])) return false;
  return all_rows(*table_, both, 0, table_->rows.size(),
                  [&](size_t row) { return !differs_at(*table_, row, both[0], both[1]); });
}

Reconciliation Difference::reconcile(size_t base, size_t wanted, size_t there, size_t most) const {
  Reconciliation result;
  if (!readable(base) || !readable(wanted) || !readable(there)) {
    if (most > 0) result.pointers.emplace_back();
    return result;
  }
  const std::array<size_t, 3> columns{table_->column_of[base], table_->column_of[wanted], table_->column_of[there]};
  const bool was_missing = is_missing(*table_, columns[0]);
  if (was_missing || is_missing(*table_, columns[1]) || is_missing(*table_, columns[2])) {
    if (was_missing && is_missing(*table_, columns[2])) {
      result.resolution = Resolution::Send;
    } else if (most > 0) {
      result.pointers.emplace_back();
    }
    return result;
  }
  bool any_by_write = false, any_lost = false;
  std::vector<size_t> moved, in_conflict;
  all_rows(*table_, columns, 0, table_->rows.size(), [&](size_t row) {
    const Changes changes = changes_at(*table_, row, columns[0], columns[1], columns[2]);
    any_by_write |= changes.by_write;
    any_lost |= changes.lost_if_sent;
    result.unseen |= changes.unseen;
    if (changes.by_others) moved.push_back(row);
    if (changes.in_conflict) in_conflict.push_back(row);
    return true;
  });
  result.changes_nothing = !any_by_write;
  if (moved.empty()) {
    result.resolution = Resolution::Send;
  } else if (any_by_write && in_conflict.empty()) {
    result.resolution = any_lost ? Resolution::Merge : Resolution::Contained;
  }
  for (const size_t row : in_conflict.empty() ? moved : in_conflict) {
    if (result.pointers.size() < most) result.pointers.push_back(pointer(row));
  }
  return result;
}

bool Difference::looks_stale(size_t wanted, std::span<const size_t> olds, size_t newest, std::span<const OwnWrite> own) const {
  if (!readable(wanted) || !readable(newest)) return false;
  const size_t asked = table_->column_of[wanted], shown = table_->column_of[newest];
  if (is_missing(*table_, shown)) return true;
  if (is_missing(*table_, asked)) return false;
  const size_t end = table_->rows.size();
  // Where the newest is partial, what the write asks for may be a change. What it leaves out counts as one, also if the service
  // fills it in: who writes back what it has read leaves out nothing.
  const bool changes_nothing = all_rows(*table_, std::array<size_t, 2>{asked, shown}, 0, end, [&](size_t row) {
    const bool may_change = is_present(table_->value(row, asked)) && !is_known(table_->value(row, shown));
    return !may_change && !differs_at(*table_, row, shown, asked);
  });
  std::vector<size_t> sent;  // since the old state
  const auto add_sent_for = [&](size_t state) {
    for (const OwnWrite& write : own) {
      if (write.answer == state && readable(write.sent)) sent.push_back(table_->column_of[write.sent]);
    }
  };
  const auto is_stale_by = [&](size_t old) {
    if (!readable(old) || is_missing(*table_, table_->column_of[old])) return false;
    const size_t before = table_->column_of[old];
    const bool takes_back = stale_signs(*table_, asked, before, shown, sent).looks_stale();
    if (takes_back || !changes_nothing) return takes_back;
    return !all_rows(*table_, std::array<size_t, 2>{before, shown}, 0, end, [&](size_t row) {
      return table_->rows[row].kind != RowKind::Scalar || !differs_at(*table_, row, before, shown);
    });
  };
  add_sent_for(newest);
  for (const size_t old : olds) {
    if (is_stale_by(old)) return true;
    add_sent_for(old);
  }
  return false;
}

bool Difference::satisfied(size_t wanted, size_t state) const {
  if (!readable(wanted) || !readable(state)) return false;
  const std::array<size_t, 2> both{table_->column_of[wanted], table_->column_of[state]};
  const bool whole = table_->columns[both[1]].kind == BodyKind::Whole && !is_missing(*table_, both[0]);
  return whole && all_rows(*table_, both, 0, table_->rows.size(),
                           [&](size_t row) { return is_satisfied_at(*table_, row, both[0], both[1]); });
}

bool Difference::satisfied_since(size_t wanted, size_t state, size_t before, size_t asked_before) const {
  if (satisfied(wanted, state)) return true;
  const auto columns = columns_of_states(*this, std::array<size_t, 4>{wanted, state, before, asked_before});
  if (!columns) return false;
  // Not a structured binding: clang before version 16 does not let a lambda capture its names.
  const size_t asked = (*columns)[0];
  const size_t there = (*columns)[1];
  const size_t former = (*columns)[2];
  const size_t asked_then = (*columns)[3];
  return all_rows(*table_, *columns, 0, table_->rows.size(), [&](size_t row) {
    if (is_satisfied_at(*table_, row, asked, there)) return true;
    return !differs_at(*table_, row, asked, former) && !is_satisfied_at(*table_, row, asked_then, former);
  });
}

bool Difference::shows_change_of(size_t wanted, size_t other, size_t base, size_t state) const {
  const auto columns = columns_of_states(*this, std::array<size_t, 4>{wanted, other, base, state});
  if (!columns) return false;
  const bool is_partial = table_->columns[(*columns)[1]].kind == BodyKind::Partial;
  return !all_rows(*table_, *columns, 0, table_->rows.size(), [&](size_t row) {
    const auto value = [&](size_t column) { return table_->value(row, (*columns)[column]); };
    const uint32_t asked = value(0), others = value(1), before = value(2), there = value(3);
    const auto is_asked_for = [](uint32_t v) { return is_known(v) && v != row_value::kLeftOut; };
    const bool is_change = is_asked_for(asked) && is_known(there) && !differs(asked, there) && differs(before, there);
    const bool other_says = is_present(others) || (is_asked_for(others) && !is_partial);
    return !(is_change && other_says && differs(others, there));
  });
}

std::vector<std::string> Difference::changed(size_t before, size_t after, size_t most) const {
  std::vector<std::string> pointers;
  if (most == 0) return pointers;
  if (!readable(before) || !readable(after)) return {std::string()};
  const std::array<size_t, 2> both{table_->column_of[before], table_->column_of[after]};
  if (is_missing(*table_, both[0]) != is_missing(*table_, both[1])) return {std::string()};
  all_rows(*table_, both, 0, table_->rows.size(), [&](size_t row) {
    if (differs_at(*table_, row, both[0], both[1])) pointers.push_back(pointer(row));
    return pointers.size() < most;
  });
  return pointers;
}

size_t Difference::rows() const { return table_->rows.size(); }
RowKind Difference::kind(size_t row) const { return table_->rows[row].kind; }
size_t Difference::end(size_t row) const { return table_->rows[row].end; }
uint32_t Difference::value(size_t row, size_t body) const { return table_->value(row, table_->column_of[body]); }
std::string Difference::pointer(size_t row) const { return pointer_to(*table_, table_->rows[row].step); }

}  // namespace armgate::arm
