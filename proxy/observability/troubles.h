// troubles.h – who had trouble lately: counts by name over the last half hour to hour.
//
// Two windows of half an hour: the one that fills, and the full one before it.
// Limits   kNamesMax names in each; further ones are not counted until a window ends.
// Threads   none of its own: whoever has it guards it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace armgate {

class Troubles {
 public:
  static constexpr Duration kWindow = std::chrono::minutes(30);
  static constexpr size_t kNamesMax = 500;

  // What one request met.
  struct Event {
    bool refused = false;   // by armgate, or as stale
    bool conflict = false;  // it ended with a 409, 412 or 429 of ARM's
    bool repeated = false;  // it was sent more than once
    int64_t waited_ms = 0;
    std::string_view words;  // what happened; outlives this
  };
  struct Counts {
    std::string name;
    uint64_t refused = 0;
    uint64_t conflicts = 0;
    uint64_t repeated = 0;
    uint64_t waited = 0;
    int64_t waited_ms = 0;
    std::string_view last_words;
    TimePoint last{};

    uint64_t all() const { return refused + conflicts + repeated + waited; }
  };

  // Nothing, if it met none.
  void add(const std::string& name, const Event& event, TimePoint now);

  // Those with the most, and of as many the most waiting, first.
  std::vector<Counts> most(size_t count, TimePoint now) const;

 private:
  using Window = std::map<std::string, Counts, std::less<>>;
  Window filling_;
  Window before_;
  TimePoint began_{};
};

}  // namespace armgate
