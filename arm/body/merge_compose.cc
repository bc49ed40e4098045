#include "arm/body/merge_compose.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "arm/body/canonical_value.h"
#include "base/mutant.h"
#include "base/text.h"
#include "json/scan.h"
#include "json/spans.h"

namespace armgate::arm {
namespace {

namespace dom = simdjson::dom;

// A value in one of the two texts.
struct Value {
  dom::element element;
  uint32_t node = 0;
};

struct Member {
  std::string_view name;
  Value value;
};

std::vector<Member> members_of(const JsonSpans& spans, const std::optional<Value>& object) {
  std::vector<Member> members;
  if (!object) return members;
  const auto items = spans.items(object->node);
  for (const JsonMember member : dom::object(object->element))
    members.push_back({member.key, {member.value, items[members.size()]}});
  return members;
}

std::vector<Value> elements_of(const JsonSpans& spans, const std::optional<Value>& array) {
  std::vector<Value> elements;
  if (!array) return elements;
  const auto items = spans.items(array->node);
  for (const dom::element element : dom::array(array->element)) elements.push_back({element, items[elements.size()]});
  return elements;
}

template <class T>
using ByName = std::unordered_map<std::string_view, T, NameHash, IsSameName>;
using Named = ByName<Value>;

Named by_name(const std::vector<Member>& members) {
  Named named;
  for (const Member& member : members) named.emplace(member.name, member.value);
  return named;
}

std::optional<Value> find(const Named& named, std::string_view name) {
  const auto found = named.find(name);
  return found == named.end() ? std::nullopt : std::optional(found->second);
}

template <class Is>
std::optional<Value> if_it(const std::optional<Value>& value, Is is) {
  return value && is(value->element) ? value : std::nullopt;
}

// Items of an object or an array, with commas between them.
class Pieces {
 public:
  Pieces(std::string& out, char open) : out_(out) { out_ += open; }

  struct Mark {
    size_t size = 0;
    bool any = false;
  };
  Mark next() {
    const Mark mark{out_.size(), any_};
    if (any_) out_ += ',';
    any_ = true;
    return mark;
  }
  // As if there had been none since.
  void back_to(const Mark& mark) {
    out_.resize(mark.size);
    any_ = mark.any;
  }
  void close(char end) { out_ += end; }

 private:
  std::string& out_;
  bool any_ = false;
};

class Composer {
 public:
  Composer(const DifferenceTable& table, const MergeEdits& edits, const MergeSide& wanted, const MergeSide& there)
      : table_(table),
        edits_(edits),
        wanted_(wanted),
        there_(there),
        wanted_spans_(without_byte_order_mark(wanted.json)),
        there_spans_(without_byte_order_mark(there.json)) {}

  std::optional<std::string> resource(const BodyPlace& top) {
    const Value wanted{table_.columns[wanted_.column].document->root(), 0};
    const Value there{table_.columns[there_.column].document->root(), 0};
    out_ += there_spans_.before(0);
    compose(0, top, wanted, there);
    out_ += there_spans_.after(0);
    return same_name_ ? std::nullopt : std::optional(std::move(out_));
  }

 private:
  using Maybe = std::optional<Value>;
  using Edit = MergeEdits::Edit;

  // Writes a place with edits below it, of which at least one text has something. False: nothing is left that a client writes.
  bool compose(uint32_t step, const BodyPlace& place, const Maybe& wanted, const Maybe& there) {
    const Edit& edit = edits_.of_step[step];
    if (edit.takes && wanted) {
      copy(*wanted, place);
      return true;
    }
    const bool has_elements = edit.order != DifferenceTable::kNoArray || table_.steps[edit.below.front()].is_element();
    if (!has_elements) return object(edit, place, if_it(wanted, is_object), if_it(there, is_object));
    array(edit, place, if_it(wanted, is_array), if_it(there, is_array));
    return true;
  }

  // ---- objects ----

