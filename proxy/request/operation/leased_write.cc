#include "proxy/request/operation/leased_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "arm/url.h"

namespace armgate {
namespace {

// Where the resource itself can be read: an action's target names it before its last segment.
std::string resource_target(const rules::Plan& plan, std::string_view target) {
  if (plan.operation != arm::OperationKind::Action) return std::string(target);
  std::string_view path = arm::path_of(target);
  const std::string_view query = target.substr(std::min(target.find('?'), target.size()));
  if (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path.substr(0, path.rfind('/'))) + std::string(query);
}

// What must be in a final state before the next write: the resource itself, unless it is deleted, and the parents that it
// locks.
std::vector<std::string> what_must_be_provisioned(const rules::Plan& plan, const LeasedWrite& leased) {
  std::vector<std::string> targets;
  if (leased.method != arm::Method::Delete) targets.push_back(leased.resource_target);
  for (const auto& key : plan.keys) {
    const auto parent = arm::parse_resource_id(key.id);
    if (!parent) continue;
    if (auto target = target_of_neighbour(plan, *parent)) targets.push_back(*std::move(target));
  }
  return targets;
}

bool is_its_resource(const std::string& text, const LeasedWrite& leased) {
  const auto url = arm::parse_url(text);
  const auto target = url ? arm::parse_target(url->target, false) : Result<arm::Target>(arm::Target{});
  return target && target->kind == arm::TargetKind::Resource && target->resource == leased.resource();
}

// How its end can be seen. A Location that is the resource's own URL (observed) shows no more than its state, which may say
// "Succeeded" while the operation runs (observed: load balancers, subnets). An operation's URL may be on a host to which no
// token is sent (`intercept`): then its other URL has to tell, or the resource itself.
arm::Tracking trackable(const Parts& parts, const LeasedWrite& leased) {
  arm::Tracking tracking = leased.tracking;
  const auto out_of_reach = [&parts](const std::string& text) {
    const auto url = arm::parse_url(text);
    return url && !parts.shared.options.may_ask(url->host);
  };
  const bool by_status = tracking.by == arm::TrackedBy::StatusUrl;
  if (by_status && is_its_resource(tracking.location_url, leased)) tracking.location_url.clear();
  if (!by_status && tracking.by != arm::TrackedBy::LocationUrl) return tracking;
  const bool is_away = out_of_reach(by_status ? tracking.status_url : tracking.location_url);
  if (is_away && parts.alert) {
    parts.alert(
        fmt::format("the operation of {} {} is at {}, a host that intercept does not cover: how it goes is read elsewhere",
                    arm::to_text(leased.method), leased.resource().id, url_for_people(tracking)));
  }
  // Nobody is to ask there later, with a poll's token, either.
  for (std::string* url : {&tracking.status_url, &tracking.location_url}) {
    if (out_of_reach(*url)) url->clear();
  }
  if (!is_away) return tracking;
  if (!by_status || tracking.location_url.empty()) return tracked_by_resource(*leased.planned.plan);
  tracking.by = arm::TrackedBy::LocationUrl;
  return tracking;
}

}  // namespace

bool may_run_beside_its_own(const rules::Plan& plan) {
  const bool moves_a_goal = plan.operation == arm::OperationKind::Put || plan.operation == arm::OperationKind::Patch;
  return moves_a_goal && plan.rule->reentrant == rules::Reentrant::Holder;
}

std::optional<std::string> target_of_neighbour(const rules::Plan& plan, const arm::ResourceId& other) {
  const auto provider = [](std::string_view type) { return type.substr(0, type.find('/')); };
  const arm::Target& own = plan.target;
  if (other.id == own.resource.id || provider(other.type) != provider(own.resource.type)) return std::nullopt;
  return fmt::format("{}?api-version={}", other.id, own.api_version);
}

arm::Tracking tracked_by_resource(const rules::Plan& plan) {
  arm::Tracking tracking;
  const bool deletes = plan.operation == arm::OperationKind::Delete;
  tracking.by = deletes ? arm::TrackedBy::ResourceGone : arm::TrackedBy::ResourceState;
  return tracking;
}

std::string url_for_people(const arm::Tracking& tracking) {
  const auto& text = tracking.status_url.empty() ? tracking.location_url : tracking.status_url;
  const auto url = arm::parse_url(text);
  return url ? url->host + std::string(arm::path_of(url->target)) : std::string();
}

void complete_from_plan(const Parts& parts, std::string_view target, LeasedWrite& leased) {
  const rules::Plan& plan = *leased.planned.plan;
  leased.resource_target = resource_target(plan, target);
  // What was done with its answer leaves nothing in motion. And what only looks on asks nothing of its own.
  const bool may_move = leased.tracking.by != arm::TrackedBy::Nothing && plan.mode == rules::Mode::Protect;
  leased.tracking = trackable(parts, leased);
  leased.max = plan.rule->lease.max;
  leased.cap = plan.rule->lease.cap;
  if (may_move && plan.rule->lease.until == rules::LeaseUntil::Provisioned)
    leased.must_be_provisioned = what_must_be_provisioned(plan, leased);
}

void note_may_have_changed(const Parts& parts, const LeasedWrite& leased, const Change& change, Moment now) {
  const KeyedPlan& plan = *leased.planned.plan;
  for (const auto& key : plan.lock_keys) {
    policy::WriteAccepted accepted{
        policy::Cause::ChildWritten, leased.client, leased.request_hash, change.write_key, nullptr, now, change.certain};
    if (key == plan.resource_key) {
      const bool acts = plan.operation == arm::OperationKind::Action;
      accepted.cause = acts ? policy::Cause::Acted : policy::Cause::Written;
      accepted.requested_body = change.requested_body;
      accepted.merged = change.merged;
      accepted.knows_merges = change.knows_merges;
      accepted.asked_for_all = change.asked_for_all;
      accepted.if_match = change.if_match;
      accepted.deletes = plan.operation == arm::OperationKind::Delete;
    }
    parts.shared.resources.apply(key, std::move(accepted));
  }
}

}  // namespace armgate
