#include "rules/facts/bicep_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "arm/body/body_facts.h"
#include "base/json_pointer.h"
#include "base/text.h"
#include "json/document.h"
#include "json/select.h"

namespace armgate::rules {
namespace {

namespace dom = simdjson::dom;

// Of a property, in bicep-types' TypePropertyFlags.
constexpr int64_t kReadOnly = 2;
constexpr int64_t kWriteOnly = 4;

std::string_view text_of(const dom::element& element, std::string_view key) {
  std::string_view text;
  return element[key].get(text) ? std::string_view() : text;
}

bool flag_of(const dom::element& element, std::string_view key) {
  bool flag = false;
  return !element[key].get(flag) && flag;
}

// What is known of every type needs no line in a file.
bool is_generic(const std::string& pointer) {
  arm::BodyPlace place = arm::BodyFacts::generic()->top();
  for (const std::string& token : pointer_tokens(pointer)) {
    place = token == "*" ? place.element() : place.member(token);
    if (place.read_only()) return true;
  }
  return false;
}

bool stands_below(const std::string& pointer, const std::vector<std::string>& others) {
  return std::any_of(others.begin(), others.end(), [&](const std::string& other) { return pointer.starts_with(other + "/"); });
}

// Whether one of the others stands at the pointer or below it. Names count without case.
bool is_at_or_above(const std::string& pointer, const std::vector<std::string>& others) {
  return std::any_of(others.begin(), others.end(), [&](const std::string& other) {
    return starts_with_ignoring_case(other, pointer) && (other.size() == pointer.size() || other[pointer.size()] == '/');
  });
}

bool is_known_map(const std::string& pointer) {
  arm::BodyPlace place = arm::BodyFacts::generic()->top();
  for (const std::string& token : pointer_tokens(pointer)) place = token == "*" ? place.element() : place.member(token);
  return place.is_map();
}

// What alone shows that somebody has set a secret, and moves with that alone: the service's, but to be compared
// (docs/types.md).
bool is_trace_of_secret(std::string_view pointer) {
  const std::string_view name = pointer.substr(pointer.rfind('/') + 1);
  constexpr std::array<std::string_view, 3> kNames{"publicCertData", "publicData", "secretUriWithVersion"};
  return contains_ignoring_case(name, "thumbprint") ||
         std::ranges::any_of(kNames, [&](std::string_view known) { return equal_ignoring_case(name, known); });
}

}  // namespace

// One types.json: an array of types that refer to each other by their places in it.
class BicepDocument {
 public:
  explicit BicepDocument(const dom::array& types) : types_(types.begin(), types.end()) {}

  const std::vector<dom::element>& types() const { return types_; }

  BicepTypes::Members members_of(const dom::element& body) {
    BicepTypes::Members found;
    found_ = &found;
    visits_ = 0;
    if (const auto index = index_of(body)) follow(*index, "", 0, {});
    found_ = nullptr;
    return found;
  }

 private:
  using Property = std::pair<std::string_view, dom::element>;
  using Path = std::vector<size_t>;  // of types that are being followed

  // Where a {"$ref": "#/12"} leads.
  std::optional<size_t> index_of(const dom::element& reference) const {
    std::string_view text = text_of(reference, "$ref");
    text.remove_prefix(std::min(text.rfind('/') + 1, text.size()));
    size_t index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (error != std::errc() || end != text.data() + text.size() || index >= types_.size()) return std::nullopt;
    return index;
  }

  static int64_t flags_of(const dom::element& property) {
    int64_t flags = 0;
    return property["flags"].get(flags) ? 0 : flags;
  }

  static void append(const dom::element& type, std::string_view key, std::vector<Property>& to) {
    dom::object properties;
    if (type[key].get(properties)) return;
    for (const auto& [name, property] : properties) to.emplace_back(name, property);
  }

  // Of an object; of one with variants, those of all variants.
  std::vector<Property> properties_of(const dom::element& type) const {
    std::vector<Property> all;
    append(type, "properties", all);
    append(type, "baseProperties", all);
    dom::object variants;
    if (type["elements"].get(variants)) return all;
    for (const auto& [name, variant] : variants) {
      if (const auto index = index_of(variant)) append(types_[*index], "properties", all);
    }
    return all;
  }

  // An object that stands for another resource: ARM reads its id only.
  bool is_reference(const dom::element& type, bool is_element) const {
    if (text_of(type, "$type") != "ObjectType") return false;
    const auto all = properties_of(type);
    const auto find = [&](std::string_view name) {
      return std::find_if(all.begin(), all.end(), [&](const Property& one) { return one.first == name; });
    };
    const auto has = [&](std::string_view name) { return find(name) != all.end(); };
    if (!has("id") || (flags_of(find("id")->second) & kReadOnly) != 0) return false;
    if (all.size() == 1 || has("location")) return true;
    return !is_element && has("properties") && (has("etag") || has("type"));
  }

  void put(const std::string& pointer, int64_t flags, bool is_map) {
    if (pointer.empty()) return;
    BicepTypes::Member& member = (*found_)[pointer];
    member.read_only &= (flags & kReadOnly) != 0;
    member.write_only |= (flags & kWriteOnly) != 0;
    member.is_map |= is_map;
  }

  bool is_spent(const Path& path) {
    return ++visits_ > 5 * BicepTypes::kMembersMax || found_->size() > BicepTypes::kMembersMax ||
           path.size() > BicepTypes::kDepthMax;
  }

