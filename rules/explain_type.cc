#include "rules/explain_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "rules/match.h"

namespace armgate::rules {
namespace {

// After every api-version that there will be.
constexpr std::string_view kNewest = "9999-12-31";

// ", from 2023-09-01 to 2024-01-01"
std::string span_of(const Match& match) {
  std::string text;
  if (!match.api_version_from.empty()) text += " from " + match.api_version_from;
  if (!match.api_version_to.empty()) text += " to " + match.api_version_to;
  return text.empty() ? text : "," + text;
}

std::string_view meaning_of(FactStrength strength) {
  switch (strength) {
    case FactStrength::Declared: return "declared: rule files say what is known";
    case FactStrength::Imported: return "imported: what public schemas say";
    case FactStrength::Generic: break;
  }
  return "generic: only what holds for every type";
}

// In the order in which they are asked; the first for an api-version decides, and after one without bounds nobody is asked.
std::vector<const Rule*> rules_for(const Ruleset& rules, std::string_view type) {
  std::vector<const Rule*> found;
  const auto is_last = [&](const Rule& rule) {
    found.push_back(&rule);
    return rule.match.api_version_from.empty() && rule.match.api_version_to.empty();
  };
  for (const bool for_any : {false, true}) {
    if (for_any && !arm::is_type_of_resources(type)) break;
    for (const auto& rule : rules.rules()) {
      const auto& types = rule->match.types;
      const bool is_for = is_for_any_type(rule->match)
                              ? for_any
                              : !for_any && std::any_of(types.begin(), types.end(),
                                                        [&](const std::string& pattern) { return covers_type(pattern, type); });
      if (is_for && is_last(*rule)) return found;
    }
  }
  return found;
}

std::string_view name_of(const Rule& rule) {
  if (rule.mode == Mode::Off) return "off";
  const std::string_view words = words_for(rule.guard.kind);
  return words.substr(0, words.find(':'));
}

void count(const arm::DeclaredFacts& body, TypeSummary& summary) {
  summary.read_only += body.read_only.size();
  summary.write_only += body.write_only.size();
  summary.kept += body.kept.size();
  summary.maps += body.maps.size() + body.free_form.size();
  summary.arrays += body.arrays.size();
  summary.same += body.same.size();
}

}  // namespace

std::string_view to_text(FactStrength strength) {
  const std::string_view meaning = meaning_of(strength);
  return meaning.substr(0, meaning.find(':'));
}

std::vector<TypeSummary> summaries_of(const Ruleset& rules) {
  std::set<std::string> types;
  for (const FactEntry& entry : rules.facts().entries()) types.insert(entry.match.types.begin(), entry.match.types.end());
  for (const auto& rule : rules.rules()) types.insert(rule->match.types.begin(), rule->match.types.end());
  std::vector<TypeSummary> all;
  for (const std::string& type : types) {
    TypeSummary& summary = all.emplace_back();
    summary.type = type;
    for (const FactEntry* entry : rules.facts().about(type)) {
      if (!covers_version(entry->match, kNewest)) continue;
      count(entry->body, summary);
      summary.strength = std::max(summary.strength, entry->strength);
    }
    for (const Rule* rule : rules_for(rules, type)) {
      if (!covers_version(rule->match, kNewest)) continue;
      count(rule->body.declared, summary);
      if (!rule->body.declared.empty()) summary.strength = FactStrength::Declared;
      summary.rule = rule->name;
      summary.guard = name_of(*rule);
      break;
    }
  }
  return all;
}

std::vector<Fact> explain_type(const Ruleset& rules, std::string_view named) {
  const std::string type = lower_text(named);
  std::vector<Fact> facts{{"type", type, ""}};
  FactStrength strength = FactStrength::Generic;
  const auto entries = rules.facts().about(type);
  const auto deciding = rules_for(rules, type);
  for (const FactEntry* entry : entries) strength = std::max(strength, entry->strength);
  for (const Rule* rule : deciding) {
    if (!rule->body.declared.empty()) strength = FactStrength::Declared;
  }
  facts.push_back({"known", std::string(meaning_of(strength)), ""});
  for (const Rule* rule : deciding) {
    facts.push_back(
        {"guard", std::string(rule->mode == Mode::Off ? std::string_view("none: switched off") : words_for(rule->guard.kind)),
         words_for(*rule) + span_of(rule->match)});
  }
  if (deciding.empty()) facts.push_back({"guard", "none: no rule is for this type", ""});
  for (const FactEntry* entry : entries) add_body(facts, entry->body, words_for(*entry) + span_of(entry->match));
  for (const Rule* rule : deciding) add_body(facts, rule->body.declared, words_for(*rule) + span_of(rule->match));
  return facts;
}

}  // namespace armgate::rules
