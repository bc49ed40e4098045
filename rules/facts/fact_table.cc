#include "rules/facts/fact_table.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "rules/match.h"

namespace armgate::rules {
namespace {

void add(arm::DeclaredFacts& to, const arm::DeclaredFacts& more) {
  const auto append = [](auto& list, const auto& from) { list.insert(list.end(), from.begin(), from.end()); };
  append(to.read_only, more.read_only);
  append(to.write_only, more.write_only);
  append(to.kept, more.kept);
  append(to.maps, more.maps);
  append(to.free_form, more.free_form);
  append(to.arrays, more.arrays);
  append(to.same, more.same);
}

bool is_pattern(std::string_view type) { return type.ends_with('*'); }

}  // namespace

// Some type's entries, and what has come of them so far.
struct FactTable::Known {
  struct Resolved {
    size_t span;
    const Rule* rule;
    TypeFacts facts;
    const Resolved* next;
  };

  std::vector<const FactEntry*> entries;  // the weakest first
  mutable std::atomic<const Resolved*> resolved{nullptr};

  ~Known() {
    for (const Resolved* one = resolved.load(); one != nullptr;) delete std::exchange(one, one->next);
  }

  // A number for all api-versions that lie on the same side of every bound. (Each bound counts once it is passed.)
  size_t span_of(std::string_view api_version) const {
    size_t passed = 0;
    for (const FactEntry* entry : entries) {
      const Match& match = entry->match;
      if (!match.api_version_from.empty() && match.api_version_from <= api_version) ++passed;
      if (!match.api_version_to.empty() && match.api_version_to < api_version) ++passed;
    }
    return passed;
  }

  TypeFacts resolve(std::string_view api_version, const Rule* rule) const {
    arm::DeclaredFacts all;
    TypeFacts facts;
    for (const FactEntry* entry : entries) {
      if (!covers_version(entry->match, api_version)) continue;
      add(all, entry->body);
      facts.strength = std::max(facts.strength, entry->strength);
    }
    if (rule != nullptr) {
      add(all, rule->body.declared);
      facts.strength = FactStrength::Declared;
    }
    if (facts.known()) facts.body = std::make_shared<const arm::BodyFacts>(all);
    return facts;
  }

  const TypeFacts& find(std::string_view api_version, const Rule* rule) const {
    const size_t span = span_of(api_version);
    const auto look = [&](const Resolved* one, const Resolved* end) -> const TypeFacts* {
      for (; one != end; one = one->next) {
        if (one->span == span && one->rule == rule) return &one->facts;
      }
      return nullptr;
    };
    const Resolved* first = resolved.load(std::memory_order_acquire);
    if (const TypeFacts* found = look(first, nullptr)) return *found;
    auto made = std::make_unique<Resolved>(Resolved{span, rule, resolve(api_version, rule), first});
    while (!resolved.compare_exchange_weak(made->next, made.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
      // Another thread has put in something, perhaps the same.
      if (const TypeFacts* found = look(made->next, std::exchange(first, made->next))) return *found;
    }
    return made.release()->facts;
  }
};

FactTable::FactTable(FactEntries entries)
    : entries_(entries ? std::move(entries) : share({})), unnamed_(std::make_unique<Known>()) {
  const auto index_of = [this](const std::string& type) -> std::unique_ptr<Known>& {
    return is_pattern(type) ? by_prefix_[type.substr(0, type.size() - 1)] : by_type_[type];
  };
  std::unordered_map<std::string, std::vector<const FactEntry*>> by_pattern;  // a pattern and what names it; or a type
  for (const FactEntry& entry : *entries_) {
    for (const std::string& type : entry.match.types) {
      auto& known = index_of(type);
      if (known == nullptr) known = std::make_unique<Known>();
      by_pattern[type].push_back(&entry);
    }
  }
  for (const auto& [type, ours] : by_pattern) {
    // How exactly an entry says that it is about the type (or the pattern).
    std::vector<std::pair<const FactEntry*, size_t>> all;
    for (const FactEntry* entry : ours) all.emplace_back(entry, std::string::npos);
    for (size_t slash = type.find('/'); slash != type.npos; slash = type.find('/', slash + 1)) {
      const auto found = by_pattern.find(type.substr(0, slash + 1) + "*");
      if (found == by_pattern.end() || found->first == type) continue;
      for (const FactEntry* entry : found->second) all.emplace_back(entry, found->first.size());
    }
    // An entry counts once, by the most exact of its patterns.
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second > b.second; });
    all.erase(std::unique(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first == b.first; }), all.end());
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.first->strength != b.first->strength ? a.first->strength < b.first->strength : a.second < b.second;
    });
    auto& sorted = index_of(type)->entries;
    sorted.reserve(all.size());
    for (const auto& [entry, exactness] : all) sorted.push_back(entry);
  }
}

FactTable::~FactTable() = default;

const FactTable::Known& FactTable::known(std::string_view type) const {
  if (const auto exact = by_type_.find(type); exact != by_type_.end()) return *exact->second;
  if (by_prefix_.empty()) return *unnamed_;
  for (size_t slash = type.rfind('/'); slash != type.npos && slash > 0; slash = type.rfind('/', slash - 1)) {
    const auto found = by_prefix_.find(type.substr(0, slash + 1));
    if (found != by_prefix_.end()) return *found->second;
  }
  return *unnamed_;
}

const TypeFacts& FactTable::find(std::string_view type, std::string_view api_version, const Rule* rule) const {
  const Rule* with_body = rule != nullptr && !rule->body.declared.empty() ? rule : nullptr;
  const Known& of_type = known(type);
  if (of_type.entries.empty()) return with_body != nullptr ? with_body->body.facts : generic_type_facts();
  return of_type.find(api_version, with_body);
}

std::vector<const FactEntry*> FactTable::about(std::string_view type) const { return known(type).entries; }

}  // namespace armgate::rules
