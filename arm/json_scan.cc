// Everything here reads on demand: the text is indexed once, and only the members asked for are decoded.
#include "arm/json_scan.h"

#include <simdjson.h>

#include "arm/content.h"
#include "base/text.h"

namespace armgate::arm {
namespace {

namespace ondemand = simdjson::ondemand;

// Hands every member to visit(name, value). False if the document breaks there or a visit says so.
template <class Visit>
bool visit_members(ondemand::object& object, Visit visit) {
  for (auto field : object) {
    std::string_view name;
    ondemand::value value;
    if (field.unescaped_key().get(name) || field.value().get(value) || !visit(name, value)) return false;
  }
  return true;
}

// The same for a whole text, which must be one object and nothing after it.
template <class Visit>
bool visit_top_members(const simdjson::padded_string& text, Visit visit) {
  ondemand::parser parser;
  ondemand::document document;
  ondemand::object top;
  if (parser.iterate(text).get(document) || document.get_object().get(top)) return false;
  return visit_members(top, visit) && document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

// Keeps a string; any other value is passed over. False if the document breaks or the member was there before with
// another value.
bool keep_string(ondemand::value value, std::optional<std::string>& kept) {
  ondemand::json_type type;
  if (value.type().get(type)) return false;
  if (type != ondemand::json_type::string) return true;
  std::string_view text;
  if (value.get_string().get(text)) return false;
  if (kept && *kept != text) return false;
  kept = std::string(text);
  return true;
}

bool scan_properties(ondemand::value value, std::string_view wanted, std::optional<std::string>& kept) {
  ondemand::json_type type;
  if (value.type().get(type)) return false;
  if (type != ondemand::json_type::object) return true;
  ondemand::object properties;
  if (value.get_object().get(properties)) return false;
  return visit_members(properties, [&](std::string_view name, ondemand::value member) {
    return !equal_ignoring_case(name, wanted) || keep_string(member, kept);
  });
}

// The item's "id", empty if it is no string. False if the page is broken there, or the item has two.
bool read_id(ondemand::object& item, std::string& id) {
  std::optional<std::string> kept;
  const bool intact = visit_members(item, [&](std::string_view name, ondemand::value member) {
    return name != "id" || keep_string(member, kept);
  });
  id = kept.value_or(std::string());
  return intact;
}

// The raw text of an item runs up to the next token, so it may end in blanks.
std::string_view without_trailing_blanks(std::string_view raw) {
  return raw.substr(0, raw.find_last_not_of(" \t\r\n") + 1);
}

// `copy` is where the parser's copy of `page` begins.
bool read_items(ondemand::value list, const char* copy, std::string_view page, std::vector<ListItem>& items) {
  ondemand::array array;
  if (list.get_array().get(array)) return false;
  for (auto element : array) {
    ondemand::json_type type;
    if (element.type().get(type)) return false;
    if (type != ondemand::json_type::object) continue;
    ondemand::object item;
    std::string_view raw;
    if (element.get_object().get(item) || item.raw_json().get(raw) || item.reset().error()) return false;
    std::string id;
    if (!read_id(item, id)) return false;
    if (id.empty()) continue;
    raw = without_trailing_blanks(raw);
    items.push_back(ListItem{std::move(id), page.substr(static_cast<size_t>(raw.data() - copy), raw.size())});
  }
  return true;
}

}  // namespace

ScannedMember scan_string_member(std::string_view json, std::string_view wanted) {
  const simdjson::padded_string text(without_byte_order_mark(json));
  ScannedMember found;
  found.readable = visit_top_members(text, [&](std::string_view name, ondemand::value value) {
    if (equal_ignoring_case(name, wanted)) return keep_string(value, found.own);
    return !equal_ignoring_case(name, "properties") || scan_properties(value, wanted, found.in_properties);
  });
  return found.readable ? found : ScannedMember{};
}

std::vector<ListItem> list_items(std::string_view page) {
  page = without_byte_order_mark(page);
  const simdjson::padded_string text(page);
  std::vector<ListItem> items;
  size_t lists = 0;
  const bool intact = visit_top_members(text, [&](std::string_view name, ondemand::value value) {
    return name != "value" || (++lists == 1 && read_items(value, text.data(), page, items));
  });
  if (!intact) items.clear();
  return items;
}

}  // namespace armgate::arm
