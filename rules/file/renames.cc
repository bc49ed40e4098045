#include "rules/file/renames.h"

#include <algorithm>

#include "json/tree.h"
#include "rules/file/json_positions.h"

namespace armgate::rules {
namespace {

using nlohmann::json;

void collect(const json& object, const std::string& pointer, const SettingTable& table, std::vector<Rename>& found) {
  for (const Setting& setting : table) {
    const json::json_pointer place(setting.pointer);
    if (!object.contains(place)) continue;
    const json& value = object[place];
    const std::string here = pointer + setting.pointer;
    if (const auto* renamed = std::get_if<Renamed>(&setting.value)) found.push_back({0, here, renamed->to});
    if (const auto* items = std::get_if<Items>(&setting.value); items != nullptr && value.is_array()) {
      for (size_t i = 0; i < value.size(); ++i) {
        if (value[i].is_object()) collect(value[i], here + "/" + std::to_string(i), items->add(0), found);
      }
    }
    if (const auto* entries = std::get_if<Entries>(&setting.value); entries != nullptr && value.is_object()) {
      for (const auto& [name, entry] : value.items()) {
        if (entry.is_object()) collect(entry, here + "/" + pointer_token(name), entries->add(name), found);
      }
    }
  }
}

}  // namespace

std::vector<Rename> renames_in(std::string_view text, const SettingTable& table) {
  std::vector<Rename> found;
  const json document = json::parse(text, nullptr, false, true);
  if (!document.is_object()) return found;
  collect(document, "", table, found);
  const JsonPositions positions(text);
  for (Rename& rename : found) {
    rename.line = positions.line_of(rename.from);
    const std::string beside = rename.from.substr(0, rename.from.rfind('/') + 1) + pointer_token(rename.to);
    rename.both = positions.name_of(beside).has_value();
  }
  std::stable_sort(found.begin(), found.end(), [](const Rename& a, const Rename& b) { return a.line < b.line; });
  return found;
}

std::string renamed(std::string_view text, const std::vector<Rename>& renames) {
  const JsonPositions positions(text);
  struct Change {
    JsonPositions::Name name;
    const std::string* to;
  };
  std::vector<Change> changes;
  for (const Rename& rename : renames) {
    const auto name = positions.name_of(rename.from);
    if (name && !rename.both) changes.push_back({*name, &rename.to});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.name.begin > b.name.begin; });
  std::string result(text);
  for (const Change& change : changes) result.replace(change.name.begin, change.name.length, "\"" + *change.to + "\"");
  return result;
}

}  // namespace armgate::rules
