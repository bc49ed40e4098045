#include "json/document.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "json/scan.h"

namespace armgate {
namespace {

namespace dom = simdjson::dom;

// Counts the values of a document, and looks whether a name stands twice in an object.
class Census {
 public:
  explicit Census(size_t nodes_max) : nodes_left_(nodes_max) {}

  bool passes(const dom::element& element) {
    if (nodes_left_ == 0) return false;
    --nodes_left_;
    if (is_array(element)) {
      const dom::array array = element;
      return std::all_of(array.begin(), array.end(), [this](const dom::element& item) { return passes(item); });
    }
    if (!is_object(element)) return true;
    const dom::object object = element;
    return has_unique_names(object) &&
           std::all_of(object.begin(), object.end(), [this](const JsonMember& member) { return passes(member.value); });
  }

 private:
  static bool has_unique_names(const dom::object& object) {
    constexpr size_t kFew = 16;  // compared with each other, without memory of their own
    std::array<std::string_view, kFew> few;
    size_t count = 0;
    for (auto at = object.begin(); at != object.end(); ++at) {
      if (count == kFew) return many_are_unique(object);
      const std::string_view name = at.key();
      if (std::find(few.begin(), few.begin() + count, name) != few.begin() + count) return false;
      few[count++] = name;
    }
    return true;
  }

  static bool many_are_unique(const dom::object& object) {
    std::vector<std::string_view> names;
    for (auto at = object.begin(); at != object.end(); ++at) names.push_back(at.key());
    std::sort(names.begin(), names.end());
    return std::adjacent_find(names.begin(), names.end()) == names.end();
  }

  size_t nodes_left_;
};

}  // namespace

JsonDocument::JsonDocument(std::string_view json, size_t nodes_max) {
  json = without_byte_order_mark(json);
  if (json.empty() || parser_.allocate(json.size(), kJsonNestingMax)) return;
  if (parser_.parse(json.data(), json.size()).get(root_)) return;
  usable_ = Census(nodes_max).passes(root_);
}

JsonNumber number_of(const dom::element& element) {
  if (uint64_t value = 0; element.is_uint64() && !element.get(value)) return value;
  if (int64_t value = 0; element.is_int64() && !element.get(value)) return value;
  double value = 0;
  if (element.get(value)) return 0.0;
  if (value != std::trunc(value)) return value;
  if (value >= 0 && value < 0x1p64) return static_cast<uint64_t>(value);
  if (value < 0 && value >= -0x1p63) return static_cast<int64_t>(value);
  return value;
}

}  // namespace armgate