  void follow(size_t index, const std::string& pointer, int64_t flags, const Path& path) {
    const dom::element& type = types_[index];
    const std::string_view kind = text_of(type, "$type");
    if (flag_of(type, "sensitive")) flags |= kWriteOnly;
    if (is_spent(path)) return;
    if (kind == "UnionType") return follow_union(type, pointer, flags, path);
    if (kind == "ArrayType") {
      put(pointer, flags, false);
      dom::element reference;
      if ((flags & kReadOnly) != 0 || type["itemType"].get(reference)) return;
      if (const auto item = index_of(reference)) follow(*item, pointer + "/*", 0, path);
      return;
    }
    if (kind == "ObjectType" || kind == "DiscriminatedObjectType") return follow_object(index, pointer, flags, path);
    put(pointer, flags, false);
  }

  void follow_union(const dom::element& type, const std::string& pointer, int64_t flags, const Path& path) {
    dom::array elements;
    if (type["elements"].get(elements)) return;
    bool is_plain = true;
    for (const dom::element one : elements) {
      const auto index = index_of(one);
      if (!index) continue;
      const std::string_view kind = text_of(types_[*index], "$type");
      if (kind != "ObjectType" && kind != "DiscriminatedObjectType" && kind != "ArrayType") continue;
      is_plain = false;
      follow(*index, pointer, flags, path);
    }
    if (is_plain) put(pointer, flags, false);
  }

  void follow_object(size_t index, const std::string& pointer, int64_t flags, Path path) {
    const dom::element& type = types_[index];
    dom::element additional;
    const bool is_map = !type["additionalProperties"].get(additional) && index_of(additional);
    put(pointer, flags, is_map);
    const bool is_cycle = std::find(path.begin(), path.end(), index) != path.end();
    const bool is_top = pointer.empty();
    if ((flags & kReadOnly) != 0 || is_cycle || (!is_top && is_reference(type, pointer.ends_with("/*")))) return;
    path.push_back(index);
    for (const auto& [name, property] : properties_of(type)) {
      const bool is_arms_own = is_top && (name == "id" || name == "name" || name == "type" || name == "apiVersion");
      dom::element reference;
      if (is_arms_own || property["type"].get(reference)) continue;
      if (const auto below = index_of(reference)) follow(*below, pointer + "/" + pointer_token(name), flags_of(property), path);
    }
    if (is_map) follow(*index_of(additional), pointer + "/*", 0, path);
  }

  const std::vector<dom::element> types_;
  BicepTypes::Members* found_ = nullptr;
  size_t visits_ = 0;
};

void BicepTypes::take_in(const std::string& version, Members members, Versions& versions) {
  for (const auto& [pointer, member] : members) {
    if (!member.read_only) versions.writable.insert(pointer);
  }
  if (versions.first.empty() || version < versions.first) versions.first = version;
  if (version < versions.last) return;
  versions.last = version;
  versions.newest = std::move(members);
}

void BicepTypes::add(const std::string& file, std::string_view json, FaultList& faults) {
  dom::parser parser;
  dom::array all;
  if (parser.parse(json.data(), json.size()).get(all)) {
    faults.push_back({file, 0, "", "is no types.json of bicep-types-az: no JSON array"});
    return;
  }
  BicepDocument document(all);
  size_t resources = 0;
  for (const dom::element& type : document.types()) {
    if (text_of(type, "$type") != "ResourceType") continue;
    ++resources;
    const std::string_view name = text_of(type, "name");
    const size_t at = name.rfind('@');
    dom::element body;
    if (at == name.npos || type["body"].get(body)) {
      faults.push_back(
          {file, 0, "", fmt::format("describes \"{}\" in a form that this program does not know", printable(name))});
      continue;
    }
    described_.insert(lower_text(name));
    int64_t scopes = 0;
    if (type["writableScopes"].get(scopes) || scopes == 0) continue;
    const std::string version = lower_text(name.substr(at + 1));
    Type& known = types_[lower_text(name.substr(0, at))];
    if (known.name.empty()) known.name = name.substr(0, at);
    constexpr size_t kDateLength = 10;
    take_in(version, document.members_of(body), version.size() == kDateLength ? known.stable : known.preview);
  }
  const bool is_old_form = resources == 0 && !document.types().empty() && text_of(document.types().front(), "$type").empty();
  if (is_old_form) faults.push_back({file, 0, "", "is of an older form of bicep-types-az; take a newer checkout"});
}

bool BicepTypes::has(std::string_view type_and_version) const { return described_.contains(lower_text(type_and_version)); }

std::vector<ImportedType> BicepTypes::types() const {
  std::vector<ImportedType> all;
  for (const auto& [canonical, type] : types_) {
    const Versions& versions = type.stable.last.empty() ? type.preview : type.stable;
    ImportedType one{type.name, versions.first, versions.last, {}};
    std::string above = "\n";  // the last read-only member: what stands below needs no line
    for (const auto& [pointer, member] : versions.newest) {
      // The names that are known for every type say nothing among names of a client's own choice.
      const bool is_in_map = stands_below(pointer, one.body.maps);
      if (pointer.starts_with(above + "/") || (!is_in_map && is_generic(pointer))) continue;
      if (member.read_only) {
        if (versions.writable.contains(pointer) || is_trace_of_secret(pointer)) continue;
        one.body.read_only.push_back(above = pointer);
        continue;
      }
      if (member.write_only) one.body.write_only.push_back(pointer);
      if (member.is_map && !is_known_map(pointer)) one.body.maps.push_back(pointer);
    }
    // Spelt in two ways, a member can be the service's and the client's: then it is the client's.
    std::erase_if(one.body.read_only, [&](const std::string& pointer) {
      return is_at_or_above(pointer, one.body.write_only) || is_at_or_above(pointer, one.body.maps);
    });
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace armgate::rules
