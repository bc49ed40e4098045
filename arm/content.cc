#include "arm/content.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <variant>

#include <fmt/format.h>
#include <simdjson.h>

#include "arm/json_scan.h"
#include "arm/json_tree.h"
#include "base/json_pointer.h"
#include "base/text.h"

namespace armgate::arm {
namespace {

namespace dom = simdjson::dom;

// Deeper documents count as unparseable; what ARM takes nests about twenty deep.
constexpr size_t kDepthMax = 256;

// In lower case. A name belongs here only if no provider is known to let a client write a member so called.
constexpr std::array<std::string_view, 12> kGenericReadOnly{
    "changedtime",      "createdat",         "createdtime",  "creationtime", "etag",        "lastmodifiedat",
    "lastmodifiedtime", "provisioningstate", "resourceguid", "systemdata",   "timecreated", "timemodified",
};

using Member = dom::key_value_pair;
using Members = std::vector<Member>;

// In the order of their names, so that the order of writing does not matter.
Members sorted_members(const dom::object& object) {
  Members members;
  for (const Member member : object) members.push_back(member);
  std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.key < b.key; });
  return members;
}

bool has_unique_names(const dom::element& element) {
  if (dom::array array; !element.get(array)) {
    return std::all_of(array.begin(), array.end(), has_unique_names);
  }
  dom::object object;
  if (element.get(object)) return true;
  const Members members = sorted_members(object);
  const auto twin =
      std::adjacent_find(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.key == b.key; });
  return twin == members.end() &&
         std::all_of(members.begin(), members.end(), [](const Member& m) { return has_unique_names(m.value); });
}

// A parsed text and the memory that its elements point into.
class Document {
 public:
  explicit Document(std::string_view json) {
    json = without_byte_order_mark(json);
    if (json.empty() || parser_.allocate(json.size(), kDepthMax)) return;
    if (parser_.parse(json.data(), json.size()).get(root_)) return;
    usable_ = has_unique_names(root_);
  }

  bool usable() const { return usable_; }
  const dom::element& root() const { return root_; }

 private:
  dom::parser parser_;
  dom::element root_;
  bool usable_ = false;
};

// A number by its value: 1, 1.0 and 1e0 are the same. Integers beyond 64 bits do not parse; fractions are compared as
// binary64, which is what ARM keeps of them.
using Number = std::variant<uint64_t, int64_t, double>;  // not negative, negative, neither fits

Number number_of(const dom::element& element) {
  if (uint64_t value = 0; element.is_uint64() && !element.get(value)) return value;
  if (int64_t value = 0; element.is_int64() && !element.get(value)) return value;
  double value = 0;
  if (element.get(value)) return 0.0;
  if (value != std::trunc(value)) return value;
  if (value >= 0 && value < 0x1p64) return static_cast<uint64_t>(value);
  if (value < 0 && value >= -0x1p63) return static_cast<int64_t>(value);
  return value;
}

Members writable_members(const dom::object& object, Place place, const ReadOnlyMembers& read_only) {
  Members members = sorted_members(object);
  if (place == Place::Resource) std::erase_if(members, [&](const Member& m) { return read_only.contains(m.key); });
  return members;
}

enum class Question {
  Same,       // are the two equal?
  Satisfies,  // does the first have everything that the second asks for?
};

// Walks two documents side by side and keeps the JSON pointers of the places that answer the question with no.
class Comparison {
 public:
  Comparison(Question question, const ReadOnlyMembers& read_only, size_t most)
      : question_(question), read_only_(read_only), most_(most) {}

  void compare(const dom::element& a, const dom::element& b, Place place = Place::Resource) {
    if (differences_.size() >= most_) return;
    dom::object object_a, object_b;
    dom::array array_a, array_b;
    if (!a.get(object_a) && !b.get(object_b)) {
      compare_objects(object_a, object_b, place);
    } else if (!a.get(array_a) && !b.get(array_b)) {
      compare_arrays(array_a, array_b, place);
    } else if (!same_scalar(a, b)) {
      note_difference();
    }
  }

  std::vector<std::string> take_differences() { return std::move(differences_); }

