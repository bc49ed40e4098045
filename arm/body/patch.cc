#include "arm/body/patch.h"

#include <string>
#include <unordered_map>

#include "arm/body/canonical_value.h"
#include "arm/body/content.h"
#include "arm/body/difference_table.h"
#include "base/text.h"
#include "json/document.h"
#include "json/scan.h"
#include "json/spans.h"

namespace armgate::arm {
namespace {

using Element = simdjson::dom::element;

// A value of one of the texts; none where the text lacks it.
struct At {
  const JsonSpans* spans = nullptr;
  uint32_t node = 0;
  Element value;

  explicit operator bool() const { return spans != nullptr; }
  bool is_null() const { return spans == nullptr || value.type() == simdjson::dom::element_type::NULL_VALUE; }
};

class Text {
 public:
  explicit Text(std::string_view json) : document_(json, Difference::kNodesMax) {
    if (is_readable()) spans_.emplace(without_byte_order_mark(json));
  }
  bool is_readable() const { return document_.usable() && is_object(document_.root()); }
  At root() const { return {&*spans_, 0, document_.root()}; }

 private:
  JsonDocument document_;
  std::optional<JsonSpans> spans_;
};

// Each member of an object, in the text's order.
template <class Visit>
void for_each_member(const At& at, Visit visit) {
  if (!at || !is_object(at.value)) return;
  const auto nodes = at.spans->items(at.node);
  size_t i = 0;
  for (const auto& [name, value] : simdjson::dom::object(at.value)) {
    if (i < nodes.size()) visit(name, At{at.spans, nodes[i++], value});
  }
}

// The members of an object by their names, which count without case, as for ARM.
class Members {
 public:
  explicit Members(const At& at) {
    for_each_member(at, [&](std::string_view name, const At& member) { by_name_.try_emplace(lower_text(name), member); });
  }
  At find(std::string_view name) const {
    const auto it = by_name_.find(lower_text(name));
    return it == by_name_.end() ? At{} : it->second;
  }

