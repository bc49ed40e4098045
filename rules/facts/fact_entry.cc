#include "rules/facts/fact_entry.h"

#include <fmt/format.h>

#include <set>

#include "rules/facts/type_name.h"
#include "rules/file/body_settings.h"
#include "rules/match.h"
#include "rules/type_index.h"

namespace armgate::rules {
namespace {

void check_entry(const FactEntry& entry, const std::string& pointer, const JsonPositions& positions, FaultList& faults) {
  const Match& match = entry.match;
  if (!match.api_version_to.empty() && match.api_version_from > match.api_version_to) {
    const std::string place = pointer + "/api_version";
    faults.push_back({entry.place.file, positions.line_of(place), place,
                      fmt::format("\"from\" ({}) is later than \"to\" ({}); no request would match", match.api_version_from,
                                  match.api_version_to)});
  }
  check_body(entry.body, entry.place.file, pointer, positions, faults);
}

// Of two that share a type. None if no api-version is one of both.
std::vector<Contradiction> contradictions_of(const FactEntry& earlier, const FactEntry& later) {
  if (!share_versions(earlier.match, later.match)) return {};
  auto found = contradictions(earlier.body, later.body);
  for (Contradiction& one : found) {
    one.message += fmt::format(" {}, which are also about {}", words_for(earlier), later.match.types.front());
  }
  return found;
}

std::set<size_t> sharing_a_type(const TypeIndex& before, const FactEntry& entry) {
  std::set<size_t> all;
  for (const std::string& type : entry.match.types) {
    for (const size_t at : before.sharing(type)) all.insert(at);
  }
  return all;
}

}  // namespace

SettingTable settings_of(FactEntry& entry) {
  Match& match = entry.match;
  SettingTable table{
      {"/types", TextList{&match.types, check_named_type, 1},
       "the resource types that it is about, \"Microsoft.Network/*\" for every depth below", Need::Required},
      {"/api_version/from", Text{&match.api_version_from, check_api_version}, "the first api-version that it is about"},
      {"/api_version/to", Text{&match.api_version_to, check_api_version}, "the last api-version that it is about"},
  };
  for (Setting& setting : body_settings(entry.body)) table.push_back(std::move(setting));
  return table;
}

std::string words_for(const FactEntry& entry) { return fmt::format("the facts at {}:{}", entry.place.file, entry.place.line); }

void check_facts(const std::vector<FactEntry>& entries, const JsonPositions& positions, FaultList& faults) {
  TypeIndex before;
  for (size_t i = 0; i < entries.size(); ++i) {
    const FactEntry& later = entries[i];
    const std::string pointer = fmt::format("/facts/{}", i);
    check_entry(later, pointer, positions, faults);
    for (const size_t at : sharing_a_type(before, later)) {
      for (const auto& [below, message] : contradictions_of(entries[at], later)) {
        const std::string place = fmt::format("{}/body{}", pointer, below);
        faults.push_back({later.place.file, positions.line_of(place), place, message});
      }
    }
    before.add_all(later.match.types, i);
  }
}

FaultList warnings_about(const std::vector<FactEntry>& entries) {
  FaultList warnings;
  TypeIndex before;
  for (size_t i = 0; i < entries.size(); ++i) {
    const FactEntry& later = entries[i];
    if (later.strength != FactStrength::Declared) continue;
    for (const size_t at : sharing_a_type(before, later)) {
      if (entries[at].place.file == later.place.file) continue;
      for (auto& [below, message] : contradictions_of(entries[at], later)) {
        warnings.push_back({later.place.file, later.place.line, "", std::move(message)});
      }
    }
    before.add_all(later.match.types, i);
  }
  return warnings;
}

}  // namespace armgate::rules
