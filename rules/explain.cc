#include "rules/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "rules/file/units.h"
#include "rules/match.h"
#include "rules/merge_scope.h"

namespace armgate::rules {
namespace {

constexpr std::string_view kConfiguration = "the configuration";

std::string_view words_for(PlanKind kind) {
  switch (kind) {
    case PlanKind::Pass: return "passed on unchanged";
    case PlanKind::Read: return "read: passed on unchanged, and what it shows is remembered";
    case PlanKind::Write: return "write: queued, guarded, followed to its end";
  }
  return "unknown";
}

// A PATCH that its rule does not guard as a whole is compared as far as it is a copy (docs/whose-write.md, "PATCH").
bool compares_copies(const Plan& plan) {
  return plan.kind == PlanKind::Write && !plan.guarded && plan.operation == arm::OperationKind::Patch &&
         is_remembered(plan.rule->guard.kind) && plan.rule->guard.patches == Patches::Compare;
}

std::string_view what_protecting_does(const Plan& plan) {
  if (plan.kind != PlanKind::Write || plan.guarded) return words_for(plan.kind);
  return compares_copies(plan) ? "write: queued, compared where it replaces what its client has read, followed to its end"
                               : "write: queued, not guarded, followed to its end";
}

std::string what_is_done(const Plan& plan) {
  const std::string_view done = what_protecting_does(plan);
  if (plan.kind != PlanKind::Write || plan.mode != Mode::Observe) return std::string(done);
  return fmt::format("passed on unchanged, and the log says what would have been done; in mode protect, with all below: {}",
                     done);
}

std::string list_of(const std::vector<std::string>& texts) {
  std::string list;
  for (const auto& text : texts) list += (list.empty() ? "" : ", ") + text;
  return list.empty() ? "none" : list;
}

std::string guarded_methods(const Rule& rule) {
  std::vector<std::string> methods;
  for (const auto method : rule.guard.methods) methods.emplace_back(arm::to_text(method));
  return list_of(methods);
}

std::string lock_keys(const Plan& plan) {
  std::vector<std::string> keys;
  for (const auto& key : plan.keys) {
    keys.push_back(fmt::format("{} ({})", key.id, key.mode == LockMode::Exclusive ? "exclusive" : "shared"));
  }
  return list_of(keys);
}

std::string lease_of(const Rule& rule) {
  if (rule.lease.until == LeaseUntil::Request) return "until the answer";
  const std::string_view rest = rule.lease.until == LeaseUntil::Provisioned ? " and all is in a final state" : "";
  return fmt::format("until the operation ends{}, at most {} ({} while it is seen running)", rest, to_text(rule.lease.max),
                     to_text(rule.lease.cap));
}

std::string busy_of(const Backoff& busy) {
  return fmt::format("{} sendings within {}, {} to {} apart", busy.attempts, to_text(busy.deadline), to_text(busy.base),
                     to_text(busy.max));
}

// Why it is none of armgate's business, if it is not.
std::string_view reason_to_pass(const Ruleset& rules, const Plan& plan) {
  if (plan.mode == Mode::Off) return "switched off";
  if (plan.target.kind == arm::TargetKind::Other) return "it names no resource";
  if (!rules.find(plan.target.resource.type, plan.target.api_version)) return "no rule is for this type and api-version";
  if (plan.operation == arm::OperationKind::Action) return "its rule does not name this action as a write";
  if (plan.operation == arm::OperationKind::ReadAction) return "the action only reads";
  return "the method neither reads nor writes a state";
}

void add_mode(std::vector<Fact>& facts, const Plan& plan, const Rule* rule, Mode asked) {
  const bool by_rule = rule != nullptr && rule->mode && *rule->mode > asked && !rule->mode_by_option;
  facts.push_back({"mode", std::string(to_text(plan.mode)), by_rule ? words_for(*rule) : std::string(kConfiguration)});
}

std::string words_for(const arm::ArrayFact& array) {
  switch (array.kind) {
    case arm::ArrayKind::Keyed: return fmt::format("{} by {}", array.pointer, fmt::join(array.key, " + "));
    case arm::ArrayKind::Ordered: return fmt::format("{} by {}, in their order", array.pointer, fmt::join(array.key, " + "));
    case arm::ArrayKind::Set: return array.pointer + " in any order";
    case arm::ArrayKind::Atomic: break;
  }
  return array.pointer + " as one value";
}

std::string_view words_for(arm::SameAs as) {
  switch (as) {
    case arm::SameAs::Id: return "an id";
    case arm::SameAs::Location: return "a location";
    case arm::SameAs::Case: break;
  }
  return "a text without case";
}

void add_type_facts(std::vector<Fact>& facts, const FactTable& table, const Plan& plan) {
  for (const FactEntry* entry : table.about(plan.target.resource.type)) {
    if (covers_version(entry->match, plan.target.api_version)) add_body(facts, entry->body, words_for(*entry));
  }
  add_body(facts, plan.rule->body.declared, words_for(*plan.rule));
}

std::string_view words_for(std::optional<arm::MergeScope> scope) {
  if (!scope) return "not merged: the write is refused";
  switch (*scope) {
    case arm::MergeScope::Maps: return "merged in tags, labels and metadata alone";
    case arm::MergeScope::Leaves: return "merged: members and tags, nothing in arrays";
    case arm::MergeScope::All: break;
  }
  return "merged: members, tags, elements of arrays";
}

std::string words_for_guarding(const Plan& plan) {
  std::string_view words = plan.guarded ? "yes" : "no";
  if (compares_copies(plan)) words = "its maps and arrays, and all of it if it repeats what others changed";
  if (plan.mode != Mode::Observe || words == "no") return std::string(words);
  return fmt::format("no, as the mode is observe; in mode protect: {}", words);
}

void add_write(std::vector<Fact>& facts, const FactTable& table, const Plan& plan, Merging allowed) {
  const Rule& rule = *plan.rule;
  const std::string by = words_for(rule);
  facts.push_back({"guard", std::string(words_for(rule.guard.kind)), by});
  if (rule.guard.kind != GuardKind::None) {
    facts.push_back({"guarded methods", guarded_methods(rule), by});
    facts.push_back({"this request is guarded", words_for_guarding(plan), by});
    if (rule.guard.kind == GuardKind::Etag && rule.guard.etag_covers == EtagCovers::OwnMembers)
      facts.push_back({"its ETag", "does not move with its children: the resource is read and compared as well", by});
    if (rule.guard.star == Star::Strengthen)
      facts.push_back({"a client's If-Match: *", "becomes the ETag of what it was shown, if that is known", by});
    const bool by_rule = rule.guard.merging >= allowed;  // the most careful of them holds
    const Merging merging = by_rule ? rule.guard.merging : allowed;
    if (plan.guarded || compares_copies(plan))
      facts.push_back({"others' changes elsewhere", std::string(words_for(merge_scope(plan, merging))),
                       by_rule ? by : std::string(kConfiguration)});
    if (rule.guard.creates == CreateGuard::IfNoneMatch) facts.push_back({"creates", "carry If-None-Match: *", by});
  }
  add_type_facts(facts, table, plan);
  facts.push_back({"lock keys", lock_keys(plan), by});
  facts.push_back({"held", lease_of(rule), by});
  if (rule.reentrant == Reentrant::Holder)
    facts.push_back({"own running PUT or PATCH", "not waited for, if nobody else waits", by});
  if (plan.operation == arm::OperationKind::Put && rule.shown.consecutive > 0) {
    facts.push_back(
        {"answer to a create",
         fmt::format("after {} reads in a row that find it, {} apart", rule.shown.consecutive, to_text(rule.shown.every)), by});
  }
  facts.push_back({"retries when busy", busy_of(rule.busy), by});
  if (rule.late.is_on()) facts.push_back({"retries when its operation fails", busy_of(rule.late.backoff), by});
  if (plan.operation == arm::OperationKind::Put) {
    const bool sends = rule.unconditional_after_wait == UnconditionalAfterWait::Send;
    facts.push_back({"unconditional after a wait", sends ? "sent" : "refused if another write finished meanwhile", by});
  }
}

}  // namespace

std::string_view words_for(GuardKind kind) {
  switch (kind) {
    case GuardKind::None: return "none";
    case GuardKind::Etag: return "etag: carries the ETag of the state it was built from";
    case GuardKind::Auto:
      return "auto: the resource is read, where its client may, and compared with the state it was built from";
    case GuardKind::Verify: return "verify: the resource is read and compared with the state it was built from";
  }
  return "unknown";
}

void add_body(std::vector<Fact>& facts, const arm::DeclaredFacts& body, const std::string& by) {
  const auto add = [&](std::string name, const std::vector<std::string>& texts) {
    if (!texts.empty()) facts.push_back({std::move(name), list_of(texts), by});
  };
  std::vector<std::string> arrays, same;
  for (const auto& array : body.arrays) arrays.push_back(words_for(array));
  for (const auto& one : body.same) same.push_back(fmt::format("{} as {}", one.pointer, words_for(one.as)));
  add("read-only members", body.read_only);
  add("write-only members", body.write_only);
  add("kept if left out", body.kept);
  add("maps", body.maps);
  add("free form", body.free_form);
  add("arrays", arrays);
  add("compared", same);
}

std::string words_for(const Rule& rule) {
  return fmt::format("rule \"{}\" at {}:{}", rule.name, rule.place.file, rule.place.line);
}

Result<std::vector<Fact>> explain_plan(const Ruleset& rules, Mode mode, arm::Method method, std::string_view target,
                                       Merging merging) {
  const auto planned = make_plan(rules, mode, method, target);
  if (!planned) return planned.error();
  const Plan& plan = *planned;
  const auto rule = rules.find(plan.target.resource.type, plan.target.api_version);
  std::vector<Fact> facts;
  const auto add = [&facts](std::string name, std::string_view value, std::string by = {}) {
    if (!value.empty()) facts.push_back({std::move(name), std::string(value), std::move(by)});
  };
  add("resource", plan.target.resource.id);
  add("type", plan.target.resource.type);
  add("api-version", plan.target.api_version);
  add("action", plan.target.action);
  add("operation", arm::to_text(plan.operation));
  if (rule) add("rule", rule->name, fmt::format("{}:{}", rule->place.file, rule->place.line));
  add_mode(facts, plan, rule.get(), mode);
  add("what is done", what_is_done(plan), plan.rule ? words_for(*plan.rule) : std::string());
  if (plan.kind == PlanKind::Pass) {
    const bool by_rule = rule && plan.mode != Mode::Off;  // who switched it off is told as the mode
    add("because", reason_to_pass(rules, plan), by_rule ? words_for(*rule) : std::string());
  }
  if (plan.kind == PlanKind::Read) {
    const bool keeps = is_remembered(plan.rule->guard.kind);
    const bool is_action = plan.operation == arm::OperationKind::ReadAction;
    const std::string_view words = !keeps      ? "no: the guard kind is none"
                                   : is_action ? "if the answer has the id of the resource"
                                               : "yes";
    add("remembered as a version", std::string(words), words_for(*plan.rule));
  }
  if (plan.kind == PlanKind::Write) add_write(facts, rules.facts(), plan, merging);
  return facts;
}

}  // namespace armgate::rules
