#include "arm/body/merge_checks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "arm/body/array_keys.h"
#include "arm/body/canonical_value.h"
#include "arm/body/difference.h"
#include "base/json_pointer.h"
#include "base/text.h"
#include "json/select.h"

namespace armgate::arm {
namespace {

namespace dom = simdjson::dom;

// Calls `is` with the items of an object or an array until it says true.
template <class Is>
bool any_item(const dom::element& element, const BodyPlace& place, Is is) {
  if (is_object(element)) {
    for (const JsonMember member : dom::object(element)) {
      if (is(member.value, place.member(member.key))) return true;
    }
  } else if (is_array(element)) {
    for (const dom::element item : dom::array(element)) {
      if (is(item, place.element())) return true;
    }
  }
  return false;
}

// "****": providers show so much of a secret (observed: application settings, registry credentials).
bool is_masked(const dom::element& element, const BodyPlace& place) {
  constexpr size_t kStarsMin = 3;  // "*" alone means any
  std::string_view text;
  if (place.is_free_form() || element.get(text) || text.size() < kStarsMin) return false;
  return text.find_first_not_of('*') == text.npos;
}

// The value that a pointer leads to, as it counts; empty if there is none.
std::string value_at(dom::element element, BodyPlace place, const std::string& pointer) {
  for (const std::string& token : pointer_tokens(pointer)) {
    dom::object object;
    dom::element below;
    if (element.get(object) || object.at_key_case_insensitive(token).get(below)) return {};
    element = below;
    place = place.member(token);
  }
  return counts_as_absent(element, place) ? std::string() : lower_text(canonical_value(element, place));
}

// Empty: it has none.
std::string_view name_of(const dom::element& element) {
  dom::object object;
  std::string_view name;
  if (element.get(object) || object.at_key_case_insensitive("name").get(name)) return {};
  return name;
}

// The way to an array or an element; it becomes a text only where something is found.
struct TwinPath {
  const TwinPath* above = nullptr;
  std::string_view name = {};        // of a member
  std::optional<size_t> index = {};  // of an element
  std::string_view key = {};         // its name, if it has one

  std::string pointer() const {
    if (above == nullptr) return {};
    if (!key.empty()) return above->pointer() + "/[name=" + pointer_token(key) + "]";
    return above->pointer() + "/" + (index ? std::to_string(*index) : pointer_token(name));
  }
  // The same for all elements of an array: what an element stands at is another place in each body.
  std::string pattern() const {
    if (above == nullptr) return {};
    return above->pattern() + "/" + (index ? "*" : pointer_token(name));
  }
};

class TwinSearch {
 public:
  // Calls `found` with each element that has in common with an earlier one what must be unique: both ways, and what they share.
  using Found = std::function<void(const TwinPath& first, const TwinPath& second, const std::string& shared)>;
  explicit TwinSearch(Found found) : found_(std::move(found)) {}

  void look_at(const dom::element& element, const BodyPlace& place, const TwinPath& way) {
    if (is_object(element)) {
      for (const JsonMember member : dom::object(element)) look_at(member.value, place.member(member.key), {&way, member.key});
    } else if (is_array(element)) {
      look_at_array(element, place, way);
    }
  }

 private:
  void look_at_array(const dom::array& array, const BodyPlace& place, const TwinPath& way) {
    const auto unique = unique_members(way.name, place.array());
    std::map<std::string, TwinPath> seen;  // who has it first
    size_t count = 0;
    for (const dom::element element : array) {
      const TwinPath here{.above = &way, .index = count++, .key = name_of(element)};
      look_at(element, place.element(), here);
      const auto shared = unique.empty() ? std::string() : values_at(element, place.element(), unique);
      if (shared.empty()) continue;
      const auto [first, is_new] = seen.emplace(shared, here);
      if (!is_new) found_(first->second, here, shared);
    }
  }

  // Nothing if one of them is not there: what it is then only ARM knows.
  static std::string values_at(const dom::element& element, const BodyPlace& place, const std::vector<std::string>& pointers) {
    std::string values;
    for (const std::string& pointer : pointers) {
      const std::string value = value_at(element, place, pointer);
      if (value.empty()) return {};
      values += value;
    }
    return values;
  }

  const Found found_;
};

}  // namespace

bool has_secret(const dom::element& element, const BodyPlace& place) {
  if (place.write_only() && !element.is_null()) return true;
  return any_item(element, place, has_secret);
}

bool hides_secret(const dom::element& element, const BodyPlace& place) {
  if (place.read_only() || element.is_null()) return false;
  // Shown nevertheless: who knows what the service makes of it.
  if (place.write_only() || is_masked(element, place)) return true;
  if ((is_object(element) || is_array(element)) && place.hides_member()) return true;
  return any_item(element, place, hides_secret);
}

std::vector<std::string> twins(const dom::element& root, const TwinSides& sides, const BodyFacts& facts) {
  std::set<std::pair<std::string, std::string>> known;
  TwinSearch of_a_side(
      [&](const TwinPath& first, const TwinPath&, const std::string& shared) { known.emplace(first.pattern(), shared); });
  for (const dom::element* side : sides) of_a_side.look_at(*side, facts.top(), {});
  std::vector<std::string> found;
  TwinSearch search([&](const TwinPath& first, const TwinPath& second, const std::string& shared) {
    if (found.size() >= Difference::kPointersMax || known.contains({first.pattern(), shared})) return;
    found.insert(found.end(), {first.pointer(), second.pointer()});
  });
  search.look_at(root, facts.top(), {});
  return found;
}

}  // namespace armgate::arm
