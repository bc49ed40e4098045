#include "cli/heal/look.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "arm/arm_error.h"
#include "arm/resource_id.h"
#include "cli/heal/steps/step.h"

namespace armgate::heal {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kStartLookBack = std::chrono::hours(24 * 14);
constexpr Duration kRoleWaitFirst = seconds(10);
constexpr Duration kRoleWaitMost = seconds(60);
constexpr Duration kRoleWaitAll = minutes(5);
constexpr size_t kPagesMax = 500;

// What may pass is no BadInput.
Error refusal_of(std::string_view what, const Reply& reply) {
  const bool may_pass = reply.status == 408 || reply.status == 429 || reply.status >= 500;
  return upstream_error(may_pass ? ErrorKind::TimedOut : ErrorKind::BadInput, Sent::Answered,
                        fmt::format("{}: {}", what, words_of(reply)));
}

Write get(const std::string& target) { return {arm::Method::Get, target}; }

bool may_be_a_new_role(const Reply& reply) {
  if (reply.status != 403) return false;
  const auto error = arm::parse_error(reply.body);
  return error && (error->code == "AuthorizationFailed" || error->code == "LinkedAuthorizationFailed");
}

Result<std::string> read_page(const World& world, const std::string& target) {
  auto page = read_at(world, target);
  if (!page) return std::move(page).error();
  if (!*page) return upstream_error(ErrorKind::BadInput, Sent::Answered, fmt::format("GET {}: 404", target));
  return **std::move(page);
}

// nextLink is a whole URL.
std::string target_in(const std::string& url) {
  constexpr std::string_view kScheme = "https://";
  const size_t path = url.starts_with(kScheme) ? url.find('/', kScheme.size()) : url.npos;
  return path == url.npos ? url : url.substr(path);
}

std::string subscription_of(const Target& target) {
  constexpr std::string_view kBefore = "/subscriptions/";
  return target.cluster.substr(kBefore.size(), target.cluster.find('/', kBefore.size()) - kBefore.size());
}

std::string group_of(const Target& target) {
  const auto id = arm::parse_resource_id(target.cluster);
  const auto group = id ? arm::resource_group_of(*id) : std::nullopt;
  return group ? group->substr(group->rfind('/') + 1) : std::string();
}

// What the activity log says, and when.
Result<void> look_at_log(const World& world, const Target& target, const GuardOptions& options, Seen& seen) {
  if (!options.skip_detection) {
    const std::string& nodes = seen.cluster.node_group;
    const auto events = read_log(world, target, nodes.empty() ? group_of(target) : nodes, options.window);
    if (!events) return events.error();
    seen.failures = storm_failures(*events, target.pool);
  }
  seen.now = world.wall();
  if (has_running_operation(seen.cluster)) {
    const auto started = operation_start(world, target);
    if (!started) return started.error();
    seen.operation_started = *started;
  }
  return {};
}

// What is to be deleted and made. A stand-in that is there already, and a pool that cannot be carried over, are errors.
Result<void> find_bodies(const World& world, const Target& target, const StandIn& stand_in, Inspection& found) {
  const auto left_over = read_pool_at(world, target.stand_in_id(), target.api_version);
  if (!left_over) return left_over.error();
  if (*left_over) {
    return client_error(
        ErrorKind::BadInput,
        fmt::format("pool {} is there already, of an earlier run that is not known here{}: look whether {} needs it, "
                    "then delete it",
                    target.stand_in(), (*left_over)->run.empty() ? "" : " (" + (*left_over)->run + ")", target.pool));
  }
  auto pool = read_pool_at(world, target.pool_id(), target.api_version);
  if (!pool) return std::move(pool).error();
  if (!*pool) return client_error(ErrorKind::BadInput, fmt::format("pool {} is gone", target.pool));
  found.pool = *std::move(pool);
  if (found.pool->etag.empty()) {
    return client_error(ErrorKind::BadInput, no_etag_text(*found.pool) + "; nothing is done");
  }
  auto bodies = pool_bodies(found.pool->body, found.seen.cluster.version, stand_in);
  if (!bodies) return std::move(bodies).error();
  found.bodies = *std::move(bodies);
  return {};
}

}  // namespace

std::string words_of(const Reply& reply) {
  const auto error = arm::parse_error(reply.body);
  if (!error) return fmt::format("ARM answers {}", reply.status);
  return fmt::format("ARM answers {} {}: {}", reply.status, error->code, error->message);
}