 private:
  void compare_objects(const dom::object& a, const dom::object& b, Place place) {
    // A map of tags is replaced as a whole: one too many is not what was asked for.
    const bool exact = question_ == Question::Same || place == Place::Tags;
    const Members members_a = writable_members(a, place, read_only_);
    const Members members_b = writable_members(b, place, read_only_);
    auto in_a = members_a.begin();
    auto in_b = members_b.begin();
    while (in_a != members_a.end() || in_b != members_b.end()) {
      if (in_b == members_b.end() || (in_a != members_a.end() && in_a->key < in_b->key)) {
        if (exact) note_difference_at(in_a->key);
        ++in_a;
      } else if (in_a == members_a.end() || in_b->key < in_a->key) {
        if (exact || !in_b->value.is_null()) note_difference_at(in_b->key);
        ++in_b;
      } else {
        path_.emplace_back(in_a->key);
        compare(in_a->value, in_b->value, place_below(place, in_a->key));
        path_.pop_back();
        ++in_a;
        ++in_b;
      }
    }
  }

  void compare_arrays(const dom::array& a, const dom::array& b, Place place) {
    if (std::distance(a.begin(), a.end()) != std::distance(b.begin(), b.end())) return note_difference();
    size_t index = 0;
    for (auto in_a = a.begin(), in_b = b.begin(); in_a != a.end(); ++in_a, ++in_b) {
      path_.emplace_back(index++);
      compare(*in_a, *in_b, place);
      path_.pop_back();
    }
  }

  bool same_scalar(const dom::element& a, const dom::element& b) const {
    if (a.is_number() && b.is_number()) return number_of(a) == number_of(b);
    if (a.type() != b.type()) return false;
    std::string_view text_a, text_b;
    if (!a.get(text_a) && !b.get(text_b)) return same_text(text_a, text_b);
    bool flag_a = false, flag_b = false;
    if (!a.get(flag_a) && !b.get(flag_b)) return flag_a == flag_b;
    return a.is_null() && b.is_null();
  }

  bool same_text(std::string_view a, std::string_view b) const {
    if (a == b) return true;
    // Providers answer with another case of an id than they were sent (observed: "resourcegroups").
    return question_ == Question::Satisfies && starts_with_ignoring_case(a, "/subscriptions/") && equal_ignoring_case(a, b);
  }

  void note_difference() {
    if (differences_.size() >= most_) return;
    std::string pointer;
    for (const auto& step : path_) {
      pointer += '/';
      if (const auto* index = std::get_if<size_t>(&step)) {
        pointer += fmt::format("{}", *index);
        continue;
      }
      pointer += pointer_token(std::get<std::string_view>(step));
    }
    differences_.push_back(std::move(pointer));
  }

  void note_difference_at(std::string_view member) {
    path_.emplace_back(member);
    note_difference();
    path_.pop_back();
  }

  const Question question_;
  const ReadOnlyMembers& read_only_;
  const size_t most_;
  std::vector<std::variant<std::string_view, size_t>> path_;
  std::vector<std::string> differences_;
};

// The pointers of up to `most` differences; a text that does not parse differs as a whole.
std::vector<std::string> differences(Question question, std::string_view a, std::string_view b,
                                     const ReadOnlyMembers& read_only, size_t most) {
  if (most == 0) return {};
  const Document document_a(a);
  const Document document_b(b);
  if (!document_a.usable() || !document_b.usable()) return {std::string()};
  Comparison comparison(question, read_only, most);
  comparison.compare(document_a.root(), document_b.root());
  return comparison.take_differences();
}

// Writes an element so that two elements give the same bytes exactly if Comparison calls them the same: every part
// begins with its kind and carries its length.
class CanonicalText {
 public:
  explicit CanonicalText(const ReadOnlyMembers& read_only) : read_only_(read_only) {}

  void append(const dom::element& element, Place place = Place::Resource) {
    dom::object object;
    dom::array array;
    std::string_view text;
    bool flag = false;
    if (!element.get(object)) {
      const Members members = writable_members(object, place, read_only_);
      append_word('{', members.size());
      for (const Member& member : members) {
        append_text(member.key);
        append(member.value, place_below(place, member.key));
      }
    } else if (!element.get(array)) {
      append_word('[', static_cast<uint64_t>(std::distance(array.begin(), array.end())));
      for (const dom::element item : array) append(item, place);
    } else if (!element.get(text)) {
      append_text(text);
    } else if (!element.get(flag)) {
      append_word('b', flag ? 1 : 0);
    } else if (element.is_number()) {
      append_number(number_of(element));
    } else {
      append_word('0', 0);
    }
  }

  const std::string& text() const { return text_; }

 private:
  void append_word(char kind, uint64_t word) {
    char bytes[sizeof word];
    std::memcpy(bytes, &word, sizeof word);
    text_ += kind;
    text_.append(bytes, sizeof bytes);
  }

  void append_text(std::string_view text) {
    append_word('"', text.size());
    text_ += text;
  }

