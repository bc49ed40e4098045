// scan.h – one string member of a resource's JSON, or the items of a list of them, found without building a tree.
//
// Why: almost every answer that passes is asked for its ETag or its provisioningState and for nothing else.
// Limits: what is skipped is not validated beyond its strings and brackets; a text that breaks off, or that names the
// member twice with different values, is unreadable.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace armgate {

struct ScannedMember {
  bool readable = false;                     // the text is a JSON object
  std::optional<std::string> own;            // the string member of that name at the top
  std::optional<std::string> in_properties;  // the same inside the top's "properties"
};

// Names are compared without case: providers spell "etag" and "eTag", ARM reads members in any case.
ScannedMember scan_string_member(std::string_view json, std::string_view wanted);

// Two members in one pass, each as if it were scanned for alone.
std::array<ScannedMember, 2> scan_string_members(std::string_view json, const std::array<std::string_view, 2>& wanted);

// False only if no object in the text can have a member of one of these names (of letters), in any case and however it is
// written. Costs a fraction of reading the text, which then need not be read.
bool may_have_member(std::string_view json, std::span<const std::string_view> names);

// One resource in a list answer ({"value":[...]}).
struct ListItem {
  std::string id;         // as written
  std::string_view body;  // the item's own JSON, a view into the page
};

// The items of a page that have a string "id". Empty if it is not a list, breaks off, or could be read in two ways
// (two members "value", an item with two ids).
std::vector<ListItem> list_items(std::string_view page);

// Without a leading byte order mark, which some providers write and RFC 8259 §8.1 lets a reader ignore.
inline std::string_view without_byte_order_mark(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
}

}  // namespace armgate
