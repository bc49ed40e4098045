// json_reader.h – reads JSON with comments by a table: one Setting per value, which says where it stands, where it goes,
// what it may be and what it is for.
//
// Why: configuration and rule files are read, checked, printed and documented from the same table, so that they cannot
// drift apart. All faults are found in one reading; a value that is missing or wrong leaves its place unchanged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "rules/file/fault_list.h"
#include "rules/file/json_positions.h"

namespace armgate::rules {

// A table is bound to the one struct it fills, and prints: the pointers in it must stay valid while it is used.
struct Setting;
using SettingTable = std::vector<Setting>;

// Looks at a text, may put it into its canonical form, and returns what is wrong with it: the end of a sentence that
// begins with the text, such as "is not a host name".
using TextCheck = std::function<std::optional<std::string>(std::string&)>;

struct WholeNumber {
  std::variant<int*, size_t*> to;
  uint64_t least = 0;
  uint64_t most = 0;
};
struct WholeNumberList {  // at least one
  std::vector<int>* to = nullptr;
  uint64_t least = 0;
  uint64_t most = 0;
};
struct Number {
  double* to = nullptr;
  double least = 0;
  double most = 0;
};
struct ByteSize {  // "64KiB"
  size_t* to = nullptr;
  size_t least = 0;
  size_t most = 0;
};
struct TimeSpan {  // "500ms"
  Duration* to = nullptr;
  Duration least{};
  Duration most{};
};
struct Text {
  std::string* to = nullptr;
  TextCheck check;         // may be empty
  bool is_secret = false;  // it may hold one: messages say *** instead
};
struct TextList {  // without repetitions
  std::vector<std::string>* to = nullptr;
  TextCheck check;  // may be empty
  size_t least = 0;
};
struct Choice {  // one of a few names
  std::vector<std::string> names;
  std::function<void(size_t)> set;
  std::function<std::optional<size_t>()> get;  // nothing: none of them yet
};
struct ChoiceList {  // some of a few names, at least one
  std::vector<std::string> names;
  std::function<void(const std::vector<size_t>&)> set;
  std::function<std::vector<size_t>()> get;
};
struct JsonText {  // any JSON, kept as text
  std::string* to = nullptr;
};
struct Entries {                                             // an object whose members' names are data
  TextCheck check_name;                                      // may be empty
  std::function<SettingTable(const std::string& name)> add;  // called once per member
};
struct Items {                                // an array of objects
  std::function<SettingTable(int line)> add;  // called once per element; the table is used before the next call
};
struct Removed {        // a key that there was once: refused, whatever it holds
  std::string instead;  // what to write: "write \"/body/read_only\", ..."
};

struct Renamed {   // a key that has another name now: refused, whatever it holds (renames.h)
  std::string to;  // the name alone
};

using SettingValue = std::variant<WholeNumber, WholeNumberList, Number, ByteSize, TimeSpan, Text, TextList, Choice, ChoiceList,
                                  JsonText, Entries, Items, Removed, Renamed>;

// True of what is in a table only to be refused.
inline bool is_gone(const SettingValue& value) {
  return std::holds_alternative<Removed>(value) || std::holds_alternative<Renamed>(value);
}

enum class Need { Optional, Required };

struct Setting {
  std::string pointer;  // below the object that the table describes: "/guard/kind"
  SettingValue value;
  std::string sentence;  // what it is for
  Need need = Need::Optional;
};

// A Choice whose value is an enumerator.
template <class Enum>
Choice choice(Enum* to, std::vector<std::pair<std::string, Enum>> names) {
  Choice result;
  std::vector<Enum> values;
  for (auto& [name, value] : names) {
    result.names.push_back(std::move(name));
    values.push_back(value);
  }
  result.set = [to, values](size_t index) { *to = values[index]; };
  result.get = [to, values]() -> std::optional<size_t> {
    const auto found = std::find(values.begin(), values.end(), *to);
    if (found == values.end()) return std::nullopt;
    return static_cast<size_t>(found - values.begin());
  };
  return result;
}

// A ChoiceList whose values are enumerators.
template <class Enum>
ChoiceList choices(std::vector<Enum>* to, std::vector<std::pair<std::string, Enum>> names) {
  ChoiceList result;
  std::vector<Enum> values;
  for (auto& [name, value] : names) {
    result.names.push_back(std::move(name));
    values.push_back(value);
  }
  result.set = [to, values](const std::vector<size_t>& chosen) {
    to->clear();
    for (size_t index : chosen) to->push_back(values[index]);
  };
  result.get = [to, values] {
    std::vector<size_t> chosen;
    for (const Enum& one : *to) {
      chosen.push_back(static_cast<size_t>(std::find(values.begin(), values.end(), one) - values.begin()));
    }
    return chosen;
  };
  return result;
}

// Reads `text` into the places that `table` names and adds a fault for everything that is wrong, in the order of lines.
// Returns where everything stands, for checks across settings; nothing if the text is not JSON at all.
std::optional<JsonPositions> read_json(const std::string& file, std::string_view text, const SettingTable& table,
                                       FaultList& faults);

}  // namespace armgate::rules