Result<std::optional<std::string>> read_at(const World& world, const std::string& target) {
  auto reply = world.send(get(target));
  if (!reply) return std::move(reply).error();
  if (reply->status == 404) return std::optional<std::string>();
  if (reply->status != 200) return refusal_of("GET " + target, *reply);
  return std::optional(std::move(reply->body));
}

Result<std::optional<Pool>> read_pool_at(const World& world, const std::string& pool_id, const std::string& api_version) {
  auto body = read_at(world, fmt::format("{}?api-version={}", pool_id, api_version));
  if (!body) return std::move(body).error();
  if (!*body) return std::optional<Pool>();
  auto pool = read_pool(**body);
  if (!pool) return std::move(pool).error();
  return std::optional(*std::move(pool));
}

Result<std::vector<Pool>> read_pools(const World& world, const Target& target) {
  std::vector<Pool> pools;
  std::string next = fmt::format("{}/agentPools?api-version={}", target.cluster, target.api_version);
  for (size_t pages = 0; !next.empty(); ++pages) {
    if (pages == kPagesMax) return upstream_error(ErrorKind::TooLarge, Sent::Answered, "the list of pools does not end");
    const auto text = read_page(world, next);
    if (!text) return text.error();
    auto page = read_pool_page(*text);
    if (!page) return std::move(page).error();
    std::move(page->pools.begin(), page->pools.end(), std::back_inserter(pools));
    next = target_in(page->next);
  }
  return pools;
}

Result<std::vector<LogEvent>> read_log(const World& world, const Target& target, const std::string& group, Duration back) {
  std::vector<LogEvent> events;
  const WallTime now = world.wall();
  const auto from = std::chrono::time_point_cast<std::chrono::milliseconds>(now - back);
  std::string next = log_target(subscription_of(target), group, from, now);
  const TimePoint give_up = world.now() + kRoleWaitAll;
  Duration pause = kRoleWaitFirst;
  for (size_t pages = 0; !next.empty();) {
    auto reply = world.send(get(next));
    if (!reply) return std::move(reply).error();
    if (may_be_a_new_role(*reply) && world.now() + pause <= give_up) {
      world.print({Phase::Guards, "wait", "the activity log may not be read (yet): " + words_of(*reply)});
      world.pause(pause);
      pause = std::min(2 * pause, kRoleWaitMost);
      continue;
    }
    if (reply->status != 200) return refusal_of("the activity log cannot be read", *reply);
    if (++pages > kPagesMax) return upstream_error(ErrorKind::TooLarge, Sent::Answered, "the activity log does not end");
    auto page = read_log_page(reply->body);
    if (!page) return std::move(page).error();
    std::move(page->events.begin(), page->events.end(), std::back_inserter(events));
    next = target_in(page->next);
  }
  return events;
}

Result<std::optional<WallTime>> operation_start(const World& world, const Target& target) {
  const auto events = read_log(world, target, group_of(target), kStartLookBack);
  if (!events) return events.error();
  auto started = latest_start(*events, target.cluster);
  const auto age = world.behind_age ? world.behind_age() : std::nullopt;
  if (started && age) started = std::max(*started, std::chrono::time_point_cast<WallTime::duration>(world.wall() - *age));
  return started;
}

Result<Inspection> inspect(const World& world, const Target& target, const GuardOptions& options, const StandIn& stand_in) {
  Inspection found;
  const auto body = read_at(world, fmt::format("{}?api-version={}", target.cluster, target.api_version));
  if (!body) return body.error();
  found.cluster_exists = body->has_value();
  if (!found.cluster_exists) {
    found.guards.push_back({"cluster", Guard::Says::Refuse, fmt::format("there is no cluster {}", target.cluster)});
    return found;
  }
  auto cluster = read_cluster(**body);
  if (!cluster) return std::move(cluster).error();
  found.seen.cluster = *std::move(cluster);
  auto pools = read_pools(world, target);
  if (!pools) return std::move(pools).error();
  found.seen.pools = *std::move(pools);
  found.guards = cheap_guards(target, found.seen, options);
  if (first_objection(found.guards) != nullptr) return found;

  if (auto looked = look_at_log(world, target, options, found.seen); !looked) return std::move(looked).error();
  for (Guard& guard : log_guards(target, found.seen, options)) found.guards.push_back(std::move(guard));
  if (first_objection(found.guards) != nullptr) return found;

  if (auto bodies = find_bodies(world, target, stand_in, found); !bodies) return std::move(bodies).error();
  return found;
}

}  // namespace armgate::heal
