// decision_log.h – what armgate decided last about single requests, and who had trouble lately, for the live page.
//
// Why: the log has all of it, but a person whose pipeline fails looks at the page first. No body, token, query or
// value of a header is kept, as in the log.
// Limits    kKept decisions of either kind (those where something was altered, delayed, repeated or refused; the plain ones);
//           troubles: see Troubles.
// Threads   any; one mutex, taken only for requests about which something was decided.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "proxy/observability/troubles.h"
#include "proxy/request/exchange.h"

namespace armgate {

struct Decision {
  uint64_t id = 0;
  WallTime at{};
  std::string client;
  std::string method;
  std::string resource;  // the canonical id, or the path
  int status = 0;
  int64_t duration_ms = 0;
  int64_t waited_ms = 0;
  int attempts = 0;
  bool notable = false;
  bool replayed = false;
  std::string_view outcome;  // "guarded", "merged", "stale", "refused", ...
  std::string guard;
  std::string reason;
  std::vector<std::string> merged;
  std::vector<std::string> locks;
  std::string upstream_code;
  std::string upstream_message;
  std::string upstream_error;
};

class DecisionLog {
 public:
  static constexpr size_t kKept = 100;
  static constexpr size_t kTroublesShown = 20;

  // A finished exchange. `now`: its end.
  void note(const Exchange& exchange, WallTime wall, TimePoint now);

  // {"now_ms", "decisions": [...], "clients": [...], "resources": [...]}, the newest and the most troubled first.
  std::string json(WallTime wall, TimePoint now) const;

 private:
  struct Kept {
    Decision& next();  // a place for one more
    std::vector<Decision> all;
    size_t oldest = 0;
  };

  mutable std::mutex mutex_;
  uint64_t last_id_ = 0;
  Kept notable_;
  Kept plain_;
  Troubles clients_;
  Troubles resources_;
};

}  // namespace armgate
