// fair_share.h – who goes next when what ARM takes of a principal for a subscription is used up: one budget (reads, writes or
// deletes).
//
// Why: clients that share a budget and run into its end are all told 429, and whoever comes again fastest gets what is
// refilled. In a line each gets its part: of what is refilled as much as it asks for, or as much as anybody who wants more
// (max-min fairness).
//
// How: a token bucket is estimated as ARM's answers tell it. While it holds more than kReserve, everybody goes at once. Else
// requests stand in line; the client that was let go least often since it came is next, of its requests those that others wait
// for first (Rank), then the oldest. A client that comes begins where the line is: nobody saves shares up. What is refilled is
// measured; until then it is what ARM's documented buckets have (docs/arm.md). One request in each kTrial goes whatever is
// estimated: only an answer tells more.
//
// Invariants
//   1. While the bucket is not known, or was not told of for kBelieved, nobody stands in line.
//   2. The first in line goes at due() at the latest; after a 429 nobody goes before its Retry-After is over.
// Pure: time is handed in. Threads: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/time.h"

namespace armgate::policy {

class FairShare {
 public:
  enum class Rank { First, Later };  // of one client's requests
  static constexpr double kReserve = 2;
  static constexpr Duration kTrial = std::chrono::seconds(5);
  static constexpr Duration kBelieved = std::chrono::minutes(1);
  static constexpr Duration kMeasured = std::chrono::seconds(1);  // at least, to see what is refilled
  // What was let go longer ago is counted in what ARM tells. A write may take longer until it is sent, or be busy.
  static constexpr Duration kUnderWay = std::chrono::seconds(2);
  // Answers overtake each other: the least that was told within so long counts, less the requests that have no answer yet.
  static constexpr Duration kOvertaken = std::chrono::milliseconds(500);

  // `full_in`: how long ARM's documented bucket takes to fill up.
  explicit FairShare(Duration full_in) : full_in_(full_in) {}

  // An answer of ARM's said what is left.
  void note_left(uint32_t left, TimePoint now);
  // ARM answered 429.
  void pause_for(Duration pause, TimePoint now);

  // A request of the client's comes. Its number is greater than all before it.
  void join(uint64_t number, const Hash128& client, Rank rank);
  // It has its answer, or left.
  void leave(uint64_t number);

  // Lets those go that may go now, in their order.
  std::vector<uint64_t> grant(TimePoint now);
  // When grant() would let it go that stands in line, if nothing is told until then.
  TimePoint due(uint64_t number, TimePoint now) const;

  size_t waiting() const { return waiting_.size(); }

 private:
  struct Client {
    uint64_t served = 0;
    std::set<std::pair<Rank, uint64_t>> line;
  };
  struct Waiting {
    Hash128 client;
    Rank rank;
  };

  bool is_known(TimePoint now) const;
  double tokens(TimePoint at) const;
  TimePoint free_from(TimePoint now, uint64_t position) const;

  const Duration full_in_;
  uint32_t least_told(uint32_t left, TimePoint now);

  double tokens_ = 0;
  TimePoint at_{};
  double most_ = 0;
  double rate_ = 0;  // a second
  bool is_measured_ = false;
  TimePoint news_ = TimePoint::min();  // of ARM
  TimePoint pause_until_ = TimePoint::min();
  TimePoint last_grant_ = TimePoint::min();
  // Since when what is refilled is measured, what was left then, and how many answers have come since.
  TimePoint window_{};
  double window_left_ = 0;
  uint64_t window_answers_ = 0;

  std::deque<std::pair<TimePoint, uint32_t>> told_;  // within kOvertaken; the least first, then the least of what came later

  uint64_t floor_ = 0;  // of the client that went last
  std::map<Hash128, Client> clients_;
  std::map<uint64_t, Waiting> waiting_;      // requests in line
  std::map<uint64_t, TimePoint> under_way_;  // who was let go, and when
};

}  // namespace armgate::policy
