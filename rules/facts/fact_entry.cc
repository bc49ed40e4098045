#include "rules/facts/fact_entry.h"

#include <fmt/format.h>

#include "rules/facts/type_name.h"
#include "rules/file/body_settings.h"
#include "rules/match.h"

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

// None if no type and api-version is one of both.
std::vector<Contradiction> contradictions_of(const FactEntry& earlier, const FactEntry& later) {
  if (!share_versions(earlier.match, later.match) || !share_a_type(earlier.match, later.match)) return {};
  auto found = contradictions(earlier.body, later.body);
  for (Contradiction& one : found) {
    one.message += fmt::format(" {}, which are also about {}", words_for(earlier), later.match.types.front());
  }
  return found;
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
  for (size_t i = 0; i < entries.size(); ++i) {
    const FactEntry& later = entries[i];
    const std::string pointer = fmt::format("/facts/{}", i);
    check_entry(later, pointer, positions, faults);
    for (size_t before = 0; before < i; ++before) {
      for (const auto& [below, message] : contradictions_of(entries[before], later)) {
        const std::string place = fmt::format("{}/body{}", pointer, below);
        faults.push_back({later.place.file, positions.line_of(place), place, message});
      }
    }
  }
}

FaultList warnings_about(const std::vector<FactEntry>& entries) {
  FaultList warnings;
  for (auto later = entries.begin(); later != entries.end(); ++later) {
    if (later->strength != FactStrength::Declared) continue;
    for (auto earlier = entries.begin(); earlier != later; ++earlier) {
      if (earlier->strength != FactStrength::Declared || earlier->place.file == later->place.file) continue;
      for (auto& [below, message] : contradictions_of(*earlier, *later)) {
        warnings.push_back({later->place.file, later->place.line, "", std::move(message)});
      }
    }
  }
  return warnings;
}

}  // namespace armgate::rules
