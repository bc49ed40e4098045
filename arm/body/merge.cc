#include "arm/body/merge.h"

#include <algorithm>
#include <array>

#include "arm/body/difference_table.h"
#include "arm/body/merge_checks.h"
#include "arm/body/merge_compose.h"
#include "base/mutant.h"

namespace armgate::arm {
namespace {

// The bodies of a merge, by their place in its comparison. The bases come after them.
constexpr size_t kWanted = 0, kThere = 1;

Merge conflict(MergePlaces in_the_way) {
  Merge merge;
  merge.kind = Merge::Kind::Conflict;
  merge.in_the_way = std::move(in_the_way);
  return merge;
}

Merge impossible(MergeObstacle obstacle, MergePlaces in_the_way = {}) {
  Merge merge;
  merge.obstacle = obstacle;
  merge.in_the_way = std::move(in_the_way);
  return merge;
}

void add_place(MergePlaces& places, const Difference& difference, size_t row) {
  if (places.count++ < Difference::kPointersMax) places.pointers.push_back(difference.pointer(row));
}

// With the result, if there is one, behind the bases. Of what was sent as much as can be compared.
Difference compare(const MergeBodies& bodies, const BodyFacts& facts, const std::string* result = nullptr) {
  std::vector<ComparedBody> compared{bodies.wanted, bodies.there};
  const size_t first = compared.size();
  for (const MergeBase& base : bodies.bases) compared.push_back(base.body);
  if (result != nullptr) compared.push_back({*result});
  std::vector<OwnWrite> own;
  for (size_t i = 0; i < bodies.bases.size() && compared.size() < Difference::kBodiesMax; ++i) {
    if (bodies.bases[i].sent.empty()) continue;
    own.push_back({compared.size(), first + i});
    compared.push_back({bodies.bases[i].sent});
  }
  return Difference(compared, facts, own);
}

// What becomes of one place.
struct Decision {
  bool takes = false;  // the write's value
  bool keeps = false;  // what others made of it
  bool in_conflict = false;
  bool both_added = false;  // the same
};

Decision decide(const DifferenceTable& table, size_t row, size_t base, size_t wanted, size_t there) {
  const Changes changes = changes_at(table, row, base, wanted, there);
  const bool lacks = is_absent(table.value(row, wanted));
  Decision decision{changes.by_write && !changes.by_others, changes.by_others && !changes.by_write, changes.in_conflict,
                    changes.agree && !lacks};
  if (is_mutant(Mutant::MergeDropsRemoval) && decision.takes && lacks) decision.takes = false;
  const bool others_removed = is_named(table.rows[row]) && decision.keeps && is_absent(table.value(row, there));
  if (is_mutant(Mutant::MergeResurrectsElement) && others_removed && !lacks) return {.takes = true};
  return decision;
}

// Where a row stands, as far as it matters to what may be merged.
struct Where {
  bool in_map = false;
  bool in_array = false;
};

// From the top down.
std::vector<const DifferenceTable::Step*> way_to(const DifferenceTable& table, uint32_t step) {
  std::vector<const DifferenceTable::Step*> way;
  for (; step != 0; step = table.steps[step].above) way.push_back(&table.steps[step]);
  std::ranges::reverse(way);
  return way;
}

BodyPlace place_at(const DifferenceTable::Step& step, const BodyPlace& above) {
  return step.is_element() ? above.element() : above.member(step.token);
}

Where where(const DifferenceTable& table, const DifferenceTable::Row& row, const BodyFacts& facts) {
  Where found{.in_array = row.kind == RowKind::Array};
  BodyPlace place = facts.top();
  for (const DifferenceTable::Step* step : way_to(table, row.step)) {
    found.in_map |= place.is_in_labels();
    found.in_array |= step->is_element();
    place = place_at(*step, place);
  }
  return found;
}

// Whether the row stands in an object that this side has taken away as a whole. Not of a map, whose members are each for
// itself, nor of an array with keys, whose elements are.
bool is_in_removed(const DifferenceTable& table, size_t row, const BodyFacts& facts, size_t base, size_t side) {
  const auto way = way_to(table, table.rows[row].step);
  BodyPlace place = facts.top();
  for (size_t i = 0; i + 1 < way.size(); ++i) {
    place = place_at(*way[i], place);
    if (!way[i]->has[base] || place.is_free_form()) return false;
    if (!way[i]->has[side]) return !way[i]->is_element() && !way[i + 1]->is_element() && !place.is_map();
  }
  return false;
}

class Merging {
 public:
  Merging(const MergeBodies& bodies, const BodyFacts& facts, MergeScope scope)
      : bodies_(bodies), facts_(facts), scope_(scope), difference_(compare(bodies, facts)), table_(difference_.table()) {}

