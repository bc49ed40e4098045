// primary.h – which of several servers that take writes is the cluster's primary.
//
// Why: a standby may be promoted while the old primary lives on, which goes on taking writes. Replicas that use both keep
// nothing from each other. Each promotion begins a timeline with a higher number, so that the newest server is known by it.
//
// Threads   any; no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace armgate::cluster {

// A server that takes writes, as it tells of itself.
struct Primary {
  std::string name;    // for people
  std::string system;  // the same for all that were copied from one
  int64_t timeline = 0;
  std::string begun;  // its process: two names may be one server's
};

// Whether `other` was promoted after it. Of servers that were not copied from one nobody can say.
bool is_older(const Primary& one, const Primary& other);

// The one that is newer than all others, or their like. Nothing: none of them is.
std::optional<size_t> newest_of(const std::vector<Primary>& servers);

// For people, of servers of which more than one takes writes; nothing: that is not so.
std::optional<std::string> rivals_among(const std::vector<Primary>& servers);

}  // namespace armgate::cluster
