// token_buckets.h – how many requests the simulated ARM takes: a bucket for each subscription, principal and kind of request,
// as learn's "Understand how Azure Resource Manager throttles requests" has them.
//
// Pure: time is handed in. Threads: none.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "arm/http.h"
#include "base/time.h"
#include "sim/sim_options.h"

namespace armgate::sim {

class TokenBuckets {
 public:
  explicit TokenBuckets(const SimOptions& options) : options_(options) {}

  // Takes one for the request, if there is one. A 429 if not; nothing if it goes. A caller that shows no token (a judge, a test
  // that looks) is no principal, and takes nothing.
  std::optional<arm::Response> take(const arm::RequestHead& head, std::string_view subscription, TimePoint now);

  // Says on an answer what is left of the request's bucket. False: there is none.
  bool show_remaining(const arm::RequestHead& head, std::string_view subscription, arm::Headers& fields) const;

  void clear() { kept_.clear(); }

 private:
  struct Kept {
    double left = 0;
    TimePoint at{};
  };
  const SimOptions& options_;
  std::map<std::string, Kept, std::less<>> kept_;
};

}  // namespace armgate::sim