  bool object(const Edit& edit, const BodyPlace& place, const Maybe& wanted, const Maybe& there) {
    const auto theirs = members_of(there_spans_, there), own = members_of(wanted_spans_, wanted);
    const Named asked = by_name(own), stands = by_name(theirs);
    ByName<uint32_t> edited;
    for (const uint32_t step : edit.below) edited.emplace(table_.steps[step].token, step);
    const auto step_of = [&](std::string_view name) {
      const auto found = edited.find(name);
      return found == edited.end() ? DifferenceTable::kNowhere : found->second;
    };
    std::unordered_set<std::string> names;  // without case
    bool any_left = false;
    Pieces pieces(out_, '{');
    for (const Member& member : theirs) {
      const BodyPlace below = place.member(member.name);
      const uint32_t step = step_of(member.name);
      const auto mark = pieces.next();
      if (step == DifferenceTable::kNowhere) {
        out_ += there_spans_.piece(member.value.node);
        any_left |= !below.read_only() && !counts_as_absent(member.value.element, below);
      } else if (!member_with_edits(step, below, find(asked, member.name), member.value)) {
        pieces.back_to(mark);
        continue;
      } else {
        any_left = true;
      }
      names.insert(lower_text(member.name));
    }
    for (const Member& member : own) {
      const uint32_t step = step_of(member.name);
      if (step == DifferenceTable::kNowhere || stands.contains(member.name)) continue;
      pieces.next();
      out_ += wanted_spans_.before(member.value.node);
      any_left |= compose(step, place.member(member.name), member.value, std::nullopt);
      out_ += wanted_spans_.after(member.value.node);
      same_name_ |= !names.insert(lower_text(member.name)).second;
    }
    pieces.close('}');
    return any_left;
  }

  // False: it goes.
  bool member_with_edits(uint32_t step, const BodyPlace& place, const Maybe& wanted, const Value& there) {
    if (edits_.of_step[step].takes && !wanted) return false;
    out_ += there_spans_.before(there.node);
    const size_t begin = out_.size();
    if (!compose(step, place, wanted, there)) {
      if (!wanted) return false;
      if (!is_object(wanted->element)) {  // null, in a spelling of its own
        out_.resize(begin);
        copy(*wanted, place);
      }
    }
    out_ += there_spans_.after(there.node);
    return true;
  }

  // ---- arrays with keys ----

  struct ElementEdits {
    std::unordered_map<uint32_t, uint32_t> there;  // by the element's place
    std::unordered_map<uint32_t, uint32_t> added;  // by its place in what is wanted
  };

  void array(const Edit& edit, const BodyPlace& place, const Maybe& wanted, const Maybe& there) {
    const auto theirs = elements_of(there_spans_, there), own = elements_of(wanted_spans_, wanted);
    const BodyPlace below = place.element();
    ElementEdits edited;
    for (const uint32_t step : edit.below) {
      const uint32_t at = place_of(step, there_.column);
      if (at != DifferenceTable::kNowhere) {
        edited.there.emplace(at, step);
      } else {
        edited.added.emplace(place_of(step, wanted_.column), step);
      }
    }
    Pieces pieces(out_, '[');
    if (edit.order != DifferenceTable::kNoArray) {
      in_order_of_write(edit.order, below, own, theirs, edited, pieces);
    } else {
      const bool defect = is_mutant(Mutant::MergeReordersElements);
      if (defect) added_elements(below, own, edited, pieces);
      for (uint32_t i = 0; i < theirs.size(); ++i) element(i, below, own, theirs[i], edited, pieces);
      if (!defect) added_elements(below, own, edited, pieces);
    }
    pieces.close(']');
  }

  void added_elements(const BodyPlace& place, const std::vector<Value>& own, const ElementEdits& edited, Pieces& pieces) {
    for (uint32_t i = 0; i < own.size(); ++i) {
      if (edited.added.contains(i)) copy_piece(own[i], place, pieces);
    }
  }

