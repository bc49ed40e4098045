// json_text.h – JSON text to values and back, as nlohmann's parse() and dump() do it, in a fraction of their time.
//
// Why: they look at every byte by itself, and that was a quarter of what a simulated run did. Here simdjson reads, and
// strings without escapes are copied whole.
#pragma once

#include <string>
#include <string_view>

#include "json/tree_fwd.h"

namespace armgate::sim {

// The bytes that dump() would give; invalid UTF-8 is replaced.
std::string json_text(const nlohmann::json& value);

// The value that parse() would give; a discarded one if the text is no JSON.
nlohmann::json json_value(std::string_view text);

}  // namespace armgate::sim
