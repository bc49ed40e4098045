#include "arm/body/content.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "arm/body/canonical_value.h"
#include "arm/body/difference.h"
#include "base/json_pointer.h"
#include "base/text.h"
#include "json/document.h"
#include "json/scan.h"

namespace armgate::arm {
namespace {

namespace dom = simdjson::dom;

// Walks two documents side by side and keeps the JSON pointers of the places where they differ.
class Comparison {
 public:
  explicit Comparison(size_t most) : most_(most) {}

  void compare(const dom::element& a, const dom::element& b, const BodyPlace& place) {
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
  void compare_objects(const dom::object& a, const dom::object& b, const BodyPlace& place) {
    const auto members_a = writable_members(a, place);
    const auto members_b = writable_members(b, place);
    auto in_a = members_a.begin();
    auto in_b = members_b.begin();
    while (in_a != members_a.end() || in_b != members_b.end()) {
      if (in_b == members_b.end() || (in_a != members_a.end() && compare_names(in_a->key, in_b->key) < 0)) {
        note_difference_at(in_a->key);
        ++in_a;
      } else if (in_a == members_a.end() || compare_names(in_b->key, in_a->key) < 0) {
        note_difference_at(in_b->key);
        ++in_b;
      } else {
        path_.emplace_back(in_a->key);
        compare(in_a->value, in_b->value, place.member(in_a->key));
        path_.pop_back();
        ++in_a;
        ++in_b;
      }
    }
  }

  void compare_arrays(const dom::array& a, const dom::array& b, const BodyPlace& place) {
    if (std::distance(a.begin(), a.end()) != std::distance(b.begin(), b.end())) return note_difference();
    size_t index = 0;
    for (auto in_a = a.begin(), in_b = b.begin(); in_a != a.end(); ++in_a, ++in_b) {
      path_.emplace_back(index++);
      compare(*in_a, *in_b, place.element());
      path_.pop_back();
    }
  }

  static bool same_scalar(const dom::element& a, const dom::element& b) {
    if (a.is_number() && b.is_number()) return number_of(a) == number_of(b);
    if (a.type() != b.type()) return false;
    std::string_view text_a, text_b;
    if (!a.get(text_a) && !b.get(text_b)) return text_a == text_b;
    bool flag_a = false, flag_b = false;
    if (!a.get(flag_a) && !b.get(flag_b)) return flag_a == flag_b;
    return a.is_null() && b.is_null();
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

  const size_t most_;
  std::vector<std::variant<std::string_view, size_t>> path_;
  std::vector<std::string> differences_;
};

// The pointers of up to `most` differences; a text that does not parse differs as a whole.
std::vector<std::string> differences(std::string_view a, std::string_view b, const BodyFacts& facts, size_t most) {
  if (most == 0) return {};
  const JsonDocument document_a(a);
  const JsonDocument document_b(b);
  if (!document_a.usable() || !document_b.usable()) return {std::string()};
  Comparison comparison(most);
  comparison.compare(document_a.root(), document_b.root(), facts.top());
  return comparison.take_differences();
}

}  // namespace

bool same_writable_content(std::string_view a, std::string_view b, const BodyFacts& facts) {
  return differences(a, b, facts, 1).empty();
}

bool satisfies(std::string_view state, std::string_view wanted, const BodyFacts& facts) {
  const ComparedBody bodies[] = {{wanted}, {state}};
  return Difference(bodies, facts).satisfied(0, 1);
}

std::vector<std::string> changed_pointers(std::string_view before, std::string_view after, const BodyFacts& facts,
                                          size_t most) {
  return differences(before, after, facts, most);
}

}  // namespace armgate::arm
