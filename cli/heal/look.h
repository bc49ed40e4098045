// look.h – reads of the cluster: what is there, and, before anything is done, whether anything may be done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/heal/facts/activity_log.h"
#include "cli/heal/facts/guards.h"
#include "cli/heal/facts/pool_body.h"
#include "cli/heal/world.h"

namespace armgate::heal {

// A GET whose answer is 200; nothing: 404. Any other answer is an error that says what ARM said: BadInput, unless it may pass.
Result<std::optional<std::string>> read_at(const World& world, const std::string& target);
Result<std::optional<Pool>> read_pool_at(const World& world, const std::string& pool_id, const std::string& api_version);
Result<std::vector<Pool>> read_pools(const World& world, const Target& target);

// Events of the group in [now - back, now], all pages. A 403 that may be a role that does not hold yet is asked again for 5
// min.
Result<std::vector<LogEvent>> read_log(const World& world, const Target& target, const std::string& group, Duration back);
// When the cluster's newest operation that has not ended began (of the last 14 days). The log is minutes late: armgate may know
// of a younger one, and that counts then.
Result<std::optional<WallTime>> operation_start(const World& world, const Target& target);

// ARM's code and words in an answer that is no success.
std::string words_of(const Reply& reply);

struct Inspection {
  bool cluster_exists = true;
  Seen seen;
  std::vector<Guard> guards;
  std::optional<Pool> pool;
  std::optional<PoolBodies> bodies;
};

// Asks all guards, the cheap ones first, up to the first that objects; then works out the bodies. What cannot be read is an
// error, and so is a stand-in that is there already, and a pool that cannot be carried over: nothing may be done then.
Result<Inspection> inspect(const World& world, const Target& target, const GuardOptions& options, const StandIn& stand_in);

}  // namespace armgate::heal
