#include "rules/unknown_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/file/nearest_name.h"

namespace armgate::rules {
namespace {

std::string_view provider_of(std::string_view type) { return type.substr(0, type.find('/')); }

// "a.b/c" of "a.b/c/*", "a.b" of "a.b/*".
std::string_view without_star(std::string_view type) { return type.ends_with("/*") ? type.substr(0, type.size() - 2) : type; }

// The one that a typing mistake or two lead to; empty if there is none.
std::string spelt_nearly(std::string_view written, const std::vector<std::string>& names) {
  return nearest_name(written, names, std::min<size_t>(2, written.size() / 4));
}

class KnownTypes {
 public:
  KnownTypes(const std::vector<Rule>& rules, const FactEntries& facts) {
    for (const Rule& rule : rules) {
      for (const std::string& type : rule.match.types) add_all_above(without_star(type), by_rules_, rule.place.file);
    }
    if (!facts) return;
    for (const FactEntry& entry : *facts) {
      is_complete_ |= entry.strength == FactStrength::Imported;
      for (const std::string& type : entry.match.types) add_all_above(without_star(type), by_facts_, "");
    }
    for (const auto& [type, files] : by_facts_) {
      if (type.find('/') == type.npos)
        providers_.push_back(type);
      else
        types_[std::string(provider_of(type))].push_back(type);
    }
    std::ranges::sort(providers_);
    for (auto& [provider, types] : types_) std::ranges::sort(types);
  }

  // What is wrong with a type that a rule of this file names; empty: nothing.
  std::string doubt(std::string_view named, const std::string& file) {
    const std::string type(without_star(named));
    if (type == "*" || is_known(type, file)) return {};
    const std::string provider(provider_of(type));
    if (!is_known(provider, file)) {
      const auto [at, is_new] = nearly_.try_emplace(provider);
      if (is_new) at->second = spelt_nearly(provider, providers_);
      return words("provider", provider, at->second);
    }
    const auto of_provider = types_.find(provider);
    return words("type", type, of_provider == types_.end() ? "" : spelt_nearly(type, of_provider->second));
  }

 private:
  using Files = std::unordered_map<std::string, std::set<std::string>>;

  // The type, those it stands below, and its provider.
  static void add_all_above(std::string_view type, Files& names, const std::string& file) {
    for (;;) {
      names[std::string(type)].insert(file);
      const size_t slash = type.rfind('/');
      if (slash == type.npos) return;
      type = type.substr(0, slash);
    }
  }

  bool is_known(const std::string& name, const std::string& file) const {
    if (by_facts_.contains(name)) return true;
    const auto found = by_rules_.find(name);
    return found != by_rules_.end() && found->second.size() > (found->second.contains(file) ? 1u : 0u);
  }

  std::string words(const char* what, const std::string& name, const std::string& meant) const {
    if (!meant.empty()) return fmt::format("no {} \"{}\" is known here; did you mean \"{}\"?", what, name, meant);
    return is_complete_ ? fmt::format("no {} \"{}\" is known here, not from the imported facts either", what, name) : "";
  }

  Files by_rules_, by_facts_;
  std::map<std::string, std::vector<std::string>> types_;  // by provider; as facts name them
  std::vector<std::string> providers_;
  std::unordered_map<std::string, std::string> nearly_;
  bool is_complete_ = false;
};

}  // namespace

FaultList warnings_about_types(const std::vector<Rule>& rules, const FactEntries& facts) {
  FaultList warnings;
  KnownTypes known(rules, facts);
  for (const Rule& rule : rules) {
    const auto look_at = [&](const std::vector<std::string>& types, const char* verb) {
      for (const std::string& type : types) {
        const std::string doubt = known.doubt(type, rule.place.file);
        if (doubt.empty()) continue;
        warnings.push_back(
            {rule.place.file, rule.place.line, "", fmt::format("rule \"{}\" {} \"{}\": {}", rule.name, verb, type, doubt)});
      }
    };
    look_at(rule.match.types, "is for");
    look_at(rule.lock.parents, "locks");
  }
  return warnings;
}

}  // namespace armgate::rules
