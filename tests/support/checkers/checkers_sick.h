// checkers_sick.h – what a rule's breaker promises (docs/monitoring.md, "Sick resources"), judged by messages alone.
//
//   - A write is kept from a resource only if as many operations of it as the world says were seen to fail since the last success, and
//     within the window. What ARM refused before it took it is none of them, and an operation is one however often it is polled.
//   - A DELETE is never kept away.
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

  // ARM answered a write to the resource, or a read of whatever URL. `now`: when armgate has the answer.
  void written(const std::string& resource, const arm::Response& answer, TimePoint now);
  void read(const std::string& target, const arm::Response& answer, TimePoint now);
  // armgate kept a write from the resource that had arrived then: what is wrong with that; nothing: at some time since it might.
  std::optional<std::string> refused(const std::string& resource, arm::Method method, TimePoint arrived) const;

 private:
  struct End {
    TimePoint seen{};
    bool failed = false;  // else it succeeded
  };
  const Options options_;
  std::map<std::string, std::vector<End>> ends_;    // by resource, in their order
  std::map<std::string, std::string> resource_of_;  // operation's target -> resource
  std::set<std::string> ended_;                     // operations' targets
};

}  // namespace armgate::world
