#include "rules/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "rules/explain.h"
#include "rules/match.h"
#include "rules/type_index.h"

namespace armgate::rules {
namespace {

// `before`: of the rules before this one.
void warn_of_unreachable(const std::vector<Rule>& rules, size_t index, const TypeIndex& before, FaultList& warnings) {
  const Rule& rule = rules[index];
  std::vector<size_t> takers;
  for (const std::string& type : rule.match.types) {
    const auto taker = before.first_taker(type, [&](size_t at) { return covers_versions(rules[at].match, rule.match); });
    if (!taker) return;
    if (std::find(takers.begin(), takers.end(), *taker) == takers.end()) takers.push_back(*taker);
  }
  std::string who;
  for (const size_t taker : takers) who += (who.empty() ? "" : " and ") + words_for(rules[taker]);
  warnings.push_back({rule.place.file, rule.place.line, "",
                      fmt::format("rule \"{}\" never decides: {} {} everything that it matches", rule.name, who,
                                  takers.size() == 1 ? "takes" : "take")});
}

bool decide_alike(const Rule& a, const Rule& b) {
  return a.mode.value_or(Mode::Protect) == b.mode.value_or(Mode::Protect) && a.guard.kind == b.guard.kind &&
         a.guard.methods == b.guard.methods && a.guard.creates == b.guard.creates && a.guard.star == b.guard.star &&
         a.guard.merging == b.guard.merging && a.guard.patches == b.guard.patches && a.lock.parents == b.lock.parents &&
         a.lease.until == b.lease.until && a.match.actions == b.match.actions;
}

bool contradict(const Rule& earlier, const Rule& later) {
  const bool nested = covers_versions(earlier.match, later.match) || covers_versions(later.match, earlier.match);
  return !nested && share_versions(earlier.match, later.match) && !decide_alike(earlier, later);
}

void warn_of_contradictions(const std::vector<Rule>& rules, size_t index, const TypeIndex& before, FaultList& warnings) {
  const Rule& later = rules[index];
  std::map<size_t, const std::string*> shared;  // the earlier rule, and the first type that is of both
  for (const std::string& type : later.match.types) {
    for (const size_t at : before.sharing(type)) shared.try_emplace(at, &type);
  }
  for (const auto& [at, type] : shared) {
    if (!contradict(rules[at], later)) continue;
    warnings.push_back(
        {later.place.file, later.place.line, "",
         fmt::format("rule \"{}\" contradicts {} about some api-versions of \"{}\": the earlier one decides there; "
                     "let their api-versions not overlap",
                     later.name, words_for(rules[at]), *type)});
  }
}

// Finds the rule that decides about a type at its newest api-versions.
class NewestRules {
 public:
  explicit NewestRules(const std::vector<Rule>& rules) : rules_(rules) {
    for (size_t i = 0; i < rules.size(); ++i) {
      if (rules[i].match.api_version_to.empty()) index_.add_all(rules[i].match.types, i);
    }
  }

  const Rule* find(const std::string& type) const {
    const auto any = [](size_t) { return true; };
    auto place = index_.first_taker(type, any);
    if (!place) place = index_.first_taker(kAnyType, any);
    return place ? &rules_[*place] : nullptr;
  }

 private:
  const std::vector<Rule>& rules_;
  TypeIndex index_;
};

void warn_of_useless_locks(const NewestRules& newest, const Rule& rule, FaultList& warnings) {
  const Mode mode = rule.mode.value_or(Mode::Protect);
  for (const std::string& parent : rule.lock.parents) {
    const Rule* other = parent == "*" ? nullptr : newest.find(parent);
    if (other == nullptr || other->mode.value_or(Mode::Protect) <= mode) continue;
    warnings.push_back({rule.place.file, rule.place.line, "/lock/parents",
                        fmt::format("rule \"{}\" locks \"{}\", but {} has the mode \"{}\", so writes to it do not wait",
                                    rule.name, parent, words_for(*other), to_text(*other->mode))});
  }
}

bool has_part(const std::string& text, const std::string& part) { return contains_ignoring_case(text, part); }

// Whether each message that fits `narrow` has one of these parts.
bool always_has_one(const std::vector<std::string>& parts, const ErrorRule& narrow) {
  const auto brings_one = [&](const std::string& said) {
    return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) { return has_part(said, part); });
  };
  const auto& any = narrow.message_any;
  return std::any_of(narrow.message_all.begin(), narrow.message_all.end(), brings_one) ||
         (!any.empty() && std::all_of(any.begin(), any.end(), brings_one));
}

// Whether each answer with a status and a code of both that fits `narrow` fits `wide`, too.
bool takes_answers(const ErrorRule& wide, const ErrorRule& narrow) {
  using Clients = ErrorRule::ForClients;
  using Absent = ErrorRule::IfAbsent;
  if (wide.clients == Clients::WithoutPrecondition && narrow.clients == Clients::All) return false;
  const bool same_field = wide.header_name == narrow.header_name &&
                          equal_ignoring_case(wide.header_value, narrow.header_value) &&
                          (wide.header_absent == Absent::Matches || narrow.header_absent == Absent::MatchesNot);
  if (!wide.header_name.empty() && !same_field) return false;
  if (!wide.message_any.empty() && !always_has_one(wide.message_any, narrow)) return false;
  return std::all_of(wide.message_all.begin(), wide.message_all.end(),
                     [&](const std::string& part) { return always_has_one({part}, narrow); });
}

// The earlier entries that take every status and code of this one; none if some are left to it.
std::set<size_t> takers_of(const std::vector<ErrorRule>& errors, const ErrorRule& rule,
                           const std::unordered_map<std::string, std::vector<size_t>>& by_code) {
  std::set<size_t> takers;
  for (const std::string& code : rule.codes) {
    const auto before = by_code.find(lower_text(code));
    if (before == by_code.end()) return {};
    for (const int status : rule.statuses) {
      const auto taker = std::find_if(before->second.begin(), before->second.end(), [&](size_t at) {
        const auto& statuses = errors[at].statuses;
        return std::find(statuses.begin(), statuses.end(), status) != statuses.end() && takes_answers(errors[at], rule);
      });
      if (taker == before->second.end()) return {};
      takers.insert(*taker);
    }
  }
  return takers;
}

}  // namespace

FaultList warnings_about(const std::vector<ErrorRule>& errors) {
  FaultList warnings;
  std::unordered_map<std::string, std::vector<size_t>> by_code;
  for (size_t i = 0; i < errors.size(); ++i) {
    const SourceLine& place = errors[i].place;
    std::string who;
    for (const size_t taker : takers_of(errors, errors[i], by_code)) {
      who += fmt::format("{}{}:{}", who.empty() ? "" : " and ", errors[taker].place.file, errors[taker].place.line);
    }
    if (!who.empty()) {
      warnings.push_back({place.file, place.line, "",
                          fmt::format("this entry of \"errors\" never decides: what fits it fits {} before it; remove it, or "
                                      "put it first",
                                      who)});
    }
    for (const std::string& code : errors[i].codes) by_code[lower_text(code)].push_back(i);
  }
  return warnings;
}

FaultList warnings_about(const std::vector<Rule>& rules) {
  FaultList warnings;
  const NewestRules newest(rules);
  TypeIndex before;
  for (size_t i = 0; i < rules.size(); ++i) {
    warn_of_unreachable(rules, i, before, warnings);
    warn_of_contradictions(rules, i, before, warnings);
    warn_of_useless_locks(newest, rules[i], warnings);
    before.add_all(rules[i].match.types, i);
  }
  return warnings;
}

}  // namespace armgate::rules
