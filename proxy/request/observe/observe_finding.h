// observe_finding.h – what armgate would have done about a request, had it been asked to protect: the reports of mode observe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace armgate {

struct ObserveFinding {
  enum class Kind {
    Stale,      // refused: another change came after the state that the write was built from
    Merged,     // sent with that change, which it does not touch
    Overlap,    // queued: another write to what it locks was unfinished
    Duplicate,  // answered from the earlier sending of the same request instead of being sent
    Sick,       // refused: its resource's operations keep failing
    Wait,       // this long, told when the writes before it have ended
  };
  Kind kind = Kind::Overlap;
  std::string client;
  std::string other_client;  // whose write came before; empty: not known, or not through armgate
  std::string method;
  std::string resource;
  std::string other;                 // what the other one wrote, if it is known: "PUT /subscriptions/..."
  std::vector<std::string> changed;  // Stale, Merged: JSON pointers of what changed in between, a few; empty: not known
  std::string base;                  // Stale, Merged: how the state that it was built from was told (policy::BaseRule)
  std::string why;
  Duration waited{};  // Wait
};

inline std::string_view to_text(ObserveFinding::Kind kind) {
  switch (kind) {
    case ObserveFinding::Kind::Stale: return "stale";
    case ObserveFinding::Kind::Merged: return "merged";
    case ObserveFinding::Kind::Overlap: return "overlap";
    case ObserveFinding::Kind::Duplicate: return "duplicate";
    case ObserveFinding::Kind::Sick: return "sick";
    case ObserveFinding::Kind::Wait: return "wait";
  }
  return "unknown";
}

}  // namespace armgate
