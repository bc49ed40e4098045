#include "rules/file/editor_schema.h"

#include <algorithm>

#include "json/tree.h"
#include "rules/file/setting_text.h"
#include "rules/file/units.h"

namespace armgate::rules {
namespace {

using Json = nlohmann::ordered_json;

// The table of what an object in a list or an entry may say.
struct Below {
  std::optional<SettingTable> operator()(const Items& items) const { return items.add(0); }
  std::optional<SettingTable> operator()(const Entries& entries) const { return entries.add("name"); }
  template <class Scalar>
  std::optional<SettingTable> operator()(const Scalar&) const {
    return std::nullopt;
  }
};

Json object_of(const SettingTable& table);

Json text_of(const TextCheck& check) {
  Json schema{{"type", "string"}};
  std::string empty;
  if (check && check(empty)) schema["minLength"] = 1;
  return schema;
}

Json list_of(Json items, size_t least) {
  Json schema{{"type", "array"}, {"items", std::move(items)}, {"uniqueItems", true}};
  if (least > 0) schema["minItems"] = least;
  return schema;
}

template <class Bounded>
Json number_of(const char* type, const Bounded& setting) {
  return {{"type", type}, {"minimum", setting.least}, {"maximum", setting.most}};
}

// Patterns are no reading for people: an editor that knows the extra word (VS Code) shows that instead.
template <class Bounded>
Json amount_of(const Bounded& setting, std::string pattern) {
  return {
      {"type", "string"}, {"pattern", std::move(pattern)}, {"patternErrorMessage", "Must be " + kind_to_text(setting) + "."}};
}

struct SchemaOf {
  Json operator()(const WholeNumber& s) const { return number_of("integer", s); }
  Json operator()(const WholeNumberList& s) const { return list_of(number_of("integer", s), 1); }
  Json operator()(const Number& s) const { return number_of("number", s); }
  Json operator()(const ByteSize& s) const { return amount_of(s, bytes_pattern(s.least, s.most)); }
  Json operator()(const TimeSpan& s) const { return amount_of(s, duration_pattern(s.least, s.most)); }
  Json operator()(const Text& s) const { return text_of(s.check); }
  Json operator()(const TextList& s) const { return list_of(text_of(s.check), s.least); }
  Json operator()(const Choice& s) const { return {{"enum", s.names}}; }
  Json operator()(const ChoiceList& s) const { return list_of({{"enum", s.names}}, 1); }
  Json operator()(const JsonText&) const { return Json::object(); }
  Json operator()(const Removed&) const { return false; }
  Json operator()(const Renamed&) const { return false; }
  Json operator()(const Entries& s) const { return {{"type", "object"}, {"additionalProperties", object_of(*Below{}(s))}}; }
  Json operator()(const Items& s) const { return {{"type", "array"}, {"items", object_of(*Below{}(s))}}; }
};

// "the rules; the first decides" -> "The rules; the first decides. An array of objects. Default: []."
std::string description_of(const Setting& setting) {
  std::string text = setting.sentence;
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text + (text.ends_with('.') ? " " : ". ") + facts_of(setting);
}

Json leaf_of(const Setting& setting) {
  Json schema{{"description", description_of(setting)}};
  schema.update(std::visit(SchemaOf{}, setting.value));
  if (const auto value = default_to_json(setting)) schema["default"] = Json::parse(*value);
  return schema;
}

Json empty_object() { return {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}}; }

void require(Json& object, const std::string& name) {
  Json& names = object["required"];
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

Json object_of(const SettingTable& table) {
  Json root = empty_object();
  for (const Setting& setting : table) {
    if (is_gone(setting.value)) continue;
    Json* object = &root;
    size_t start = 1;
    for (;;) {
      const size_t slash = setting.pointer.find('/', start);
      const std::string name = setting.pointer.substr(start, slash - start);
      if (setting.need == Need::Required) require(*object, name);
      Json& properties = (*object)["properties"];
      if (slash == setting.pointer.npos) {
        properties[name] = leaf_of(setting);
        break;
      }
      if (!properties.contains(name)) properties[name] = empty_object();
      object = &properties[name];
      start = slash + 1;
    }
  }
  return root;
}

void visit_below(const std::string& parent, const SettingTable& table, const SettingVisitor& visit) {
  for (const Setting& setting : table) {
    if (is_gone(setting.value)) continue;
    const std::string pointer = parent + setting.pointer;
    visit(pointer, setting);
    if (const auto below = std::visit(Below{}, setting.value)) visit_below(pointer + "/*", *below, visit);
  }
}

}  // namespace

void visit_settings(const SettingTable& table, const SettingVisitor& visit) { visit_below("", table, visit); }

std::string to_schema(const SettingTable& table, std::string_view title, std::string_view description) {
  Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", title}, {"description", description}};
  schema.update(object_of(table));
  return schema.dump(2) + "\n";
}

}  // namespace armgate::rules
