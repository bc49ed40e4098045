#include "arm/body/canonical_value.h"

#include <algorithm>
#include <bit>
#include <compare>
#include <cstring>
#include <functional>

#include "base/text.h"

namespace armgate::arm {
namespace {

namespace dom = simdjson::dom;

class CanonicalText {
 public:
  void append(const dom::element& element, const BodyPlace& place) {
    std::string_view text;
    bool flag = false;
    if (is_object(element)) {
      append_object(element, place);
    } else if (is_array(element)) {
      append_array(element, place);
    } else if (!element.get(text)) {
      append_text(canonical_text(text, place));
    } else if (!element.get(flag)) {
      append_word('b', flag ? 1 : 0);
    } else if (element.is_number()) {
      append_number(number_of(element));
    } else {
      append_word('0', 0);
    }
  }

  std::string take() { return std::move(text_); }

 private:
  void append_object(const dom::object& object, const BodyPlace& place) {
    auto members = writable_members(object, place);
    std::erase_if(members, [&](const JsonMember& m) { return counts_as_absent(m.value, place.member(m.key)); });
    append_word('{', members.size());
    for (const JsonMember& member : members) {
      append_name(member.key);
      append(member.value, place.member(member.key));
    }
  }

  void append_array(const dom::array& array, const BodyPlace& place) {
    if (place.array() != nullptr && place.array()->kind == ArrayKind::Set) return append_set(array, place);
    append_word('[', static_cast<uint64_t>(std::distance(array.begin(), array.end())));
    for (const dom::element item : array) append(item, place.element());
  }

  void append_set(const dom::array& array, const BodyPlace& place) {
    std::vector<std::string> items;
    for (const dom::element item : array) items.push_back(canonical_value(item, place.element()));
    std::sort(items.begin(), items.end());
    items.erase(std::unique(items.begin(), items.end()), items.end());
    append_word('[', items.size());
    for (const auto& item : items) text_ += item;
  }

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

  void append_name(std::string_view name) {
    if (is_id(name)) return append_text(lower_text(name));
    append_text(name);
  }

  void append_number(const JsonNumber& number) {
    static constexpr char kKinds[] = {'u', 'i', 'd'};
    std::visit([&](auto value) { append_word(kKinds[number.index()], std::bit_cast<uint64_t>(value)); }, number);
  }

  std::string text_;
};

}  // namespace

// Providers answer with another case of an id than they were sent (observed: "resourcegroups").
bool is_id(std::string_view text) { return text.starts_with('/') && starts_with_ignoring_case(text, "/subscriptions/"); }

bool is_same_name(std::string_view a, std::string_view b) { return a == b || (is_id(a) && equal_ignoring_case(a, b)); }

int compare_names(std::string_view a, std::string_view b) {
  const bool a_is_id = is_id(a);
  if (a_is_id != is_id(b)) return a_is_id ? -1 : 1;
  if (!a_is_id) return a.compare(b);
  const auto order = std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end(),
                                                            [](char x, char y) { return lower(x) <=> lower(y); });
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

size_t NameHash::operator()(std::string_view name) const {
  return is_id(name) ? std::hash<std::string>()(lower_text(name)) : std::hash<std::string_view>()(name);
}

bool counts_as_absent(const dom::element& element, const BodyPlace& place) {
  if (element.is_null()) return true;
  if (is_array(element)) return is_empty(dom::array(element));
  return is_object(element) && place.is_map() && is_empty(dom::object(element));
}

std::vector<JsonMember> writable_members(const dom::object& object, const BodyPlace& place) {
  std::vector<JsonMember> members;
  for (const JsonMember member : object) {
    if (!place.member(member.key).read_only()) members.push_back(member);
  }
  std::sort(members.begin(), members.end(),
            [](const JsonMember& a, const JsonMember& b) { return compare_names(a.key, b.key) < 0; });
  return members;
}

std::string canonical_value(const dom::element& element, const BodyPlace& place) {
  CanonicalText canonical;
  canonical.append(element, place);
  return canonical.take();
}

std::string canonical_text(std::string_view text, const BodyPlace& place) {
  const auto as = place.same();
  if (!as && !is_id(text)) return std::string(text);
  std::string result = lower_text(text);
  if (as == SameAs::Location) std::erase(result, ' ');
  if (as == SameAs::Id && result.ends_with('/')) result.pop_back();
  return result;
}

bool same_text(std::string_view a, std::string_view b, const BodyPlace& place) {
  if (a == b) return true;
  if (!place.same()) return is_id(a) && equal_ignoring_case(a, b);
  return canonical_text(a, place) == canonical_text(b, place);
}

bool same_plain_value(const dom::element& a, const dom::element& b, const BodyPlace& place) {
  if (a.is_number() && b.is_number()) return number_of(a) == number_of(b);
  std::string_view text_a, text_b;
  if (!a.get(text_a) && !b.get(text_b)) return same_text(text_a, text_b, place);
  bool flag_a = false, flag_b = false;
  if (!a.get(flag_a) && !b.get(flag_b)) return flag_a == flag_b;
  return a.is_null() && b.is_null();
}

}  // namespace armgate::arm
