// merge_promises.h – what a merge promises for any three bodies, tried on random ones.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace armgate::arm {

// What the bodies of this seed show to be broken; nothing if all holds. `outcomes` counts how they came out.
std::optional<std::string> broken_promise(uint64_t seed, std::map<std::string, int>& outcomes);

}  // namespace armgate::arm
