#include "rules/file/rule_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "arm/body/difference.h"
#include "arm/resource_id.h"
#include "base/text.h"
#include "rules/plan.h"
#include "rules/references.h"

namespace armgate::rules {
namespace {

constexpr std::string_view kShared = "shared ";
constexpr size_t kChangesMax = 100;

std::optional<std::string> check_request(std::string& request) {
  const size_t space = request.find(' ');
  const auto method = arm::method_of(request.substr(0, space));
  const bool known = space != request.npos && method != arm::Method::Other;
  if (known && arm::parse_target(std::string_view(request).substr(space + 1), method == arm::Method::Post)) return std::nullopt;
  return "is not a request such as \"PUT /subscriptions/s/resourceGroups/g?api-version=2021-04-01\"";
}

std::optional<std::string> check_lock(std::string& lock) {
  const bool shared = lock.starts_with(kShared);
  const auto id = arm::parse_resource_id(std::string_view(lock).substr(shared ? kShared.size() : 0));
  if (!id) return "is not a resource id, with \"shared \" before it if the lock is";
  lock = (shared ? std::string(kShared) : std::string()) + id->id;
  return std::nullopt;
}

std::string_view name_of(GuardKind kind) {
  switch (kind) {
    case GuardKind::Auto: return "auto";
    case GuardKind::Etag: return "etag";
    case GuardKind::Verify: return "verify";
    case GuardKind::None: break;
  }
  return "none";
}

std::vector<std::string> locks_of(const Plan& plan, std::string_view body) {
  std::vector<std::string> locks;
  for (const LockKey& key : plan.keys) locks.push_back(key.id);
  if (!plan.rule) return locks;
  for (const auto& reference : without_duplicates(referenced_keys(*plan.rule, body), plan.keys)) {
    locks.push_back((reference.key.mode == LockMode::Shared ? std::string(kShared) : std::string()) + reference.key.id);
  }
  std::sort(locks.begin(), locks.end());
  return locks;
}

std::string lines_of(const std::vector<std::string>& locks) {
  return locks.empty() ? "nothing" : fmt::format("{}", fmt::join(locks, ", "));
}

// The key and a sentence.
using Unfulfilled = std::vector<std::pair<std::string, std::string>>;

// What of the bodies counts as a change, by the facts of the type.
void compare_bodies(const RuleCase& one, const arm::BodyFacts& facts, Unfulfilled& found) {
  if (one.shown.empty()) {
    if (!one.changed.empty()) found.emplace_back("/changed", "there is no \"shown\" to compare the body with");
    return;
  }
  const arm::ComparedBody bodies[] = {{one.shown}, {one.body}};
  const arm::Difference difference(bodies, facts);
  if (!difference.readable(0) || !difference.readable(1)) {
    found.emplace_back("/shown", "it and \"body\" must both be there, and not too large");
    return;
  }
  auto wanted = one.changed, changed = difference.changed(0, 1, kChangesMax);
  std::sort(wanted.begin(), wanted.end());
  std::sort(changed.begin(), changed.end());
  if (wanted != changed) found.emplace_back("/changed", "what counts as changed is " + lines_of(changed));
}

// What the case expects and does not get.
Unfulfilled differences(const RuleCase& one, const Plan& plan) {
  Unfulfilled found;
  const std::string rule = plan.rule ? plan.rule->name : "";
  if (rule != one.rule) {
    found.emplace_back("/rule", rule.empty() ? "no rule of this file touches the request"
                                             : fmt::format("the rule that decides is \"{}\"", rule));
    return found;
  }
  const GuardKind guard = plan.guarded ? plan.rule->guard.kind : GuardKind::None;
  if (one.guard && *one.guard != guard) found.emplace_back("/guard", fmt::format("the guard is \"{}\"", name_of(guard)));
  auto wanted = one.locks;
  std::sort(wanted.begin(), wanted.end());
  const auto locks = locks_of(plan, one.body);
  if (!wanted.empty() && wanted != locks) found.emplace_back("/locks", "what is locked is " + lines_of(locks));
  if (one.lease && (plan.kind != PlanKind::Write || plan.rule->lease.until != *one.lease)) {
    found.emplace_back("/lease", plan.kind == PlanKind::Write ? "it is held until the other one"
                                                              : "the request is no write and holds nothing");
  }
  return found;
}

}  // namespace

SettingTable settings_of(RuleCase& one) {
  using Kind = std::optional<GuardKind>;
  using Until = std::optional<LeaseUntil>;
  return {
      {"/request", Text{&one.request, check_request}, "method and target", Need::Required},
      {"/shown", JsonText{&one.shown}, "a state of the resource, which the body is compared with"},
      {"/body", JsonText{&one.body}, "the body, for references and to be compared"},
      {"/changed", TextList{&one.changed, {}}, "where the body differs from what was shown; left out: nowhere"},
      {"/rule", Text{&one.rule, {}}, "the name of the rule that must decide; \"\": none", Need::Required},
      {"/guard",
       choice<Kind>(
           &one.guard,
           {{"auto", GuardKind::Auto}, {"etag", GuardKind::Etag}, {"verify", GuardKind::Verify}, {"none", GuardKind::None}}),
       "the guard that must apply to this method"},
      {"/locks", TextList{&one.locks, check_lock, 1}, "everything that must be locked, \"shared \" before what is"},
      {"/hold", Renamed{"lease"}, ""},
      {"/lease", choice<Until>(&one.lease, {{"operation", LeaseUntil::Operation}, {"request", LeaseUntil::Request}}),
       "until when it must be held"},
  };
}

void check_cases(const std::vector<Rule>& rules, const std::vector<FactEntry>& facts, const std::vector<RuleCase>& cases,
                 const JsonPositions& positions, FaultList& faults) {
  if (cases.empty()) return;
  const Ruleset ruleset(rules, {}, {}, share(facts));
  for (size_t i = 0; i < cases.size(); ++i) {
    const RuleCase& one = cases[i];
    const size_t space = one.request.find(' ');
    const auto plan =
        make_plan(ruleset, Mode::Protect, arm::method_of(one.request.substr(0, space)), one.request.substr(space + 1));
    if (!plan) continue;  // the reader has refused it
    auto unfulfilled = differences(one, *plan);
    const arm::Target& target = plan->target;
    compare_bodies(one, *ruleset.facts_of(target.resource.type, target.api_version, plan->rule)->body, unfulfilled);
    for (const auto& [key, sentence] : unfulfilled) {
      const std::string place = fmt::format("/cases/{}{}", i, key);
      faults.push_back(
          {one.place.file, positions.line_of(place), place, fmt::format("fails for {}: {}", one.request, sentence)});
    }
  }
}

}  // namespace armgate::rules
