// checkers_sick.h – what a rule's breaker promises (docs/monitoring.md, "Sick resources"), judged by messages alone.
//
//   - A write is kept from a resource only if as many operations of it as the world says were seen to fail within one window, and none to
//     succeed since. What ARM refused before it took it is none of them, and an operation is one however often it is polled.
//   - A DELETE is never kept away.
//   - Once as many have failed, what ARM takes of the writes that have failed is one in each `probe_every`, counted from the last
//     failure: another write may repair it, and what armgate knew before a crash is not known here.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "arm/http.h"
#include "base/time.h"

namespace armgate::world {

class SickChecker {
 public:
  struct Options {
    size_t failures = 10;
    Duration window = std::chrono::minutes(15);
  };
  explicit SickChecker(Options options) : options_(options) {}

  struct Write {
    std::string resource;
    std::string bytes;       // equal for equal writes
    TimePoint first_sent{};  // it was let through then, and may have met a busy resource since
    Duration probe_every{};  // of its rule's breaker; zero: none
  };
  // ARM answered a write to the resource, or a read of whatever URL. `now`: when armgate has the answer; null: it is lost. What is wrong
  // with that.
  std::optional<std::string> written(const Write& write, const arm::Response* answer, TimePoint now);
  // What a process without a journal began is nobody's operation to the next.
  enum class Journal { No, Yes };
  void life_ended(TimePoint now, Journal journal);
  void read(const std::string& target, const arm::Response& answer, TimePoint now);
  // armgate kept a write from the resource that had arrived then: what is wrong with that; nothing: at some time since it might.
  std::optional<std::string> refused(const std::string& resource, arm::Method method, TimePoint arrived) const;

 private:
  struct End {
    TimePoint seen{};
    enum class How { Succeeded, Failed, Unknown } how = How::Succeeded;  // Unknown: or armgate has forgotten what was before
    std::string bytes{};
  };
  std::optional<std::string> taken(const Write& write, TimePoint now) const;

  const Options options_;
  std::map<std::string, std::vector<End>> ends_;  // by resource, in their order
  std::map<std::string, Write> write_of_;         // by its operation's target
  std::set<std::string> ended_;                   // operations' targets
};

}  // namespace armgate::world
