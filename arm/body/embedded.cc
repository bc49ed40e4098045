#include "arm/body/embedded.h"

#include <fmt/format.h>

#include <optional>

#include "base/text.h"
#include "json/document.h"
#include "json/scan.h"
#include "json/spans.h"

namespace armgate::arm {
namespace {

std::string_view last_segment(std::string_view path) { return path.substr(path.rfind('/') + 1); }

struct Member {
  size_t at = 0;  // its place among the members
  simdjson::dom::element value;
};

std::optional<Member> member_of(const simdjson::dom::element& element, std::string_view name) {
  if (!is_object(element)) return std::nullopt;
  size_t at = 0;
  for (const JsonMember& member : simdjson::dom::object(element)) {
    if (equal_ignoring_case(member.key, name)) return Member{at, member.value};
    ++at;
  }
  return std::nullopt;
}

std::string_view text_of(const simdjson::dom::element& element, std::string_view name) {
  const auto member = member_of(element, name);
  const bool is_text = member && member->value.type() == simdjson::dom::element_type::STRING;
  return is_text ? std::string_view(member->value) : std::string_view();
}

bool is_it(const simdjson::dom::element& element, const ResourceId& child) {
  const std::string_view id = text_of(element, "id");
  if (id.empty()) return equal_ignoring_case(text_of(element, "name"), last_segment(child.id));
  const auto parsed = parse_resource_id(id);
  return parsed && *parsed == child;
}

// In the form that they have as a resource of their own (REST reference, "Tags - Get At Scope").
std::string tags_alone(const JsonDocument& document, std::string_view body) {
  const auto tags = member_of(document.root(), "tags");
  if (!tags || !is_object(tags->value)) return R"({"properties":{"tags":{}}})";
  const JsonSpans spans(body);
  return fmt::format(R"({{"properties":{{"tags":{}}}}})", spans.value(spans.items(0)[tags->at]));
}

}  // namespace

Embedded find_embedded(std::string_view parent, const ResourceId& child) {
  Embedded found;
  parent = without_byte_order_mark(parent);
  const JsonDocument document(parent);
  if (!document.usable() || !is_object(document.root())) return found;
  if (child.type == kTagsType) return {false, tags_alone(document, parent)};
  const auto properties = member_of(document.root(), "properties");
  const auto list = properties ? member_of(properties->value, last_segment(child.type)) : std::nullopt;
  if (!list || !is_array(list->value)) return found;
  found.lists = true;
  size_t at = 0;
  for (const simdjson::dom::element element : simdjson::dom::array(list->value)) {
    if (is_it(element, child)) {
      const JsonSpans spans(parent);
      const size_t elements = spans.items(spans.items(0)[properties->at])[list->at];
      found.element = std::string(spans.value(spans.items(elements)[at]));
      return found;
    }
    ++at;
  }
  return found;
}

}  // namespace armgate::arm
