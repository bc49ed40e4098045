#include "rules/facts/imported_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json_pointer.h"
#include "base/text.h"
#include "json/document.h"
#include "json/tree.h"
#include "rules/facts/type_name.h"
#include "rules/file/body_settings.h"

namespace armgate::rules {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view kMark = "armgate_imported_types";
constexpr int64_t kForm = 1;

// A pointer as it is written here. Cheaper than check_pointer(), because there are tens of thousands.
bool is_pointer(std::string_view text) {
  return text.size() > 1 && text.size() <= 400 && text.front() == '/' && text.back() != '/' &&
         std::count(text.begin(), text.end(), '/') <= 16;
}

// The lines of keys that come in the order of the text.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}

  // Of the next place where this stands as a JSON string.
  int line_of(std::string_view key) {
    const size_t found = text_.find(fmt::format("\"{}\"", key), at_);
    if (found == text_.npos) return line_;  // spelt with escapes
    line_ += static_cast<int>(std::count(text_.begin() + at_, text_.begin() + found, '\n'));
    at_ = found;
    return line_;
  }

 private:
  const std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

struct TypeReader {
  const std::string& file;
  FaultList& faults;
  std::string name;
  int line = 0;

  void fault(std::string_view key, std::string_view message) {
    faults.push_back({file, line, fmt::format("/types/{}{}", pointer_token(name), key), std::string(message)});
  }

  void read_pointers(const dom::element& value, std::string_view key, std::vector<std::string>& to) {
    dom::array list;
    if (value.get(list)) return fault(key, "is no array of JSON pointers; import the facts again");
    to.reserve(list.size());
    for (const dom::element one : list) {
      std::string_view pointer;
      if (one.get(pointer) || !is_pointer(pointer)) return fault(key, "is no array of JSON pointers; import the facts again");
      to.emplace_back(pointer);
    }
  }

  void read_versions(const dom::element& value, ImportedType& type) {
    std::string_view first, last;
    if (value.at(0).get(first) || value.at(1).get(last))
      return fault("/api_versions", "is not the first and the last api-version");
    type.first_version = first;
    type.last_version = last;
    if (check_api_version(type.first_version) || check_api_version(type.last_version)) {
      fault("/api_versions", "is not the first and the last api-version");
    }
  }

  ImportedType read(const dom::element& value) {
    ImportedType type;
    type.name = name;
    std::string canonical = name;
    dom::object members;
    if (check_exact_type(canonical)) fault("", "is no resource type");
    if (value.get(members)) {
      fault("", "is no object");
      return type;
    }
    for (const auto& [key, member] : members) {
      if (key == "api_versions") {
        read_versions(member, type);
      } else if (key == "read_only") {
        read_pointers(member, "/read_only", type.body.read_only);
      } else if (key == "write_only") {
        read_pointers(member, "/write_only", type.body.write_only);
      } else if (key == "maps") {
        read_pointers(member, "/maps", type.body.maps);
      } else {
        fault("/" + pointer_token(key), "is not a key of imported facts; facts of your own belong into a rule file");
      }
    }
    for (const auto& [below, message] : contradictions(type.body, type.body)) fault(below, message + " this type");
    return type;
  }
};

struct Located {
  ImportedType type;
  int line = 0;
};

std::vector<Located> read(const std::string& file, std::string_view text, FaultList& faults) {
  std::vector<Located> all;
  dom::parser parser;
  dom::element root;
  dom::object types;
  int64_t form = 0;
  if (parser.parse(text.data(), text.size()).get(root) || root[kMark].get(form) || root["types"].get(types)) {
    faults.push_back({file, 1, "", "is no file of imported facts: it was cut or changed; import the facts again"});
    return all;
  }
  if (form != kForm) {
    faults.push_back(
        {file, 1, "", fmt::format("has the form {}, this program reads form {}; import the facts again", form, kForm)});
    return all;
  }
  LineCounter lines(text);
  all.reserve(types.size());
  std::map<std::string, int> seen;
  for (const auto& [name, value] : types) {
    TypeReader reader{file, faults, std::string(name), lines.line_of(name)};
    all.push_back({reader.read(value), reader.line});
    const auto [first, is_new] = seen.try_emplace(lower_text(name), reader.line);
    if (!is_new) reader.fault("", fmt::format("stands on line {} already; import the facts again", first->second));
  }
  return all;
}

}  // namespace

bool is_imported(std::string_view text) {
  const size_t mark = text.substr(0, 200).find(kMark);
  return mark != text.npos && text.find_first_not_of(" \t\r\n{\"") == mark;
}

std::vector<ImportedType> read_imported(const std::string& file, std::string_view text, FaultList& faults) {
  std::vector<ImportedType> types;
  for (Located& one : read(file, text, faults)) types.push_back(std::move(one.type));
  return types;
}

std::vector<FactEntry> read_imported_facts(const std::string& file, std::string_view text, FaultList& faults) {
  std::vector<FactEntry> entries;
  auto all = read(file, text, faults);
  entries.reserve(all.size());
  for (auto& [type, line] : all) {
    FactEntry& entry = entries.emplace_back();
    entry.place = {file, line};
    entry.match.types = {lower_text(type.name)};
    entry.body = std::move(type.body);
    entry.strength = FactStrength::Imported;
  }
  return entries;
}

std::string to_imported_text(const std::vector<ImportedType>& types) {
  std::string text = fmt::format("{{\"{}\": {},\n\"types\": {{", kMark, kForm);
  bool is_first = true;
  for (const ImportedType& type : types) {
    nlohmann::ordered_json one{{"api_versions", {type.first_version, type.last_version}}};
    if (!type.body.read_only.empty()) one["read_only"] = type.body.read_only;
    if (!type.body.write_only.empty()) one["write_only"] = type.body.write_only;
    if (!type.body.maps.empty()) one["maps"] = type.body.maps;
    text += fmt::format("{}\n{}: {}", is_first ? "" : ",", nlohmann::ordered_json(type.name).dump(), one.dump());
    is_first = false;
  }
  return text + "\n}}\n";
}

ImportDifference difference_between(const std::vector<ImportedType>& before, const std::vector<ImportedType>& now) {
  std::map<std::string, const ImportedType*> old;
  for (const ImportedType& type : before) old.emplace(lower_text(type.name), &type);
  ImportDifference difference;
  for (const ImportedType& type : now) {
    const auto known = old.find(lower_text(type.name));
    if (known == old.end()) {
      difference.added.push_back(type.name);
      continue;
    }
    if (!(*known->second == type)) difference.changed.push_back(type.name);
    old.erase(known);
  }
  for (const auto& [name, type] : old) difference.gone.push_back(type->name);
  return difference;
}

}  // namespace armgate::rules
