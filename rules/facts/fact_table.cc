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
  append(to.arrays, more.arrays);
  append(to.same, more.same);
}

bool is_pattern(std::string_view type) { return type.ends_with('*'); }

// How exactly the entry says that it is about the type (or the pattern); nothing if it is not.
size_t exactness(const FactEntry& entry, std::string_view type) {
  size_t most = 0;
  for (const std::string& one : entry.match.types) {
    if (one == type) return std::string::npos;
    if (covers_type(one, type)) most = std::max(most, one.size());
  }
  return most;
}

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
  std::vector<const FactEntry*> with_patterns;
  for (const FactEntry& entry : *entries_) {
    for (const std::string& type : entry.match.types) {
      auto& known = is_pattern(type) ? by_prefix_[type.substr(0, type.size() - 1)] : by_type_[type];
      if (known == nullptr) known = std::make_unique<Known>();
      if (!is_pattern(type)) known->entries.push_back(&entry);
    }
    if (std::any_of(entry.match.types.begin(), entry.match.types.end(), is_pattern)) with_patterns.push_back(&entry);
  }
  const auto complete = [&](const std::string& type, Known& known) {
    for (const FactEntry* entry : with_patterns) {
      const bool is_there = std::find(known.entries.begin(), known.entries.end(), entry) != known.entries.end();
      if (!is_there && exactness(*entry, type) > 0) known.entries.push_back(entry);
    }
    std::sort(known.entries.begin(), known.entries.end(), [&](const FactEntry* a, const FactEntry* b) {
      if (a->strength != b->strength) return a->strength < b->strength;
      const size_t exact_a = exactness(*a, type), exact_b = exactness(*b, type);
      return exact_a != exact_b ? exact_a < exact_b : a > b;
    });
  };
  for (auto& [type, known] : by_type_) complete(type, *known);
  for (auto& [prefix, known] : by_prefix_) complete(prefix + "*", *known);
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