  // Uses the write's order: everything that is there stood in its base too, so others did not change the order.
  void in_order_of_write(size_t order, const BodyPlace& place, const std::vector<Value>& own, const std::vector<Value>& theirs,
                         const ElementEdits& edited, Pieces& pieces) {
    const auto& asked = table_.orders[order + wanted_.column];
    const auto& stands = table_.orders[order + there_.column];
    std::unordered_map<uint32_t, uint32_t> place_there;
    for (uint32_t i = 0; i < stands.size(); ++i) place_there.emplace(stands[i], i);
    for (uint32_t i = 0; i < asked.size() && i < own.size(); ++i) {
      const auto at = place_there.find(asked[i]);
      if (at == place_there.end()) {
        copy_piece(own[i], place, pieces);
      } else {
        element(at->second, place, own, theirs[at->second], edited, pieces);
      }
    }
  }

  void element(uint32_t at, const BodyPlace& place, const std::vector<Value>& own, const Value& there,
               const ElementEdits& edited, Pieces& pieces) {
    const auto found = edited.there.find(at);
    if (found == edited.there.end()) {
      pieces.next();
      out_ += there_spans_.piece(there.node);
      return;
    }
    const uint32_t asked = place_of(found->second, wanted_.column);
    if (asked == DifferenceTable::kNowhere) return;  // removed
    pieces.next();
    out_ += there_spans_.before(there.node);
    compose(found->second, place, own[asked], there);
    out_ += there_spans_.after(there.node);
  }

  uint32_t place_of(uint32_t step, size_t column) const { return table_.element_at[table_.steps[step].element + column]; }

  // ---- values of the write ----

  // Without what only the service writes: an ETag of an old state in a new one would be judged by.
  void copy(const Value& value, const BodyPlace& place) {
    if (is_object(value.element)) {
      Pieces pieces(out_, '{');
      for (const Member& member : members_of(wanted_spans_, value)) {
        const BodyPlace below = place.member(member.name);
        if (below.read_only() && !is_mutant(Mutant::MergeSendsReadOnly)) continue;
        copy_piece(member.value, below, pieces);
      }
      pieces.close('}');
    } else if (is_array(value.element)) {
      Pieces pieces(out_, '[');
      for (const Value& element : elements_of(wanted_spans_, value)) copy_piece(element, place.element(), pieces);
      pieces.close(']');
    } else {
      out_ += wanted_spans_.value(value.node);
    }
  }

  void copy_piece(const Value& value, const BodyPlace& place, Pieces& pieces) {
    pieces.next();
    out_ += wanted_spans_.before(value.node);
    copy(value, place);
    out_ += wanted_spans_.after(value.node);
  }

  const DifferenceTable& table_;
  const MergeEdits& edits_;
  const MergeSide& wanted_;
  const MergeSide& there_;
  const JsonSpans wanted_spans_, there_spans_;
  std::string out_;
  bool same_name_ = false;
};

}  // namespace

void MergeEdits::take(const DifferenceTable& table, size_t row) {
  const DifferenceTable::Row& taken = table.rows[row];
  Edit& edit = of_step[taken.step];
  if (taken.order != DifferenceTable::kNoArray) {
    edit.order = taken.order;
  } else {
    edit.takes = true;
  }
  for (uint32_t step = taken.step; step != 0;) {
    const uint32_t above = table.steps[step].above;
    auto& siblings = of_step[above].below;
    // Rows come in the order of the walk: what was added for this step before is the last that was added there.
    if (!siblings.empty() && siblings.back() == step) break;
    siblings.push_back(step);
    step = above;
  }
}

std::optional<std::string> compose(const DifferenceTable& table, const BodyFacts& facts, const MergeEdits& edits,
                                   const MergeSide& wanted, const MergeSide& there) {
  return Composer(table, edits, wanted, there).resource(facts.top());
}

}  // namespace armgate::arm
