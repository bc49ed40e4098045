#include "rules/file/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "json/syntax_fault.h"
#include "json/tree.h"
#include "rules/file/nearest_name.h"
#include "rules/file/setting_text.h"
#include "rules/file/units.h"

namespace armgate::rules {
namespace {

using nlohmann::json;

std::string kind_of(const json& value) {
  switch (value.type()) {
    case json::value_t::null: return "null";
    case json::value_t::object: return "an object";
    case json::value_t::array: return "an array";
    case json::value_t::string: return "the text " + value.dump();
    case json::value_t::boolean: return value.get<bool>() ? "true" : "false";
    default: return "the number " + value.dump();
  }
}

// The names are few, so that all of them are told besides the one that may be meant.
std::string choice_of(const std::string& written, const std::vector<std::string>& names) {
  const std::string near = suggestion(written, names);
  const std::string all = suggestion({}, names);
  return near == all ? near : near + " " + all;
}

// Puts one value into its place; returns what is wrong with it, a whole sentence.
struct ScalarReader {
  const json& value;

  using Complaint = std::optional<std::string>;

  Complaint wrong_kind(std::string_view wanted) const { return fmt::format("must be {}, but is {}", wanted, kind_of(value)); }

  Complaint operator()(const WholeNumber& setting) const {
    const auto range = kind_to_text(setting);
    if (!value.is_number_unsigned()) return wrong_kind(range);
    const auto number = value.get<uint64_t>();
    if (number < setting.least || number > setting.most) return wrong_kind(range);
    std::visit([&](auto* to) { *to = static_cast<std::remove_reference_t<decltype(*to)>>(number); }, setting.to);
    return std::nullopt;
  }

  Complaint operator()(const Number& setting) const {
    const auto range = kind_to_text(setting);
    if (!value.is_number()) return wrong_kind(range);
    const auto number = value.get<double>();
    if (!(number >= setting.least && number <= setting.most)) return wrong_kind(range);
    *setting.to = number;
    return std::nullopt;
  }

  Complaint operator()(const ByteSize& setting) const {
    const auto range = kind_to_text(setting);
    const auto bytes = value.is_string() ? parse_bytes(value.get_ref<const std::string&>()) : std::nullopt;
    if (!bytes || *bytes < setting.least || *bytes > setting.most) return wrong_kind(range);
    *setting.to = *bytes;
    return std::nullopt;
  }

  Complaint operator()(const TimeSpan& setting) const {
    const auto range = kind_to_text(setting);
    const auto duration = value.is_string() ? parse_duration(value.get_ref<const std::string&>()) : std::nullopt;
    if (!duration || *duration < setting.least || *duration > setting.most) return wrong_kind(range);
    *setting.to = *duration;
    return std::nullopt;
  }

  Complaint operator()(const Text& setting) const {
    if (!value.is_string()) return wrong_kind("a text");
    auto text = value.get<std::string>();
    if (auto complaint = setting.check ? setting.check(text) : std::nullopt) {
      return fmt::format("\"{}\" {}", setting.is_secret ? "***" : value.get<std::string>(), *complaint);
    }
    *setting.to = std::move(text);
    return std::nullopt;
  }

  Complaint operator()(const JsonText& setting) const {
    *setting.to = value.dump();
    return std::nullopt;
  }

  Complaint operator()(const Renamed& setting) const {
    return fmt::format("is called \"{}\" now; \"armgate migrate FILE\" renames it", setting.to);
  }

  Complaint operator()(const Removed& setting) const { return "is no key any more; " + setting.instead; }

  Complaint operator()(const Choice& setting) const {
    if (!value.is_string()) return wrong_kind(kind_to_text(setting));
    const auto& name = value.get_ref<const std::string&>();
    const auto found = std::find(setting.names.begin(), setting.names.end(), name);
    if (found == setting.names.end()) {
      return fmt::format("\"{}\" is not a valid value; {}", name, choice_of(name, setting.names));
    }
    setting.set(static_cast<size_t>(found - setting.names.begin()));
    return std::nullopt;
  }
};

class Reader {
 public:
  Reader(const std::string& file, const JsonPositions& positions, FaultList& faults)
      : file_(file), positions_(positions), faults_(faults) {}

  void read_object(const json& value, const std::string& pointer, const SettingTable& table) {
    read_members(value, pointer, "", table);
    for (const Setting& setting : table) {
      if (setting.need == Need::Required && !value.contains(json::json_pointer(setting.pointer))) {
        fault(pointer, fmt::format("\"{}\" is missing: {}; add {}", setting.pointer.substr(1), setting.sentence,
                                   nested(setting.pointer)));
      }
    }
  }

