// state_log.h – every content that each simulated resource had, in order, and who gave it that.
//
// Why: whether a refusal was deserved, a read was old or somebody was in the way shows only against what was really there at
// the time. The judge of a gateway looks it up here; nothing else in the simulated ARM depends on it.
// Threads   none; the caller serialises.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "sim/entity.h"

namespace armgate::sim {

struct State {
  uint64_t serial = 0;  // counted over all resources, from 1
  TimePoint since{};
  Content content;      // a child's is its own; null: there was no such thing
  std::string version;  // version_of() the content; empty: there was no such thing
  std::string by;       // x-sim-client of the write that made it; empty: the service itself did
};
using States = std::vector<State>;  // oldest first

// Which state of a resource, or of what a child's parent is, an answer showed or a write made. `key` is the id in lower case.
struct Seen {
  std::string key;
  uint64_t serial = 0;
};

class StateLog {
 public:
  // From now on the whole resource has this content. Returns the state's serial; the content that it had is no new state.
  uint64_t add(const std::string& key, TimePoint now, Content content, std::string_view by);

  // The serial of what the whole resource is now; 0: it never was.
  uint64_t last(std::string_view key) const;

  // The states of what a path names: a whole resource, or a child that stands in its parent's content.
  States of(std::string_view path) const;

 private:
  std::map<std::string, States, std::less<>> states_;  // of whole resources, by key
  uint64_t serials_ = 0;
};

// The state that was there when the whole resource had the state `serial`; null: none was known yet.
const State* state_with(const States& states, uint64_t serial);
const State* state_at(const States& states, TimePoint when);
// The one state that was there from `from` to `to`; null: there were several, or none.
const State* state_throughout(const States& states, TimePoint from, TimePoint to);

}  // namespace armgate::sim
