// record_view.h – records of writes as JSON, for `armgate history` and `armgate blame` and for whoever asks the service.
//
// Nothing that is secret is in them: no body, no hash of a client, no query of a URL.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "json/tree_fwd.h"
#include "proxy/seams/store.h"

namespace armgate {

// Of writes that the service tells of at once; `armgate history` reads more of a journal by itself.
inline constexpr size_t kHistoryMax = 1'000;
// ?only= of /history: WhichWrites::MayHaveWritten.
inline constexpr std::string_view kOnlyWritten = "written";

// The members of one are told in docs/journal.md, "Did it run?".
nlohmann::json to_json(const JournaledWrite& write);

// {"writes": [...], "state": {...}}: the oldest first; `state` is the resource's that was asked for, if it is known.
nlohmann::json to_json(const std::vector<JournaledWrite>& newest_first, const std::optional<ResourceState>& state);

}  // namespace armgate
