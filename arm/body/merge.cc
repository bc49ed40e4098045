#include "arm/body/merge.h"

#include <algorithm>
#include <array>

#include "arm/body/difference_table.h"
#include "arm/body/merge_checks.h"
#include "arm/body/merge_compose.h"
#include "base/mutant.h"

namespace armgate::arm {
namespace {

// The bodies of a merge, by their place in its comparison.
constexpr size_t kBase = 0, kWanted = 1, kThere = 2, kResult = 3;

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

std::vector<ComparedBody> compared_bodies(const MergeBodies& bodies) { return {bodies.base, bodies.wanted, bodies.there}; }

Difference compare(std::vector<ComparedBody> compared, const MergeBodies& bodies, const BodyFacts& facts) {
  std::vector<OwnWrite> own;
  for (const auto& [sent, answer] : bodies.own) {
    own.push_back({compared.size(), compared.size() + 1});
    compared.push_back({sent});
    compared.push_back({answer});
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
    found.in_map |= place.is_free_form();
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
      : bodies_(bodies),
        facts_(facts),
        scope_(scope),
        difference_(compare(compared_bodies(bodies), bodies, facts)),
        table_(difference_.table()) {}

  Merge run() {
    for (const size_t body : {kBase, kWanted, kThere}) {
      if (!difference_.readable(body) || !is_object(root(body))) return impossible(MergeObstacle::Unreadable);
    }
    if (has_secret(root(kWanted), facts_.top()) || hides_secret(root(kThere), facts_.top())) {
      if (!is_mutant(Mutant::MergeLosesSecret)) return impossible(MergeObstacle::Secret);
    }
    MergeEdits edits(table_.steps.size());
    if (Merge early; !decide_rows(edits, early)) return early;
    if (result_.taken.count == 0) {
      result_.body = bodies_.there.json;
    } else if (auto body = compose(table_, facts_, edits, side(kWanted, bodies_.wanted), side(kThere, bodies_.there)); body) {
      result_.body = *std::move(body);
      if (Merge early; !check_result(early)) return early;
    } else {
      return impossible(MergeObstacle::SameName);
    }
    result_.kind = Merge::Kind::Merged;
    return std::move(result_);
  }

 private:
  size_t column(size_t body) const { return table_.column_of[body]; }
  const simdjson::dom::element& root(size_t body) const { return table_.columns[column(body)].document->root(); }
  MergeSide side(size_t body, const ComparedBody& compared) const { return {column(body), compared.json}; }

  // False: `early` is the answer.
  bool decide_rows(MergeEdits& edits, Merge& early) {
    MergePlaces in_conflict, in_the_way, both_added;
    MergeObstacle obstacle = MergeObstacle::None;
    const std::array<size_t, 3> columns{column(kBase), column(kWanted), column(kThere)};
    all_rows(table_, columns, 0, table_.rows.size(), [&](size_t row) {
      const Decision decision = decide(table_, row, columns[kBase], columns[kWanted], columns[kThere]);
      if (decision.in_conflict || is_put_into_removed(row, decision)) add_place(in_conflict, difference_, row);
      if (decision.both_added) add_place(both_added, difference_, row);
      if (decision.keeps) add_place(result_.kept, difference_, row);
      if (decision.takes) {
        edits.take(table_, row);
        add_place(result_.taken, difference_, row);
      }
      const MergeObstacle found = obstacle_in(row, decision);
      if (found == MergeObstacle::None || obstacle != MergeObstacle::None) return true;
      obstacle = found;
      add_place(in_the_way, difference_, row);
      return true;
    });
    if (obstacle == MergeObstacle::None && result_.taken.count == 0 && both_added.count > 0) {
      obstacle = MergeObstacle::AllThere;
      in_the_way = std::move(both_added);
    }
    if (in_conflict.count == 0 && obstacle == MergeObstacle::None) return true;
    early = in_conflict.count > 0 ? conflict(std::move(in_conflict)) : impossible(obstacle, std::move(in_the_way));
    return false;
  }

  // One side puts something into an object that the other takes away.
  bool is_put_into_removed(size_t row, const Decision& decision) const {
    const auto is_in = [&](size_t body) { return is_in_removed(table_, row, facts_, column(kBase), column(body)); };
    if (decision.keeps) return is_present(table_.value(row, column(kThere))) && is_in(kWanted);
    return decision.takes && is_present(table_.value(row, column(kWanted))) && is_in(kThere);
  }

  MergeObstacle obstacle_in(size_t row, const Decision& decision) const {
    const uint32_t asked = table_.value(row, column(kWanted));
    const bool named = is_named(table_.rows[row]);
    if (decision.takes) {
      if (scope_ != MergeScope::All) {
        const Where at = where(table_, table_.rows[row], facts_);
        if (scope_ == MergeScope::Maps ? !at.in_map : at.in_array) return MergeObstacle::Scope;
      }
      if (named && asked == row_value::kLeftOut) return MergeObstacle::LeftOut;
    }
    // What was sent, is sent again, and is not shown: somebody removed it, or it is never shown.
    const bool was_sent = table_.columns[column(kBase)].kind == BodyKind::Partial && !named && is_present(asked);
    const bool is_gone = is_absent(table_.value(row, column(kThere)));
    return was_sent && is_gone && decision.keeps ? MergeObstacle::Secret : MergeObstacle::None;
  }

  // The same once more, of what has come of it: the write's where it takes something, else what is there.
  bool check_result(Merge& early) {
    auto compared = compared_bodies(bodies_);
    compared.push_back({result_.body});
    const Difference difference = compare(std::move(compared), bodies_, facts_);
    const DifferenceTable& table = difference.table();
    if (!difference.readable(kResult)) {
      early = impossible(MergeObstacle::Unreadable);
      return false;
    }
    std::array<size_t, 4> columns{};
    for (size_t body = 0; body < columns.size(); ++body) columns[body] = table.column_of[body];
    MergePlaces wrong;
    const bool is_right = all_rows(table, columns, 0, table.rows.size(), [&](size_t row) {
      const Decision decision = decide(table, row, columns[kBase], columns[kWanted], columns[kThere]);
      const size_t expected = columns[decision.takes ? kWanted : kThere];
      if (!differs_at(table, row, columns[kResult], expected)) return true;
      add_place(wrong, difference, row);
      return false;
    });
    if (!is_right) {
      early = impossible(MergeObstacle::Contradiction, std::move(wrong));
      return false;
    }
    auto shared = twins(table.columns[columns[kResult]].document->root(), {&root(kWanted), &root(kThere)}, facts_);
    if (shared.empty()) return true;
    early = conflict({shared.size(), std::move(shared)});
    return false;
  }

  const MergeBodies& bodies_;
  const BodyFacts& facts_;
  const MergeScope scope_;
  const Difference difference_;
  const DifferenceTable& table_;
  Merge result_;
};

}  // namespace

bool carries_secret(std::string_view json, const BodyFacts& facts) {
  const JsonDocument document(json, Difference::kNodesMax);
  return document.usable() && has_secret(document.root(), facts.top());
}

Merge merge(const MergeBodies& bodies, const BodyFacts& facts, MergeScope scope) {
  const bool is_whole = bodies.wanted.kind == BodyKind::Whole && bodies.there.kind == BodyKind::Whole;
  if (!is_whole || bodies.base.kind == BodyKind::Absent) return impossible(MergeObstacle::Incomplete);
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
  }
  return "none";
}

}  // namespace armgate::arm
