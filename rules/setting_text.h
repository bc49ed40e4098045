// setting_text.h – what settings say about themselves, for messages and for the printed configuration.
#pragma once

#include <string>

#include "rules/json_reader.h"

namespace armgate::rules {

// The value that a setting's place holds, as JSON on one line ("{}" for Entries, "[]" for Items).
std::string value_to_json(const SettingValue& value);

// "1 to 256", "\"1s\" to \"1h\"", "\"protect\" or \"off\""; empty for what has no bounds.
std::string bounds_to_text(const SettingValue& value);

}  // namespace armgate::rules
