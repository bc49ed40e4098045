// codec.h – events as the bytes of a row of the log, and back.
//
// Each value is named once: the same function writes and reads it (bytes.h). The first number of a row is the format, so that
// a replica of another version says so instead of misreading.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "proxy/cluster/event.h"

namespace armgate::cluster {

// Points in time go as the distance from `now`, for clocks of different machines have nothing in common.
std::string encode(const std::vector<Event>& events, TimePoint now);

// Nothing if it is of another format, or cut short. Points in time are those of this machine if the row was written at `then`.
std::optional<std::vector<Event>> decode(std::string_view bytes, TimePoint then);

}  // namespace armgate::cluster