  // "/match/types" -> {"match": {"types": ...}}, without the outermost braces: it stands in an object already.
  static std::string nested(std::string_view pointer) {
    const size_t slash = pointer.find('/', 1);
    if (slash == pointer.npos) return fmt::format("\"{}\": ...", pointer.substr(1));
    return fmt::format("\"{}\": {{{}}}", pointer.substr(1, slash - 1), nested(pointer.substr(slash)));
  }

  void fault(const std::string& pointer, std::string message) {
    faults_.push_back({file_, positions_.line_of(pointer), pointer, std::move(message)});
  }

  bool is_object(const json& value, const std::string& pointer) {
    if (!value.is_object()) fault(pointer, "must be an object, but is " + kind_of(value));
    return value.is_object();
  }

 private:
  // `group`: where within the table's object this object stands.
  void read_members(const json& object, const std::string& pointer, const std::string& group, const SettingTable& table) {
    for (const auto& [name, value] : object.items()) {
      const std::string path = group + "/" + pointer_token(name);
      const std::string place = pointer + "/" + pointer_token(name);
      const auto begins_here = [&](const Setting& setting) { return setting.pointer.starts_with(path + "/"); };
      const auto setting =
          std::find_if(table.begin(), table.end(), [&](const Setting& candidate) { return candidate.pointer == path; });
      if (setting != table.end()) {
        read_value(value, place, setting->value);
      } else if (std::any_of(table.begin(), table.end(), begins_here)) {
        if (is_object(value, place)) read_members(value, place, path, table);
      } else {
        fault(place, fmt::format("\"{}\" is not a known key; {}", name, remedy_for(name, group, table)));
      }
    }
  }

  // "listen.proxy" is how manuals write it.
  static std::string remedy_for(const std::string& name, const std::string& group, const SettingTable& table) {
    std::string path = group + "/" + name;
    std::replace(path.begin() + static_cast<std::ptrdiff_t>(group.size()), path.end(), '.', '/');
    const bool dotted = name.find('.') != name.npos && std::any_of(table.begin(), table.end(), [&](const Setting& setting) {
                          return setting.pointer == path;
                        });
    if (!dotted) return suggestion(name, names_in(group, table));
    const size_t dot = name.find('.');
    return fmt::format("write {{\"{}\": {{\"{}\": ...}}}}", name.substr(0, dot), name.substr(dot + 1));
  }

