#include "rules/plan.h"

#include <algorithm>
#include <limits>

#include "rules/match.h"

namespace armgate::rules {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The kind of plan a rule makes of an operation on one of its types.
PlanKind kind_under(const Rule& rule, arm::Method method, arm::OperationKind operation, const arm::Target& target) {
  switch (operation) {
    case arm::OperationKind::Read:
    case arm::OperationKind::List: return method == arm::Method::Get ? PlanKind::Read : PlanKind::Pass;
    case arm::OperationKind::Put:
    case arm::OperationKind::Patch:
    case arm::OperationKind::Delete: return PlanKind::Write;
    case arm::OperationKind::Action: return contains(rule.match.actions, target.action) ? PlanKind::Write : PlanKind::Pass;
    case arm::OperationKind::ReadAction: return arm::may_list_itself(target) ? PlanKind::Read : PlanKind::Pass;
    case arm::OperationKind::Other: return PlanKind::Pass;
  }
  return PlanKind::Pass;
}

std::vector<LockKey> keys_of(const Rule& rule, const arm::ResourceId& resource) {
  std::vector<LockKey> keys{{resource.id, LockMode::Exclusive}};
  for (const std::string& type : rule.lock.parents) {
    const auto parent = type == "*" ? arm::parent_of(resource) : arm::ancestor_of_type(resource, type);
    if (parent) keys.push_back({parent->id, LockMode::Exclusive});
  }
  std::sort(keys.begin(), keys.end(), [](const LockKey& a, const LockKey& b) { return a.id < b.id; });
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace

Ruleset::Ruleset(std::vector<Rule> rules, std::vector<ErrorRule> errors, std::vector<QueueTimeout> queue_timeouts,
                 FactEntries facts, std::shared_ptr<const RuleSource> source)
    : facts_(std::make_shared<const FactTable>(std::move(facts))),
      errors_(std::move(errors)),
      queue_timeouts_(std::move(queue_timeouts)),
      source_(std::move(source)) {
  rules_.reserve(rules.size());
  for (Rule& rule : rules) {
    const size_t place = rules_.size();
    for (const std::string& type : rule.match.types) {
      const bool is_pattern = type.ends_with('*');
      auto& places = type == kAnyType ? for_any_ : is_pattern ? by_prefix_[type.substr(0, type.size() - 1)] : by_type_[type];
      places.push_back(place);
    }
    rules_.push_back(std::make_shared<const Rule>(std::move(rule)));
  }
}

std::shared_ptr<const Ruleset> Ruleset::for_one_thread() const {
  const auto own = std::make_shared<Ruleset>(*this);
  for (auto& rule : own->rules_) rule = std::shared_ptr<const Rule>(rule.get(), [keep = rule](const Rule*) {});
  own->facts_ = std::shared_ptr<const FactTable>(facts_.get(), [keep = facts_](const FactTable*) {});
  return own;
}

std::shared_ptr<const Rule> Ruleset::find(std::string_view type, std::string_view api_version) const {
  constexpr size_t kNone = std::numeric_limits<size_t>::max();
  size_t first = kNone;
  const auto consider_all = [&](const std::vector<size_t>& places) {
    for (size_t place : places) {
      if (place >= first) return;
      if (covers_version(rules_[place]->match, api_version)) first = place;
    }
  };
  const auto consider = [&](const Index& index, std::string_view key) {
    const auto found = index.find(key);
    if (found != index.end()) consider_all(found->second);
  };
  consider(by_type_, type);
  if (!by_prefix_.empty()) {
    for (size_t slash = type.find('/'); slash != type.npos; slash = type.find('/', slash + 1)) {
      consider(by_prefix_, type.substr(0, slash + 1));
    }
  }
  if (first == kNone && arm::is_type_of_resources(type)) consider_all(for_any_);
  return first == kNone ? nullptr : rules_[first];
}

std::shared_ptr<const TypeFacts> Ruleset::facts_of(std::string_view type, std::string_view api_version,
                                                   const std::shared_ptr<const Rule>& rule) const {
  const TypeFacts& found = facts_->find(type, api_version, rule.get());
  if (rule && &found == &rule->body.facts) return {rule, &found};
  return {facts_, &found};
}

std::string_view to_text(Merging merging) {
  switch (merging) {
    case Merging::On: return "on";
    case Merging::Maps: return "maps";
    case Merging::Off: return "off";
  }
  return "unknown";
}

std::string_view to_text(Mode mode) {
  switch (mode) {
    case Mode::Protect: return "protect";
    case Mode::Observe: return "observe";
    case Mode::Off: return "off";
  }
  return "unknown";
}

Result<Plan> make_plan(const Ruleset& rules, Mode mode, arm::Method method, std::string_view target) {
  Plan plan;
  plan.mode = mode;
  auto parsed = arm::parse_target(target, method == arm::Method::Post);
  if (!parsed) {
    // In mode observe or off everything passes, even a target that cannot be parsed. Reads pass too: they do no harm.
    const bool reads = method == arm::Method::Get || method == arm::Method::Head || method == arm::Method::Options;
    if (mode != Mode::Protect || reads) return plan;
    return std::move(parsed).error();
  }
  plan.target = std::move(parsed).value();
  plan.operation = arm::operation_kind(method, plan.target);
  if (mode == Mode::Off) return plan;

  auto rule = rules.find(plan.target.resource.type, plan.target.api_version);
  if (!rule) return plan;
  plan.mode = std::max(mode, rule->mode.value_or(Mode::Protect));
  if (plan.mode == Mode::Off) return plan;
  plan.kind = kind_under(*rule, method, plan.operation, plan.target);
  if (plan.kind == PlanKind::Pass) return plan;

  if (plan.kind == PlanKind::Write) {
    const auto& methods = rule->guard.methods;
    plan.guarded =
        rule->guard.kind != GuardKind::None && std::find(methods.begin(), methods.end(), plan.operation) != methods.end();
    plan.keys = keys_of(*rule, plan.target.resource);
    if (!rule->lock.references.empty()) plan.referring.push_back(rule);
  }
  plan.type_facts = rules.facts_of(plan.target.resource.type, plan.target.api_version, rule);
  plan.rule = std::move(rule);
  return plan;
}

}  // namespace armgate::rules
