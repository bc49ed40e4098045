// configured.h – how a replica is configured, as far as all must be alike, and in what another differs.
//
// Why: replicas with other rules lock other things, and one in mode observe protects nothing. Neither shows in what they tell
// each other.
// Threads   any; no state.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace armgate::cluster {

// Names and values without line ends, the name without a space. A value that begins with "#" is a hash and is not told to
// people.
using Configured = std::vector<std::pair<std::string, std::string>>;

// As it stands in the engine, for the other replicas: readable, so nothing in it may be secret.
std::string to_text(const Configured& configured);

// In what `other` differs from `own`, both from to_text(), for people; empty: in nothing. What only one of them names is of
// another version of armgate and does not count.
std::string difference(std::string_view own, std::string_view other);

}  // namespace armgate::cluster