  void append_number(const Number& number) {
    static constexpr char kKinds[] = {'u', 'i', 'd'};
    std::visit([&](auto value) { append_word(kKinds[number.index()], std::bit_cast<uint64_t>(value)); }, number);
  }

  const ReadOnlyMembers& read_only_;
  std::string text_;
};

// Copies an element out of its document; `nodes_left` runs out before a tree gets too large.
class TreeReader {
 public:
  TreeReader(const ReadOnlyMembers& read_only, size_t nodes_max) : read_only_(read_only), nodes_left_(nodes_max) {}

  bool read(const dom::element& element, Place place, JsonTree& tree) {
    if (nodes_left_ == 0) return false;
    --nodes_left_;
    dom::object object;
    dom::array array;
    std::string_view text;
    if (!element.get(object)) {
      tree.kind = JsonTree::Kind::Object;
      for (const Member& member : writable_members(object, place, read_only_)) {
        JsonTree& below = tree.members.emplace_back(std::string(member.key), JsonTree()).second;
        if (!read(member.value, place_below(place, member.key), below)) return false;
      }
    } else if (!element.get(array)) {
      tree.kind = JsonTree::Kind::Array;
      for (const dom::element item : array) {
        if (!read(item, place, tree.items.emplace_back())) return false;
      }
    } else if (!element.get(text)) {
      tree.kind = JsonTree::Kind::Text;
      tree.text = std::string(text);
    } else if (bool flag = false; !element.get(flag)) {
      tree.kind = JsonTree::Kind::Flag;
      tree.text = flag ? "true" : "false";
    } else if (element.is_number()) {
      tree.kind = JsonTree::Kind::Number;
      tree.text = std::visit([](auto value) { return fmt::format("{}", value); }, number_of(element));
    }
    return true;
  }

 private:
  const ReadOnlyMembers& read_only_;
  size_t nodes_left_;
};

}  // namespace

const JsonTree* JsonTree::find(std::string_view name) const {
  const auto at = std::lower_bound(members.begin(), members.end(), name,
                                   [](const auto& member, std::string_view wanted) { return member.first < wanted; });
  return at != members.end() && at->first == name && at->second.kind != Kind::Null ? &at->second : nullptr;
}

std::optional<JsonTree> read_tree(std::string_view json, const ReadOnlyMembers& read_only, size_t nodes_max) {
  const Document document(json);
  JsonTree tree;
  TreeReader reader(read_only, nodes_max);
  if (!document.usable() || !reader.read(document.root(), Place::Resource, tree)) return std::nullopt;
  return tree;
}

ReadOnlyMembers::ReadOnlyMembers() : names_(kGenericReadOnly.begin(), kGenericReadOnly.end()) {
  std::sort(names_.begin(), names_.end());
}

ReadOnlyMembers::ReadOnlyMembers(const std::vector<std::string>& more) : ReadOnlyMembers() {
  for (const std::string& name : more) names_.push_back(lower_text(name));
  std::sort(names_.begin(), names_.end());
}

bool ReadOnlyMembers::contains(std::string_view member) const {
  const auto found =
      std::lower_bound(names_.begin(), names_.end(), member, [](std::string_view known, std::string_view wanted) {
        return std::lexicographical_compare(known.begin(), known.end(), wanted.begin(), wanted.end(),
                                            [](char a, char b) { return lower(a) < lower(b); });
      });
  return found != names_.end() && equal_ignoring_case(*found, member);
}

bool same_writable_content(std::string_view a, std::string_view b, const ReadOnlyMembers& read_only) {
  return differences(Question::Same, a, b, read_only, 1).empty();
}

std::optional<Hash128> writable_content_hash(std::string_view json, const ReadOnlyMembers& read_only, const Hasher& hasher) {
  const Document document(json);
  if (!document.usable()) return std::nullopt;
  CanonicalText canonical(read_only);
  canonical.append(document.root());
  return hasher.hash(canonical.text());
}

bool satisfies(std::string_view state, std::string_view wanted, const ReadOnlyMembers& read_only) {
  return differences(Question::Satisfies, state, wanted, read_only, 1).empty();
}

std::vector<std::string> changed_pointers(std::string_view before, std::string_view after, const ReadOnlyMembers& read_only,
                                          size_t most) {
  return differences(Question::Same, before, after, read_only, most);
}

std::optional<std::string> provisioning_state(std::string_view json) {
  return scan_string_member(json, "provisioningState").in_properties;
}

}  // namespace armgate::arm
