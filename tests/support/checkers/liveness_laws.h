// liveness_laws.h – the laws of getting through (docs/design.md, "Getting through"): which fail a seed, and the
// bounds that they speak of.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/time.h"

namespace armgate::world {

enum class Law { L1, L2, L3, L4, L4Total };
std::string_view to_text(Law law);

enum class Liveness { Counted, Forbidden };

// Under drawn disturbances these are counted instead of failing a seed (docs/simulation.md has how often); without any,
// liveness_worlds_test forbids them all.
constexpr std::array kOnlyCounted{Law::L1, Law::L2, Law::L3, Law::L4, Law::L4Total};

constexpr Liveness promise_of(Law law) {
  return std::find(kOnlyCounted.begin(), kOnlyCounted.end(), law) == kOnlyCounted.end() ? Liveness::Forbidden
                                                                                        : Liveness::Counted;
}

// How many actors a name stands for, as far as the configuration says (docs/design.md, "Clients
// and actors").
enum class ClientKind { Single, Unknown, Many };

constexpr int kTakenBackRefusalsMax = 2;
constexpr int kRefusedOnOneStateMax = 2;
constexpr int kRefusedInARowMax = 3;  // two, and one more while somebody else has the turn
constexpr int kHiddenInARowMax = 12;  // of actors that share a name, and so their turns
constexpr uint64_t kLifeRefusalsMax = 2;
constexpr Duration kTurnUsed = std::chrono::milliseconds(1500);    // from the read to the write, within turn_max (2 s)
constexpr Duration kSlowNetwork = std::chrono::milliseconds(250);  // a read that took longer
constexpr Duration kThinkSlack = std::chrono::seconds(30);

}  // namespace armgate::world
