// readable_part.h – what a JSON text says before the place where it is no JSON any more.
//
// Why: a file that somebody has just spoilt is still the only one that says where the service can be asked that runs with what
// stood in it before. A parser, which the whole text is for, refuses it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace armgate {

// The string whose place is named by the names of members, from the outermost; nothing if it stands behind the fault, is no
// string, or is there twice. Comments are read over.
std::optional<std::string> string_before_fault(std::string_view text, const std::vector<std::string>& place);

}  // namespace armgate
