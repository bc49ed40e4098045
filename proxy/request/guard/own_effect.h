// own_effect.h – telling whether a state that was read is what an earlier sending of these bytes has made of the resource.
#pragma once

#include "proxy/request/read_again.h"
#include "proxy/request/write/write.h"

namespace armgate {

// Whether the state is this write's own doing; if that was merged, the request's body becomes what was sent then. Asked if a
// sending of its bytes may have taken effect. `known_since` is when the state that the write was built on was known to stand,
// `etag` the one that it was sent with (empty: none).
bool is_own_effect(const Write& write, uint64_t known_since, std::string_view etag, const SeenState& state);

// Whether all that the write asks for is in the state (arm::satisfies).
bool is_satisfied(const Write& write, const SeenState& state);

// Whether the state is what the write asks for, with nothing more in it.
bool asks_for_exactly(const Write& write, const SeenState& state);

// The write is in the state that was read: the client is told so with the state as ARM shows it now.
Outcome was_ours(const Write& write, SeenState&& state);

}  // namespace armgate
