#include "rules/overlap.h"

#include <fmt/format.h>

#include <algorithm>

#include "rules/explain.h"
#include "rules/match.h"

namespace armgate::rules {
namespace {

// The rule before `end` that takes all of what `rule` says about `type`.
const Rule* taker_of(const std::vector<Rule>& rules, size_t end, const Rule& rule, const std::string& type) {
  for (size_t i = 0; i < end; ++i) {
    const auto& patterns = rules[i].match.types;
    const bool takes = covers_versions(rules[i].match, rule.match) &&
                       std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return takes_type(p, type); });
    if (takes) return &rules[i];
  }
  return nullptr;
}

void warn_of_unreachable(const std::vector<Rule>& rules, size_t index, FaultList& warnings) {
  const Rule& rule = rules[index];
  std::vector<const Rule*> takers;
  for (const std::string& type : rule.match.types) {
    const Rule* taker = taker_of(rules, index, rule, type);
    if (taker == nullptr) return;
    if (std::find(takers.begin(), takers.end(), taker) == takers.end()) takers.push_back(taker);
  }
  std::string who;
  for (const Rule* taker : takers) who += (who.empty() ? "" : " and ") + words_for(*taker);
  warnings.push_back({rule.place.file, rule.place.line, "",
                      fmt::format("rule \"{}\" never decides: {} {} everything that it matches", rule.name, who,
                                  takers.size() == 1 ? "takes" : "take")});
}

bool decide_alike(const Rule& a, const Rule& b) {
  return a.mode.value_or(Mode::Protect) == b.mode.value_or(Mode::Protect) && a.guard.kind == b.guard.kind &&
         a.guard.methods == b.guard.methods && a.guard.creates == b.guard.creates && a.guard.star == b.guard.star &&
         a.guard.merging == b.guard.merging && a.lock.parents == b.lock.parents && a.lease.until == b.lease.until &&
         a.match.actions == b.match.actions;
}

void warn_of_contradiction(const Rule& earlier, const Rule& later, FaultList& warnings) {
  const bool nested = covers_versions(earlier.match, later.match) || covers_versions(later.match, earlier.match);
  if (nested || !share_versions(earlier.match, later.match) || decide_alike(earlier, later)) return;
  for (const std::string& type : later.match.types) {
    const auto& patterns = earlier.match.types;
    const bool shared = std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
      return takes_type(pattern, type) || takes_type(type, pattern);
    });
    if (!shared) continue;
    warnings.push_back(
        {later.place.file, later.place.line, "",
         fmt::format("rule \"{}\" contradicts {} about some api-versions of \"{}\": the earlier one decides there; "
                     "let their api-versions not overlap",
                     later.name, words_for(earlier), type)});
    return;
  }
}

// The rule that decides about a type at its newest api-versions.
const Rule* rule_for(const std::vector<Rule>& rules, const std::string& type) {
  const Rule* for_any = nullptr;
  for (const Rule& rule : rules) {
    if (!rule.match.api_version_to.empty()) continue;
    const auto& patterns = rule.match.types;
    if (std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return takes_type(p, type); })) return &rule;
    if (for_any == nullptr && std::count(patterns.begin(), patterns.end(), kAnyType) > 0) for_any = &rule;
  }
  return for_any;
}

void warn_of_useless_locks(const std::vector<Rule>& rules, const Rule& rule, FaultList& warnings) {
  const Mode mode = rule.mode.value_or(Mode::Protect);
  for (const std::string& parent : rule.lock.parents) {
    const Rule* other = parent == "*" ? nullptr : rule_for(rules, parent);
    if (other == nullptr || other->mode.value_or(Mode::Protect) <= mode) continue;
    warnings.push_back({rule.place.file, rule.place.line, "/lock/parents",
                        fmt::format("rule \"{}\" locks \"{}\", but {} has the mode \"{}\", so writes to it do not wait",
                                    rule.name, parent, words_for(*other), to_text(*other->mode))});
  }
}

// Keys that another key of the same rule leaves without effect.
void warn_of_idle_keys(const Rule& rule, FaultList& warnings) {
  const auto warn = [&](const char* key, const char* why) {
    warnings.push_back({rule.place.file, rule.place.line, key, fmt::format("rule \"{}\" {}", rule.name, why)});
  };
  const bool learns_no_end = rule.lease.until == LeaseUntil::Request;
  if (rule.late.is_on() && learns_no_end)
    warn("/retry/operation", "does not follow operations (lease.until \"request\"), so none is sent again");
  if (rule.late.is_on() && rule.guard.kind == GuardKind::None)
    warn("/retry/operation", "does not compare (guard.kind \"none\"), so that no base is known and nothing is sent again");
  if (rule.breaker.mode != Mode::Off && learns_no_end)
    warn("/breaker", "does not follow operations (lease.until \"request\"), so that no failure counts");
}

}  // namespace

FaultList warnings_about(const std::vector<Rule>& rules) {
  FaultList warnings;
  for (size_t i = 0; i < rules.size(); ++i) {
    warn_of_unreachable(rules, i, warnings);
    for (size_t earlier = 0; earlier < i; ++earlier) warn_of_contradiction(rules[earlier], rules[i], warnings);
    warn_of_useless_locks(rules, rules[i], warnings);
    warn_of_idle_keys(rules[i], warnings);
  }
  return warnings;
}

}  // namespace armgate::rules
