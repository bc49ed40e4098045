// checkers_budget.h – what is promised of ARM's budgets for reads (docs/monitoring.md, "ARM's budgets"), judged by messages alone.
//
//   - After a read was answered 429, armgate asks nothing for itself of the same budget until Retry-After is over.
// And where clients that share a budget wait for their shares (budgets.fair):
//   - Clients' reads do not go until then either.
//   - A read waits only if ARM has told lately of hardly more than was under way, or waited.
//   - While a client's read waits, no other client goes more than twice.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "arm/http.h"
#include "base/time.h"

namespace armgate::world {

class BudgetChecker {
 public:
  struct Options {
    bool fair = false;
  };
  using Violated = std::function<void(std::string what)>;
  BudgetChecker(Options options, Violated violated) : options_(options), violated_(std::move(violated)) {}

  struct Read {
    uint64_t id = 0;
    std::string client;
    std::string what;
  };
  void came(Read read, const arm::RequestHead& head, TimePoint now);  // a client's
  void sent(uint64_t id, TimePoint now);                              // for the first time, where they wait for their shares
  void ended(uint64_t id, TimePoint now);                             // it has its answer, sent or not
  void armgate_asks(const arm::RequestHead& head, TimePoint now);
  // ARM's answer to a read of anybody's; null: armgate was told at most a part of it.
  void told(const arm::RequestHead& head, const arm::Response* answer, TimePoint now);
  void life_ended() { budgets_.clear(), reads_.clear(); }

 private:
  struct Told {
    TimePoint at{};
    double left = 0;  // less what ARM may not have seen yet
  };
  struct Budget {
    TimePoint refused = TimePoint::min();  // what was let go at that very moment may still go
    TimePoint pause_until = TimePoint::min();
    TimePoint in_the_dark_until = TimePoint::min();  // armgate may have been told what is not known here
    std::deque<Told> told;
    std::map<std::string, std::vector<TimePoint>> sent;  // by client
    size_t waiting = 0;
    size_t under_way = 0;
  };
  struct Known {
    Read read;
    std::string key;
    TimePoint came{};
    bool may_wait = false;
    bool is_sent = false;
  };

  static std::string key_of(const arm::RequestHead& head);
  static bool is_paused(const Budget& budget, TimePoint now);
  static bool is_low(const Budget& budget, TimePoint now);
  void check_turn(const Known& known, TimePoint now) const;

  const Options options_;
  const Violated violated_;
  std::map<std::string, Budget> budgets_;  // by token and subscription
  std::map<uint64_t, Known> reads_;
};

}  // namespace armgate::world
