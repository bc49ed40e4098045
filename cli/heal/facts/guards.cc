#include "cli/heal/facts/guards.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "base/utc.h"
#include "cli/heal/facts/activity_log.h"

namespace armgate::heal {
namespace {

using Says = Guard::Says;

// Compared with case on purpose: a spelling that nobody has seen is a state that nobody knows.
bool is_one_of(std::string_view state, std::initializer_list<std::string_view> known) {
  return std::find(known.begin(), known.end(), state) != known.end();
}

std::string shown(std::string_view state) { return state.empty() ? "not said" : std::string(state); }

const Pool* find_pool(const std::vector<Pool>& pools, std::string_view name) {
  const auto found = std::find_if(pools.begin(), pools.end(), [&](const Pool& pool) { return pool.name == name; });
  return found == pools.end() ? nullptr : &*found;
}

Guard cluster_state(const Cluster& cluster) {
  const bool known = is_one_of(cluster.state, {"Succeeded", "Canceled", "Failed", "Updating", "Upgrading"});
  return {"cluster state", known ? Says::Pass : Says::Refuse,
          fmt::format("the cluster's state is {}{}", shown(cluster.state), known ? "" : ", in which nothing may be done")};
}

Guard one_system_pool(const Target& target, const std::vector<Pool>& pools) {
  const Pool* const own = find_pool(pools, target.pool);
  if (own == nullptr)
    return {"system pool", Says::Refuse, fmt::format("there is no pool {}; name it with --pool", target.pool)};
  if (own->mode != "System") {
    return {"system pool", Says::Refuse, fmt::format("pool {} has the mode {}, not System", target.pool, shown(own->mode))};
  }
  std::vector<std::string> others;
  for (const Pool& pool : pools) {
    if (pool.mode == "System" && pool.name != target.pool && pool.name != target.stand_in()) others.push_back(pool.name);
  }
  if (others.empty()) return {"system pool", Says::Pass, fmt::format("{} is the only system pool", target.pool)};
  return {"system pool", Says::Refuse,
          fmt::format("{} is not the only system pool ({} too): delete and create it by hand, the cluster goes on meanwhile",
                      target.pool, fmt::join(others, ", "))};
}

Guard other_pools(const Target& target, const std::vector<Pool>& pools) {
  for (const Pool& pool : pools) {
    if (pool.name == target.pool || pool.name == target.stand_in()) continue;
    if (!pool.count) return {"other pools", Says::Refuse, fmt::format("pool {} does not say how many nodes it has", pool.name)};
    if (*pool.count > 0) continue;
    return {"other pools", Says::NothingToDo,
            fmt::format("pool {} has no nodes, so the cluster has more trouble than this, or none", pool.name)};
  }
  return {"other pools", Says::Pass, "every other pool has nodes"};
}

Guard pool_wedge(const Target& target, const std::vector<Pool>& pools, const GuardOptions& options) {
  const Pool* const own = find_pool(pools, target.pool);
  const std::string state = own != nullptr ? own->state : "";
  if (is_one_of(state, {"Failed", "Canceled", "Updating", "Upgrading"})) {
    return {"pool state", Says::Pass, fmt::format("pool {} is {}", target.pool, state)};
  }
  if (state == "Succeeded")
    return {"pool state", options.skip_detection ? Says::Pass : Says::NothingToDo,
            fmt::format("pool {} is Succeeded", target.pool)};
  return {"pool state", Says::Refuse,
          fmt::format("the state of pool {} is {}, in which nothing may be done", target.pool, shown(state))};
}

Guard storm(const Target& target, const Seen& seen, const GuardOptions& options) {
  const int64_t minutes = std::chrono::duration_cast<std::chrono::minutes>(options.window).count();
  const size_t count = seen.failures.value_or(0);
  if (!seen.failures) return {"failure storm", Says::Refuse, "the activity log was not read"};
  return {"failure storm", count >= options.threshold ? Says::Pass : Says::NothingToDo,
          fmt::format("{} failed writes of pool {}'s scale set with {} in {} min, of {} that make a storm", count, target.pool,
                      kStormCode, minutes, options.threshold)};
}

}  // namespace

bool has_running_operation(const Cluster& cluster) { return is_one_of(cluster.state, {"Updating", "Upgrading"}); }

Guard operation_age(const Cluster& cluster, std::optional<WallTime> started, WallTime now) {
  if (!has_running_operation(cluster)) return {"operation age", Says::Pass, "no operation runs on the cluster"};
  if (!started) {
    return {"operation age", Says::Refuse,
            "an operation runs on the cluster, and the activity log does not say since when, so it is not aborted"};
  }
  const Duration age = now - *started;
  const auto minutes = [](Duration d) { return std::chrono::duration_cast<std::chrono::minutes>(d).count(); };
  return {"operation age", age >= kAbortAge ? Says::Pass : Says::NothingToDo,
          fmt::format("the cluster's operation runs since {} ({} min; before {} it is left alone)", utc_text(*started),
                      minutes(age), minutes(kAbortAge))};
}

std::vector<Guard> cheap_guards(const Target& target, const Seen& seen, const GuardOptions& options) {
  return {cluster_state(seen.cluster), one_system_pool(target, seen.pools), other_pools(target, seen.pools),
          pool_wedge(target, seen.pools, options)};
}

std::vector<Guard> log_guards(const Target& target, const Seen& seen, const GuardOptions& options) {
  std::vector<Guard> guards;
  if (!options.skip_detection) guards.push_back(storm(target, seen, options));
  guards.push_back(operation_age(seen.cluster, seen.operation_started, seen.now));
  return guards;
}

const Guard* first_objection(const std::vector<Guard>& guards) {
  const auto found = std::find_if(guards.begin(), guards.end(), [](const Guard& guard) { return guard.says != Says::Pass; });
  return found == guards.end() ? nullptr : &*found;
}

}  // namespace armgate::heal
