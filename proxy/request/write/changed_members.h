// changed_members.h – which members a write changed, by name: for `armgate blame`. Values are never told.
#pragma once

#include <optional>
#include <string>

#include "proxy/seams/store.h"

namespace armgate {

// JSON pointers (arm/body/difference.h), one a line, kChangedMembersMax at most, then "..."; "" alone: all of it. Nothing: not
// known, or the bodies are longer than kComparedBytesMax. Costs a comparison of the two bodies. Any thread.
inline constexpr size_t kChangedMembersMax = 20;
inline constexpr size_t kComparedBytesMax = 256u << 10;
std::optional<std::string> changed_members(const AskedChange& change);

}  // namespace armgate
