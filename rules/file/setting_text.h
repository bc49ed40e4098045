// setting_text.h – what settings say about themselves, for messages and for the printed configuration.
#pragma once

#include <optional>
#include <string>

#include "rules/file/json_reader.h"

namespace armgate::rules {

// The value that a setting's place holds, as JSON on one line ("{}" for Entries, "[]" for Items).
std::string value_to_json(const SettingValue& value);

// "1 to 256", "\"1s\" to \"1h\"", "\"protect\" or \"off\""; empty for what has no bounds.
std::string bounds_to_text(const SettingValue& value);

// What a value must be: "a duration in ms, s, m or h from \"1s\" to \"1h\"", "\"protect\" or \"off\"".
std::string kind_to_text(const SettingValue& value);

// What holds if the key is left out, as value_to_json(); nothing if that cannot be written or the key is required.
std::optional<std::string> default_to_json(const Setting& setting);

// The line that the manuals and editors show below a key: kind_to_text(), and what holds if it is left out.
std::string facts_of(const Setting& setting);

}  // namespace armgate::rules