 private:
  std::unordered_map<std::string, At> by_name_;
};

// An order about what it names, and no copy of it: "Merge" and "Delete" of Microsoft.Resources/tags, whose "Replace" is a copy
// (REST reference, "Tags - Update At Scope").
bool is_order(const Text& patch) {
  bool found = false;
  for_each_member(patch.root(), [&](std::string_view name, const At& at) {
    std::string_view operation;
    if (name != "operation" || at.value.get(operation) != simdjson::SUCCESS) return;
    found = equal_ignoring_case(operation, "Merge") || equal_ignoring_case(operation, "Delete");
  });
  return found;
}

enum class Kind { Object, Container, Leaf };

// Null takes a map away as a whole, with what others have put into it.
Kind kind_of(const Element& value, const BodyPlace& place) {
  const bool is_whole_map = place.is_map() && is_object(value) && !place.is_patched_by_member();
  if (is_array(value) || is_whole_map || (place.is_map() && value.is_null())) return Kind::Container;
  return is_object(value) ? Kind::Object : Kind::Leaf;
}

void append_member(std::string& out, std::string_view piece) {
  if (out.back() != '{') out += ',';
  out += piece;
}

void compose(const At& patch, const At& state, const At& leaves, const BodyPlace& place, std::string& out) {
  out += '{';
  const Members of_state(state), of_leaves(leaves);
  for_each_member(patch, [&](std::string_view name, const At& asked) {
    const BodyPlace below = place.member(name);
    const At own = of_state.find(name);
    const At leaf = of_leaves.find(name);
    const Kind kind = kind_of(asked.value, below);
    const bool goes_down = kind == Kind::Object && ((own && is_object(own.value)) || (leaf && is_object(leaf.value)));
    if (goes_down) {
      append_member(out, asked.spans->before(asked.node));
      compose(asked, own, leaf, below, out);
      return;
    }
    const At& source = kind == Kind::Leaf ? leaf : own;
    if (source) append_member(out, source.spans->piece(source.node));
  });
  out += '}';
}

void apply(const At& patch, const At& state, const BodyPlace& place, std::string& out) {
  out += '{';
  const Members asked_for(patch), of_state(state);
  for_each_member(state, [&](std::string_view name, const At& own) {
    const At asked = asked_for.find(name);
    const BodyPlace below = place.member(name);
    if (!asked) {
      append_member(out, own.spans->piece(own.node));
    } else if (kind_of(asked.value, below) == Kind::Object && is_object(own.value)) {
      append_member(out, own.spans->before(own.node));
      apply(asked, own, below, out);
    } else if (!asked.is_null()) {
      append_member(out, asked.spans->piece(asked.node));
    }
  });
  for_each_member(patch, [&](std::string_view name, const At& asked) {
    if (!asked.is_null() && !of_state.find(name)) append_member(out, asked.spans->piece(asked.node));
  });
  out += '}';
}

bool same_leaf(const At& a, const At& b, const BodyPlace& place) {
  if (a.is_null() || b.is_null()) return a.is_null() && b.is_null();
  const auto is_plain = [](const At& at) { return !is_object(at.value) && !is_array(at.value); };
  return is_plain(a) && is_plain(b) && same_plain_value(a.value, b.value, place);
}

// Whether a map whose members a PATCH changes one by one is taken away as a whole.
bool clears(const At& patch, const BodyPlace& place) {
  bool found = false;
  for_each_member(patch, [&](std::string_view name, const At& asked) {
    const BodyPlace below = place.member(name);
    found |= asked.is_null() ? below.is_patched_by_member() : clears(asked, below);
  });
  return found;
}

struct Leaves {
  bool has_container = false;
  bool repeats = false;     // one has the base's value
  bool changes = false;     // one has another
  bool takes_back = false;  // one has the base's value, and another one is there
};

void look_at(const At& patch, const At& base, const At& there, const BodyPlace& place, Leaves& leaves) {
  const Members of_base(base), of_there(there);
  for_each_member(patch, [&](std::string_view name, const At& asked) {
    const BodyPlace below = place.member(name);
    if (below.read_only()) return;
    const At before = of_base.find(name);
    const At now = of_there.find(name);
    const Kind kind = kind_of(asked.value, below);
    if (kind == Kind::Object) return look_at(asked, before, now, below, leaves);
    if (kind == Kind::Container) {
      leaves.has_container = true;
      return;
    }
    const bool repeats = same_leaf(asked, before, below);
    leaves.repeats |= repeats;
    leaves.changes |= !repeats;
    leaves.takes_back |= repeats && !same_leaf(before, now, below);
  });
}

}  // namespace

bool clears_by_member(std::string_view patch, const BodyFacts& facts) {
  const Text asked(patch);
  if (!asked.is_readable()) return false;
  return clears(asked.root(), facts.top());
}

bool can_be_read(std::string_view patch) { return Text(patch).is_readable(); }

std::optional<std::string> patched_part(std::string_view state, std::string_view patch, const BodyFacts& facts,
                                        std::string_view leaves) {
  const Text asked(patch), before(state), other(leaves);
  if (!asked.is_readable() || !before.is_readable() || !other.is_readable()) return std::nullopt;
  std::string out;
  compose(asked.root(), before.root(), other.root(), facts.top(), out);
  return out;
}

std::optional<std::string> patched_part(std::string_view state, std::string_view patch, const BodyFacts& facts) {
  return patched_part(state, patch, facts, state);
}

std::optional<std::string> patched_state(std::string_view state, std::string_view patch, const BodyFacts& facts) {
  const Text asked(patch), before(state);
  if (!asked.is_readable() || !before.is_readable()) return std::nullopt;
  std::string out;
  apply(asked.root(), before.root(), facts.top(), out);
  return out;
}

bool may_be_copy(std::string_view patch, std::string_view base, const BodyFacts& facts) {
  const Text asked(patch), before(base);
  if (!asked.is_readable() || !before.is_readable()) return true;
  if (is_order(asked)) return false;
  Leaves leaves;
  look_at(asked.root(), before.root(), before.root(), facts.top(), leaves);
  return leaves.has_container || (leaves.repeats && leaves.changes);
}

bool takes_back(std::string_view patch, std::string_view base, std::string_view there, const BodyFacts& facts) {
  const Text asked(patch), before(base), now(there);
  if (!asked.is_readable() || !before.is_readable() || !now.is_readable()) return true;
  Leaves leaves;
  look_at(asked.root(), before.root(), now.root(), facts.top(), leaves);
  if (!leaves.takes_back) return false;
  const auto part = patched_part(base, patch, facts);
  return leaves.changes || !same_writable_content(*part, patch, facts);
}

}  // namespace armgate::arm