  Merge run() {
    for (size_t body = 0; body < base_at(bodies_.bases.size()); ++body) {
      if (!difference_.readable(body) || !is_object(root(body))) return impossible(MergeObstacle::Unreadable);
    }
    if (has_secret(root(kWanted), facts_.top()) || hides_secret(root(kThere), facts_.top())) {
      if (!is_mutant(Mutant::MergeLosesSecret)) return impossible(MergeObstacle::Secret);
    }
    Merge agreed;
    for (size_t i = 0; i < bodies_.bases.size(); ++i) {
      Merge one = merge_from(base_at(i));
      if (one.kind != Merge::Kind::Merged) return one;
      if (i > 0 && one.body != agreed.body && !is_mutant(Mutant::MergeBaseGuessed)) return impossible(MergeObstacle::Ambiguous);
      if (i == 0) agreed = std::move(one);
    }
    if (agreed.taken.count == 0) return agreed;  // what is there
    Merge early;
    return check_result(agreed.body, early) ? agreed : early;
  }

 private:
  static size_t base_at(size_t base) { return kThere + 1 + base; }
  size_t column(size_t body) const { return table_.column_of[body]; }
  const simdjson::dom::element& root(size_t body) const { return table_.columns[column(body)].document->root(); }
  MergeSide side(size_t body, const ComparedBody& compared) const { return {column(body), compared.json}; }

  // Not checked yet.
  Merge merge_from(size_t base) const {
    MergeEdits edits(table_.steps.size());
    Merge merged;
    if (Merge early; !decide_rows(base, edits, merged, early)) return early;
    merged.kind = Merge::Kind::Merged;
    if (merged.taken.count == 0) {
      merged.body = bodies_.there.json;
      return merged;
    }
    auto body = compose(table_, facts_, edits, side(kWanted, bodies_.wanted), side(kThere, bodies_.there));
    if (!body) return impossible(MergeObstacle::SameName);
    merged.body = *std::move(body);
    return merged;
  }

  // False: `early` is the answer.
  bool decide_rows(size_t base, MergeEdits& edits, Merge& merged, Merge& early) const {
    MergePlaces in_conflict, in_the_way, both_added;
    MergeObstacle obstacle = MergeObstacle::None;
    const size_t from = column(base), wanted = column(kWanted), there = column(kThere);
    all_rows(table_, std::array{from, wanted, there}, 0, table_.rows.size(), [&](size_t row) {
      const Decision decision = decide(table_, row, from, wanted, there);
      if (decision.in_conflict || is_put_into_removed(base, row, decision)) add_place(in_conflict, difference_, row);
      if (decision.both_added) add_place(both_added, difference_, row);
      if (decision.keeps) add_place(merged.kept, difference_, row);
      if (decision.takes) {
        edits.take(table_, row);
        add_place(merged.taken, difference_, row);
      }
      const MergeObstacle found = obstacle_in(base, row, decision);
      if (found == MergeObstacle::None || obstacle != MergeObstacle::None) return true;
      obstacle = found;
      add_place(in_the_way, difference_, row);
      return true;
    });
    if (obstacle == MergeObstacle::None && merged.taken.count == 0 && both_added.count > 0) {
      obstacle = MergeObstacle::AllThere;
      in_the_way = std::move(both_added);
    }
    if (in_conflict.count == 0 && obstacle == MergeObstacle::None) return true;
    early = in_conflict.count > 0 ? conflict(std::move(in_conflict)) : impossible(obstacle, std::move(in_the_way));
    return false;
  }

  // One side puts something into an object that the other takes away.
  bool is_put_into_removed(size_t base, size_t row, const Decision& decision) const {
    const auto is_in = [&](size_t body) { return is_in_removed(table_, row, facts_, column(base), column(body)); };
    if (decision.keeps) return is_present(table_.value(row, column(kThere))) && is_in(kWanted);
    return decision.takes && is_present(table_.value(row, column(kWanted))) && is_in(kThere);
  }

  // Both sides added the element, each with its own spelling.
  bool is_spelled_apart(size_t row) const {
    for (size_t below = row + 1; below < table_.rows[row].end; ++below) {
      if (table_.rows[below].is_spelling && table_.value(below, column(kWanted)) != table_.value(below, column(kThere)))
        return true;
    }
    return false;
  }