  static std::vector<std::string> names_in(const std::string& group, const SettingTable& table) {
    std::vector<std::string> names;
    for (const Setting& setting : table) {
      if (!setting.pointer.starts_with(group + "/") || is_gone(setting.value)) continue;
      const size_t start = group.size() + 1;
      auto name = setting.pointer.substr(start, setting.pointer.find('/', start) - start);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
    return names;
  }

  void read_value(const json& value, const std::string& pointer, const SettingValue& setting) {
    if (const auto* list = std::get_if<TextList>(&setting)) return read_list(value, pointer, *list);
    if (const auto* numbers = std::get_if<WholeNumberList>(&setting)) return read_numbers(value, pointer, *numbers);
    if (const auto* choices = std::get_if<ChoiceList>(&setting)) return read_choices(value, pointer, *choices);
    if (const auto* entries = std::get_if<Entries>(&setting)) return read_entries(value, pointer, *entries);
    if (const auto* items = std::get_if<Items>(&setting)) return read_items(value, pointer, *items);
    const auto complaint = std::visit(
        [&](const auto& scalar) -> std::optional<std::string> {
          if constexpr (std::is_invocable_v<ScalarReader, decltype(scalar)>)
            return ScalarReader{value}(scalar);
          else
            return std::nullopt;
        },
        setting);
    if (complaint) fault(pointer, *complaint);
  }

  // Reads an array of texts without repetitions. Nothing if there was a fault.
  std::optional<std::vector<std::string>> read_texts(const json& value, const std::string& pointer, size_t least,
                                                     const TextCheck& check) {
    if (!value.is_array()) {
      const std::string remedy = value.is_string() ? fmt::format("; write [{}]", value.dump()) : std::string();
      fault(pointer, "must be an array of texts, but is " + kind_of(value) + remedy);
      return std::nullopt;
    }
    const size_t faults_before = faults_.size();
    std::vector<std::string> texts;
    std::unordered_set<std::string> known;
    for (size_t i = 0; i < value.size(); ++i) {
      const std::string place = pointer + "/" + std::to_string(i);
      std::string text;
      if (const auto complaint = ScalarReader{value[i]}(Text{&text, check})) {
        fault(place, *complaint);
      } else if (!known.insert(text).second) {
        fault(place, fmt::format("\"{}\" is in this list already; remove one", text));
      } else {
        texts.push_back(std::move(text));
      }
    }
    if (faults_.size() != faults_before) return std::nullopt;
    if (texts.size() < least) {
      fault(pointer, fmt::format("must name at least {}, but names {}; add to it", least, texts.size()));
      return std::nullopt;
    }
    return texts;
  }

  void read_list(const json& value, const std::string& pointer, const TextList& setting) {
    if (auto texts = read_texts(value, pointer, setting.least, setting.check)) *setting.to = std::move(*texts);
  }

  void read_numbers(const json& value, const std::string& pointer, const WholeNumberList& setting) {
    if (!value.is_array() || value.empty()) {
      return fault(pointer, "must be an array of at least one whole number, but is " +
                                (value.is_array() ? std::string("empty") : kind_of(value)));
    }
    const size_t faults_before = faults_.size();
    std::vector<int> numbers;
    for (size_t i = 0; i < value.size(); ++i) {
      const std::string place = pointer + "/" + std::to_string(i);
      int number = 0;
      if (const auto complaint = ScalarReader{value[i]}(WholeNumber{&number, setting.least, setting.most})) {
        fault(place, *complaint);
      } else if (std::find(numbers.begin(), numbers.end(), number) != numbers.end()) {
        fault(place, fmt::format("{} is in this list already; remove one", number));
      } else {
        numbers.push_back(number);
      }
    }
    if (faults_.size() == faults_before) *setting.to = std::move(numbers);
  }

  void read_choices(const json& value, const std::string& pointer, const ChoiceList& setting) {
    std::vector<size_t> chosen;
    const auto check = [&](std::string& name) -> std::optional<std::string> {
      const auto found = std::find(setting.names.begin(), setting.names.end(), name);
      if (found == setting.names.end()) return "is not a valid value; " + choice_of(name, setting.names);
      chosen.push_back(static_cast<size_t>(found - setting.names.begin()));
      return std::nullopt;
    };
    if (read_texts(value, pointer, 1, check)) setting.set(chosen);
  }

  void read_entries(const json& value, const std::string& pointer, const Entries& setting) {
    if (!is_object(value, pointer)) return;
    std::unordered_set<std::string> names;
    for (const auto& [name, entry] : value.items()) {
      const std::string place = pointer + "/" + pointer_token(name);
      std::string checked = name;
      if (const auto complaint = setting.check_name ? setting.check_name(checked) : std::nullopt) {
        fault(place, fmt::format("\"{}\" {}", name, *complaint));
        continue;
      }
      if (!names.insert(checked).second) {
        fault(place, fmt::format("\"{}\" stands here again in another spelling; remove one", name));
        continue;
      }
      if (is_object(entry, place)) {
        read_object(entry, place, setting.add(checked));
      }
    }
  }

  void read_items(const json& value, const std::string& pointer, const Items& setting) {
    if (!value.is_array()) return fault(pointer, "must be an array of objects, but is " + kind_of(value));
    for (size_t i = 0; i < value.size(); ++i) {
      const std::string place = pointer + "/" + std::to_string(i);
      const SettingTable table =
          setting.add(positions_.line_of(place));  // also of what is no object, so that places stay the same
      if (is_object(value[i], place)) read_object(value[i], place, table);
    }
  }

  const std::string& file_;
  const JsonPositions& positions_;
  FaultList& faults_;
};

}  // namespace

std::optional<JsonPositions> read_json(const std::string& file, std::string_view text, const SettingTable& table,
                                       FaultList& faults) {
  const json document = json::parse(text, nullptr, false, true);
  if (document.is_discarded()) {
    const SyntaxFault fault = syntax_fault_in(text);
    faults.push_back({file, fault.line, "", fmt::format("is not valid JSON: column {}: {}", fault.column, fault.message)});
    return std::nullopt;
  }
  JsonPositions positions(text);
  if (positions.too_deep()) {
    faults.push_back({file, 0, "", fmt::format("is nested deeper than {} levels", JsonPositions::kDepthMax)});
    return std::nullopt;
  }
  FaultList found;
  Reader reader(file, positions, found);
  for (const auto& duplicate : positions.duplicates()) {
    found.push_back({file, duplicate.line, duplicate.pointer,
                     fmt::format("stands here a second time, first on line {}; remove one", duplicate.first_line)});
  }
  if (reader.is_object(document, "")) reader.read_object(document, "", table);
  std::stable_sort(found.begin(), found.end(), [](const Fault& a, const Fault& b) { return a.line < b.line; });
  faults.insert(faults.end(), found.begin(), found.end());
  return positions;
}

}  // namespace armgate::rules