  bool is_respelled(size_t base, size_t row) const {
    const uint32_t before = table_.value(row, column(base)), asked = table_.value(row, column(kWanted));
    const bool is_elsewhere = is_present(before) || is_present(table_.value(row, column(kThere)));
    return is_present(asked) && asked != before && is_elsewhere;
  }

  MergeObstacle obstacle_in(size_t base, size_t row, const Decision& decision) const {
    const uint32_t asked = table_.value(row, column(kWanted));
    const bool named = is_named(table_.rows[row]);
    if (table_.rows[row].is_spelling) return is_respelled(base, row) ? MergeObstacle::Spelling : MergeObstacle::None;
    if (decision.both_added && named && is_spelled_apart(row)) return MergeObstacle::Spelling;
    if (decision.takes) {
      if (scope_ != MergeScope::All) {
        const Where at = where(table_, table_.rows[row], facts_);
        if (scope_ == MergeScope::Maps ? !at.in_map : at.in_array) return MergeObstacle::Scope;
      }
      if (named && asked == row_value::kLeftOut) return MergeObstacle::LeftOut;
    }
    // What was sent, is sent again, and is not shown: somebody removed it, or it is never shown.
    const bool was_sent = table_.columns[column(base)].kind == BodyKind::Partial && !named && is_present(asked);
    const bool is_gone = is_absent(table_.value(row, column(kThere)));
    return was_sent && is_gone && decision.keeps ? MergeObstacle::Secret : MergeObstacle::None;
  }

  // The same once more, of what has come of it: the write's where it takes something, else what is there.
  bool check_result(const std::string& body, Merge& early) const {
    const Difference difference = compare(bodies_, facts_, &body);
    const DifferenceTable& table = difference.table();
    const size_t at = base_at(bodies_.bases.size());
    if (!difference.readable(at)) {
      early = impossible(MergeObstacle::Unreadable);
      return false;
    }
    const size_t result = table.column_of[at], wanted = table.column_of[kWanted], there = table.column_of[kThere];
    MergePlaces wrong;
    const size_t bases = is_mutant(Mutant::MergeBaseGuessed) ? 1 : bodies_.bases.size();
    for (size_t i = 0; i < bases; ++i) {
      const size_t base = table.column_of[base_at(i)];
      const bool is_right = all_rows(table, std::array{base, wanted, there, result}, 0, table.rows.size(), [&](size_t row) {
        const Decision decision = decide(table, row, base, wanted, there);
        if (!differs_at(table, row, result, decision.takes ? wanted : there)) return true;
        add_place(wrong, difference, row);
        return false;
      });
      if (is_right) continue;
      early = impossible(MergeObstacle::Contradiction, std::move(wrong));
      return false;
    }
    auto shared = twins(table.columns[result].document->root(), {&root(kWanted), &root(kThere)}, facts_);
    if (shared.empty()) return true;
    early = conflict({shared.size(), std::move(shared)});
    return false;
  }

  const MergeBodies& bodies_;
  const BodyFacts& facts_;
  const MergeScope scope_;
  const Difference difference_;
  const DifferenceTable& table_;
};

}  // namespace

bool carries_secret(std::string_view json, const BodyFacts& facts) {
  const JsonDocument document(json, Difference::kNodesMax);
  return document.usable() && has_secret(document.root(), facts.top());
}

Merge merge(const MergeBodies& bodies, const BodyFacts& facts, MergeScope scope) {
  const bool is_whole = bodies.wanted.kind == BodyKind::Whole && bodies.there.kind == BodyKind::Whole;
  const auto is_absent_base = [](const MergeBase& base) { return base.body.kind == BodyKind::Absent; };
  if (!is_whole || bodies.bases.empty() || std::ranges::any_of(bodies.bases, is_absent_base))
    return impossible(MergeObstacle::Incomplete);
  return Merging(bodies, facts, scope).run();
}

std::string_view to_text(MergeObstacle obstacle) {
  switch (obstacle) {
    case MergeObstacle::None: break;
    case MergeObstacle::Unreadable: return "unreadable";
    case MergeObstacle::Incomplete: return "incomplete";
    case MergeObstacle::Secret: return "secret";
    case MergeObstacle::Scope: return "scope";
    case MergeObstacle::LeftOut: return "left-out";
    case MergeObstacle::AllThere: return "all-there";
    case MergeObstacle::SameName: return "same-name";
    case MergeObstacle::Contradiction: return "contradiction";
    case MergeObstacle::Ambiguous: return "ambiguous";
    case MergeObstacle::Spelling: return "spelling";
  }
  return "none";
}

}  // namespace armgate::arm
